import { HANDED_OFF_OUTPUT } from '../call/types/hand-off.ts'
import { CONVERSATION_DISPOSITIONS } from '../call/types/outcome.ts'
import { BEGIN_PROCEDURE } from '../call/types/procedure.ts'
import { ENDED_BY, type TestRecord, type TestToolCall } from './record.ts'
import type { AgentTest, ExpectedFact, TestLine, ToolMock } from './schema.ts'

/** A call that is over, as its log has it. */
export interface CalledBefore extends Pick<TestRecord, 'handedOff' | 'collected' | 'procedures'> {
  turns: readonly { seq: number; role: 'user' | 'assistant'; text: string; interrupted: boolean }[]
  tools: readonly Omit<TestToolCall, 'atMs'>[]
  disposition: string | null
  endReason: string | null
  variables: Readonly<Record<string, string>>
  /** Numbers of both sides. */
  numbers: readonly (string | null)[]
  startedAt: Date
}

const MAX_LINES = 200
const MAX_HEARD = 3
const MAX_LINE_CHARACTERS = 2_000
const MAX_HEARD_CHARACTERS = 500

interface TestOfCallOptions {
  name: string
  keep: boolean
  /** The call whose recording is the caller's sound; undefined: a voice says the words. */
  recordedCall?: string | undefined
}

/**
 * A test of a real call: its turns are the script, what its tools answered the mocks, and what came of it is proposed as facts.
 * Personal data are replaced, the same by the same everywhere, unless `keep` is set. Undefined: the caller said nothing.
 */
export function testOfCall(call: CalledBefore, { name, keep, recordedCall }: TestOfCallOptions): AgentTest | undefined {
  const spoken = call.turns.filter(({ role, text }) => role === 'user' && text.trim() !== '')
  if (spoken.length === 0) return undefined
  const clean = keep ? (text: string) => text : standIns(call)
  const lines = spoken.slice(0, MAX_LINES).map(({ seq, text }) => {
    const line = lineOf(clean(text))
    return recordedCall === undefined || typeof line !== 'string' ? line : { say: line, recorded_turn: seq }
  })
  const isHeard = lines.some((line) => typeof line !== 'string' && line.recorded_turn !== undefined)
  const variables = Object.entries(call.variables).map(([key, value]) => [key, clean(value)] as const)
  const tools = mocksOf(call, clean)
  return {
    name,
    tags: ['from-call'],
    caller: { ...(isHeard ? { channel: 'audio', recorded_call: recordedCall } : {}), say: lines },
    clock: `${call.startedAt.toISOString().slice(0, 19)} UTC`,
    ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) }),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    expect: factsOf(call, clean),
  }
}

