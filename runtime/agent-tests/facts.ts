import { fits, holds } from './pattern.ts'
import { heardText, type TestRecord, type TestToolCall } from './record.ts'
import { type Bounds, type ExpectedFact, FACT_KINDS, type FactKind } from './schema.ts'

export type FactVerdict = 'pass' | 'fail' | 'unsure'

export interface JudgedFact {
  /** As a reader sees it: `heard /monday/i`. */
  fact: string
  verdict: FactVerdict
  /** What was found instead, or why it can't be judged. */
  why?: string
}

type Judge = (fact: ExpectedFact, record: TestRecord) => Omit<JudgedFact, 'fact'>

/** Judges each fact by what happened. What can't be judged is `unsure`, never `pass`. */
export function judgeFacts(facts: readonly ExpectedFact[], record: TestRecord): JudgedFact[] {
  return facts.map((fact) => {
    const kind = FACT_KINDS.find((one) => fact[one] !== undefined)
    const judged = kind === undefined ? unsure('it states no fact') : JUDGES[kind](fact, record)
    return { fact: factText(fact), ...judged }
  })
}

/** A fact in one line. */
export function factText(fact: ExpectedFact): string {
  return Object.entries(fact)
    .map(([key, value]) => {
      const shown = typeof value === 'string' ? value : JSON.stringify(value)
      return value === true ? key : `${key} ${shown}`
    })
    .join(', ')
}

const pass = { verdict: 'pass' } as const
const fail = (why: string) => ({ verdict: 'fail', why }) as const
const unsure = (why: string) => ({ verdict: 'unsure', why }) as const
const UNJUDGED = 'the pattern takes too long to judge'

const JUDGES: Record<FactKind, Judge> = {
  called: judgeCalled,
  handed_off: ({ handed_off: to = '', ...counts }, { handedOff }) => {
    const found = handedOff.filter((one) => one.to === to || fits(to, one.name) === true)
    const others = handedOff.map(({ name, reason }) => `${name} (${reason})`).join('; ')
    return counted(counts, found.length, others === '' ? 'no hand-off was made' : `the caller was handed to ${others}`)
  },
  collected: judgeCollected,
  guarded: ({ guarded: rule, ...counts }, { guarded }) => {
    const found = guarded.filter((one) => one.rule === rule)
    const others = guarded.map((one) => `${one.rule}: ${one.sentence}`).join('; ')
    return counted(counts, found.length, others === '' ? 'nothing was refused' : `refused was ${others}`)
  },
  procedure: ({ procedure: name, to_end, ...counts }, { procedures }) => {
    const begun = procedures.filter((one) => one.name === name)
    const ended = begun.filter(({ toEnd }) => toEnd)
    if (to_end === true && begun.length > 0) return counted(counts, ended.length, 'its fixed steps were not all made')
    const others = procedures.map((one) => one.name).join(', ')
    return counted(counts, begun.length, others === '' ? 'it was not begun' : `it was not begun, but ${others}`)
  },
  never_called: ({ never_called: name }, { tools }) => {
    const calls = tools.filter((call) => call.name === name)
    return calls.length === 0 ? pass : fail(`it was called: ${callsText(calls)}`)
  },
  heard: ({ heard = '' }, record) => {
    const found = holds(heard, heardText(record))
    if (found === undefined) return unsure(UNJUDGED)
    return found ? pass : fail('the caller never heard it')
  },
  never_heard: ({ never_heard = '' }, record) => {
    const turns = record.turns.filter(({ role }) => role === 'assistant')
    for (const { text } of [...turns, { text: heardText(record) }]) {
      const found = holds(never_heard, text)
      if (found === undefined) return unsure(UNJUDGED)
      if (found) return fail(`the caller heard: ${text}`)
    }
    return pass
  },
  disposition: ({ disposition }, record) => same(disposition, record.disposition, record.error),
  ended_by: ({ ended_by }, record) => same(ended_by, record.endedBy, record.error),
  latency_p95_ms: ({ latency_p95_ms: bounds }, { latenciesMs }) =>
    latenciesMs.length === 0 ? unsure('the agent never answered') : within(bounds, percentile95(latenciesMs), 'ms'),
  silence_ms: ({ silence_ms: bounds }, { longestSilenceMs }) =>
    longestSilenceMs === undefined ? unsure('the caller never waited') : within(bounds, longestSilenceMs, 'ms'),
  duration_s: ({ duration_s: bounds }, { durationMs }) => within(bounds, Math.round(durationMs / 100) / 10, 's'),
  turns: ({ turns: bounds }, { turns }) => within(bounds, turns.filter(({ role }) => role === 'user').length, 'turns'),
  interruptions: ({ interruptions: bounds }, { turns }) =>
    within(bounds, turns.filter(({ interrupted }) => interrupted === true).length, 'interruptions'),
  cost_usd: ({ cost_usd: bounds }, { costUsd }) =>
    costUsd === null ? unsure('a price is not known') : within(bounds, costUsd, 'USD'),
}

