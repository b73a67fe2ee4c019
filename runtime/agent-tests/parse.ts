import { MAX_YAML_BYTES, readYaml, type YamlFault } from '../lib/yaml/read-yaml.ts'
import { unknownKeys } from '../lib/yaml/unknown-keys.ts'
import { isTimeZone } from '../lib/zoned-time.ts'
import { patternFault } from './pattern.ts'
import {
  type AgentTest,
  agentTestCheck,
  type ExpectedFact,
  FACT_KINDS,
  QUALIFIES,
  AgentTest as schema,
  type TestLine,
} from './schema.ts'

/** What is wrong with a test, and where. */
export type TestFault = YamlFault

export const MAX_TEST_BYTES = MAX_YAML_BYTES
const MAX_FAULTS = 50
const MAX_DEPTH = 24

export type ParsedTest = { test: AgentTest; faults?: undefined } | { test?: undefined; faults: TestFault[] }

/** A test as it stands in a file: one YAML document, or JSON. */
export function parseTest(text: string): ParsedTest {
  const read = readYaml(text, { maxBytes: MAX_TEST_BYTES })
  if (read.faults !== undefined) return { faults: read.faults }
  const faults = testFaults(read.value)
  if (faults.length === 0) return { test: read.value as AgentTest }
  return { faults: faults.map((fault) => ({ ...fault, line: read.lineOf(fault.path) })) }
}

/** What is wrong with a test that came as a value; none: it is an `AgentTest`. */
export function testFaults(value: unknown): TestFault[] {
  if (depthOf(value, 0) > MAX_DEPTH) return [{ path: [], message: 'is nested too deeply' }]
  const unknown = unknownKeys(value, schema)
  if (unknown.length > 0) return unknown.slice(0, MAX_FAULTS)
  if (!agentTestCheck.Check(value)) {
    const faults = [...agentTestCheck.Errors(value)].map(({ instancePath, message }) => ({
      path: pathOf(instancePath),
      message,
    }))
    return (faults.length === 0 ? [{ path: [], message: 'is no test' }] : faults).slice(0, MAX_FAULTS)
  }
  return meaningFaults(value).slice(0, MAX_FAULTS)
}

/** What the shape alone does not tell. */
function meaningFaults(test: AgentTest): TestFault[] {
  const faults: TestFault[] = []
  const refuse = (path: TestFault['path'], message: string) => faults.push({ path, message })
  const checkPattern = (path: TestFault['path'], pattern: string | undefined) => {
    const fault = pattern === undefined ? undefined : patternFault(pattern)
    if (fault !== undefined) refuse(path, fault)
  }
  const { caller, expect = [], judge = [], clock } = test
  if (expect.length + judge.length === 0)
    refuse(['expect'], 'a test without expectations proves nothing: add facts or sentences to judge')
  const isSimulated = caller.persona !== undefined || caller.goal !== undefined
  if (caller.say === undefined && caller.goal === undefined)
    refuse(['caller'], 'needs `say` (lines) or `goal` (a simulated caller)')
  if (caller.say !== undefined && isSimulated)
    refuse(['caller'], 'has lines and a goal: it is scripted or simulated, not both')
  for (const [i, line] of (caller.say ?? []).entries()) {
    if (typeof line === 'string') continue
    const does = [line.say, line.keys, line.silence, line.hang_up].filter((one) => one !== undefined).length
    if (does !== 1) refuse(['caller', 'say', i], 'does one of `say`, `keys`, `silence`, `hang_up`')
    for (const key of ['barge_in_at', 'recorded_turn'] as const)
      if (line[key] !== undefined && line.say === undefined) refuse(['caller', 'say', i, key], 'needs `say`')
    if (line.recorded_turn !== undefined && caller.recorded_call === undefined)
      refuse(['caller', 'say', i, 'recorded_turn'], 'needs `recorded_call`, the call it is a turn of')
    checkPattern(['caller', 'say', i, 'when'], line.when)
  }
  if (caller.recorded_call !== undefined && !(caller.say ?? []).some(isRecorded))
    refuse(['caller', 'recorded_call'], 'needs lines with `recorded_turn`: what is heard of the call')
  for (const [i, fact] of expect.entries()) {
    const kinds = FACT_KINDS.filter((kind) => fact[kind] !== undefined)
    if (kinds.length !== 1) refuse(['expect', i], `states one fact, of ${FACT_KINDS.join(', ')}`)
    for (const [key, of] of Object.entries(QUALIFIES)) {
      if (fact[key as keyof typeof QUALIFIES] === undefined || of.some((kind) => fact[kind] !== undefined)) continue
      refuse(['expect', i, key], `belongs to ${of.map((kind) => `\`${kind}\``).join(', ')}`)
    }
    for (const key of ['heard', 'never_heard', 'after_heard', 'value', 'handed_off'] as const)
      checkPattern(['expect', i, key], fact[key])
    for (const [key, bounds] of boundsOf(fact)) {
      if (bounds.min !== undefined && bounds.max !== undefined && bounds.min > bounds.max) {
        refuse(['expect', i, key], '`min` is above `max`')
      }
    }
  }
  if (clock !== undefined && readClock(clock, 'UTC') === undefined) {
    refuse(['clock'], 'must be like `2026-03-29T01:30:00 America/Los_Angeles`')
  }
  return faults
}

const isRecorded = (line: string | TestLine): boolean => typeof line !== 'string' && line.recorded_turn !== undefined

function boundsOf(fact: ExpectedFact): [string, { min?: number; max?: number }][] {
  return Object.entries(fact).filter(
    (entry): entry is [string, { min?: number; max?: number }] =>
      ['latency_p95_ms', 'silence_ms', 'duration_s', 'turns', 'interruptions', 'cost_usd'].includes(entry[0]) &&
      typeof entry[1] === 'object',
  )
}

const CLOCK = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\s+(\S+))?$/

/** Wall-clock time and zone of a test's clock; undefined where it is none. */
export function readClock(text: string, zone: string): { wallMs: number; zone: string } | undefined {
  const [, time, named = zone] = CLOCK.exec(text.trim()) ?? []
  if (time === undefined || !isTimeZone(named)) return undefined
  const wallMs = Date.parse(`${time.length === 16 ? `${time}:00` : time}Z`)
  return Number.isNaN(wallMs) ? undefined : { wallMs, zone: named }
}

function depthOf(value: unknown, depth: number): number {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return depth
  return Math.max(depth, ...Object.values(value).map((part) => depthOf(part, depth + 1)))
}

const pathOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