const KEYS = /^\[The caller pressed ([0-9*#A-D ]+) on the keypad\]$/

function lineOf(text: string): string | TestLine {
  const keys = KEYS.exec(text)?.[1]?.replaceAll(' ', '')
  return keys === undefined ? text.slice(0, MAX_LINE_CHARACTERS) : { keys: keys.slice(0, 32) }
}

function mocksOf({ tools }: CalledBefore, clean: (text: string) => string): Record<string, ToolMock[]> {
  const mocks = new Map<string, ToolMock[]>()
  for (const { name, arguments: given, result, tookMs, error } of tools.filter(isMocked)) {
    const own = mocks.get(name) ?? []
    const when = cleanValue(given, clean) as Record<string, unknown>
    own.push({
      ...(Object.keys(when).length === 0 ? {} : { when }),
      ...(error === undefined
        ? { returns: valueIn(clean(result)) }
        : { fails: clean(error).slice(0, MAX_LINE_CHARACTERS) || 'It failed' }),
      after_ms: Math.min(600_000, Math.round(tookMs)),
    })
    mocks.set(name, own)
  }
  return Object.fromEntries([...mocks].map(([name, own]) => [name, own.slice(0, 50)]))
}

/** Hand-offs and procedures need no mock, and are facts of their own. */
const isMocked = ({ name, result }: CalledBefore['tools'][number]): boolean =>
  name !== BEGIN_PROCEDURE && result !== HANDED_OFF_OUTPUT

/** What holds of the call; the author of the test says what should. */
function factsOf(call: CalledBefore, clean: (text: string) => string): ExpectedFact[] {
  const calls = new Map<string, Record<string, unknown>[]>()
  for (const { name, arguments: given } of call.tools.filter(isMocked))
    calls.set(name, [...(calls.get(name) ?? []), given])
  const called = [...calls].map(([name, all]): ExpectedFact => {
    const wanted = cleanValue(all[0], clean) as Record<string, unknown>
    const count = all.length === 1 ? { once: true } : { times: all.length }
    return { called: name, ...count, ...(Object.keys(wanted).length === 0 ? {} : { with: wanted }) }
  })
  const disposition = CONVERSATION_DISPOSITIONS.find((one) => one === call.disposition)
  const endedBy = ENDED_BY[call.endReason ?? '']
  const once = <T>(names: readonly T[]): T[] => [...new Set(names)]
  return [
    ...called,
    ...call.handedOff.slice(0, 1).map(({ name: handed_off }) => ({ handed_off })),
    ...once(call.collected.filter(({ status }) => status === 'collected').map(({ name }) => name)).map((collected) => ({
      collected,
    })),
    ...once(call.procedures.map(({ name }) => name)).map((procedure) => ({ procedure })),
    ...sentencesToHear(call, clean),
    ...(disposition === undefined ? [] : [{ disposition }]),
    ...(endedBy === undefined || endedBy === 'caller' ? [] : [{ ended_by: endedBy }]),
    { silence_ms: { max: 6_000 } },
  ]
}

/** Sentences of the agent with a figure in them: prices, times and amounts are what must stay right; else its last words. */
function sentencesToHear({ turns }: CalledBefore, clean: (text: string) => string): ExpectedFact[] {
  const said = turns.filter(({ role, interrupted }) => role === 'assistant' && !interrupted).map(({ text }) => text)
  const sentences = said
    .flatMap((text) => text.match(/[^.!?]+(?:[.!?](?=\d)[^.!?]*)*[.!?]?/g) ?? [])
    .map((one) => one.trim())
  const figures = [...new Set(sentences.filter((sentence) => /\d/.test(sentence)))].slice(0, MAX_HEARD)
  const chosen = figures.length > 0 ? figures : sentences.slice(-1)
  return chosen
    .map((sentence) => clean(sentence).slice(0, MAX_HEARD_CHARACTERS).trim())
    .filter((sentence) => sentence !== '' && !sentence.startsWith('/'))
    .map((heard) => ({ heard }))
}

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
const NUMBER = /\+?\d[\d\s().-]{5,}\d/g
const MIN_VALUE_CHARACTERS = 3

/** Replaces numbers, e-mail addresses and the call's own variables, the same by the same. */
function standIns({ variables, numbers }: CalledBefore): (text: string) => string {
  const known = new Map<string, string>()
  const standIn = (found: string, make: (count: number) => string): string => {
    const key = found.replace(/[\s().-]/g, '').toLowerCase()
    const own = known.get(key)
    if (own !== undefined) return own
    const made = make(known.size + 1)
    known.set(key, made)
    return made
  }
  const phone = (found: string) => standIn(found, (count) => `+1555010${String(count).padStart(4, '0')}`)
  const named = Object.entries(variables)
    .filter(([, value]) => value.trim().length >= MIN_VALUE_CHARACTERS && /\p{L}/u.test(value))
    .sort(([, a], [, b]) => b.length - a.length)
  const own = numbers.filter((number) => number !== null && number.length >= 5) as string[]
  return (text) => {
    let cleaned = text.replace(EMAIL, (found) => standIn(found, (count) => `caller${count}@example.com`))
    for (const number of own) cleaned = cleaned.replaceAll(number, phone(number))
    for (const [name, value] of named) cleaned = replaceWord(cleaned, value, `Test ${name.replaceAll('_', ' ')}`)
    return cleaned.replace(NUMBER, (found) => (found.startsWith('+1555010') ? found : phone(found)))
  }
}

/** Whatever its case, where it is a word of its own. */
function replaceWord(text: string, word: string, by: string): string {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu'), () => by)
}

function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((one) => cleanValue(one, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cleanValue(one, clean)]))
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