function judgeCalled({ called, with: wanted, once, times, after_heard }: ExpectedFact, record: TestRecord) {
  const calls = record.tools.filter(({ name }) => name === called)
  const asked = calls.map((call) => ({ call, fits: fits(wanted ?? {}, call.arguments) }))
  if (asked.some((one) => one.fits === undefined)) return unsure(UNJUDGED)
  const fitting = asked.filter((one) => one.fits === true).map(({ call }) => call)
  const most = once === true ? 1 : times
  if (most !== undefined && calls.length !== most) {
    return fail(calls.length === 0 ? 'it was not called' : `it was called ${calls.length} times: ${callsText(calls)}`)
  }
  if (fitting.length === 0 && most !== 0) {
    return fail(calls.length === 0 ? 'it was not called' : `it was called otherwise: ${callsText(calls)}`)
  }
  if (after_heard === undefined) return pass
  for (const { atMs } of fitting) {
    const before = { turns: record.turns.filter(({ startMs, role }) => role === 'assistant' && startMs < atMs) }
    const found = holds(after_heard, heardText(before))
    if (found === undefined) return unsure(UNJUDGED)
    if (!found) return fail('it was called before the caller had heard that')
  }
  return pass
}

function judgeCollected({ collected: name, value: wanted, ...counts }: ExpectedFact, { collected }: TestRecord) {
  const asked = collected.filter((one) => one.name === name)
  const there = asked.filter(({ status }) => status === 'collected')
  const judged = there.map((one) => (wanted === undefined ? true : fits(wanted, one.value)))
  if (judged.includes(undefined)) return unsure(UNJUDGED)
  const brought = asked.map(({ status, value, attempts }) =>
    status === 'collected' ? `it was ${value ?? 'kept secret'}` : `${status} after ${attempts} questions`,
  )
  return counted(
    counts,
    judged.filter((fit) => fit === true).length,
    brought.length === 0 ? 'it was not asked for' : brought.join('; '),
  )
}

/** At least once, or as often as the fact says. */
function counted({ once, times }: Pick<ExpectedFact, 'once' | 'times'>, count: number, otherwise: string) {
  const wanted = once === true ? 1 : times
  if (wanted === undefined ? count > 0 : count === wanted) return pass
  return fail(count === 0 ? otherwise : `that happened ${count} times`)
}

const callsText = (calls: readonly TestToolCall[]): string =>
  calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`).join('; ')

function same(wanted: string | undefined, found: string, error: string | undefined) {
  if (wanted === found) return pass
  return fail(`it was ${found}${error === undefined ? '' : ` (${error})`}`)
}

function within({ min, max }: Bounds = {}, found: number, unit: string) {
  const tooLittle = min !== undefined && found < min
  const tooMuch = max !== undefined && found > max
  // Without a figure it is neither.
  if (!Number.isFinite(found)) return unsure('there is no figure')
  return tooLittle || tooMuch ? fail(`it was ${found} ${unit}`) : { ...pass, why: `${found} ${unit}` }
}

/** By nearest rank. */
function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? Number.NaN
}
