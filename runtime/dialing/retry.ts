import { instantOf, wallClock } from '../lib/zoned-time.ts'

/** What an outcome means for the next attempt. Pure. */

export const OUTCOMES = [
  'reached',
  'voicemail',
  'busy',
  'no_answer',
  'hung_up',
  'abandoned',
  'declined',
  'blocked',
  'opted_out',
  'invalid_number',
  'fault',
  'unknown',
  'canceled',
  'skipped',
] as const
/**
 * What an attempt came to. `unknown`: its process died after the carrier may have been asked. `skipped`: it was refused
 * right before the carrier was asked. `canceled`: ended on our side before it was answered. `blocked`: a network refused it for the
 * number it came from.
 */
type AttemptOutcome = (typeof OUTCOMES)[number]

type Resolution =
  | 'reached'
  | 'voicemail'
  | 'exhausted'
  | 'expired'
  | 'do_not_call'
  | 'invalid_number'
  | 'opted_out'
  | 'canceled'
  | 'failed'

/** Outcomes whose waiting time a campaign sets. */
export const RETRIED = ['busy', 'no_answer', 'voicemail', 'hung_up', 'abandoned', 'blocked', 'fault'] as const
export type Retried = (typeof RETRIED)[number]

export interface RetryRule {
  afterMinutes: number
  /** In the morning, at midday or in the evening, wherever it was not tried lately. */
  otherPartOfDay?: boolean
}

export interface RetryPolicy {
  /** Left out: `min_time_between_calls`. */
  retry: Readonly<Partial<Record<Retried, RetryRule>>>
  maxNumberCalls: number
  minMinutesBetween: number
  voicemailResolves: boolean
}

/** The rules of a campaign that sets none. */
export const DEFAULT_RETRY: RetryPolicy['retry'] = {
  busy: { afterMinutes: 20 },
  voicemail: { afterMinutes: 240, otherPartOfDay: true },
  blocked: { afterMinutes: 30 },
  fault: { afterMinutes: 2 },
}
/** One who hung up within this time of the answer heard no more than the greeting. */
const HUNG_UP_MS = 10_000
/** Waits after faults of the carrier and blocks in a row, in units of `retry.fault` or `retry.blocked`; the next one is final. */
const FAULT_WAITS = [1, 4, 15] as const
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A call's terminal row. */
export interface EndedDial {
  status: 'completed' | 'failed' | 'busy' | 'no_answer' | 'canceled'
  endReason: string
  disposition: string
  answeredBy: string | null
  answered: boolean
  /** The carrier may have been asked. */
  placed: boolean
  durationMs: number
}

export function attemptOutcomeOf(call: EndedDial): AttemptOutcome {
  const { status, endReason, disposition, answeredBy, answered, placed, durationMs } = call
  if (endReason === 'skipped') return 'skipped'
  if (endReason === 'abandoned') return 'abandoned'
  if (endReason === 'invalid_number') return 'invalid_number'
  if (endReason === 'rejected') return 'declined'
  if (endReason === 'blocked') return 'blocked'
  if (status === 'busy') return 'busy'
  if (status === 'no_answer') return 'no_answer'
  if (disposition === 'voicemail' || answeredBy === 'machine') return 'voicemail'
  if (status === 'canceled') return answered ? 'reached' : placed ? 'canceled' : 'skipped'
  if (status === 'failed') {
    if (disposition === 'hung_up') return 'hung_up'
    // A conversation that broke off took place.
    if (answered && durationMs > HUNG_UP_MS) return 'reached'
    if (endReason === 'node_lost') return placed ? 'unknown' : 'fault'
    return 'fault'
  }
  if (disposition === 'screened') return 'no_answer'
  if (!answered) return 'no_answer'
  return endReason === 'caller_hangup' && durationMs <= HUNG_UP_MS ? 'hung_up' : 'reached'
}

/** A prospect before the outcome is counted. */
interface History {
  /** Attempts charged so far. */
  attempts: number
  /** Of the carrier, and blocks. */
  faultsInARow: number
  /** Parts of the day tried since all three were. */
  partsTried: readonly PartOfDay[]
}

interface Decision {
  /** Counts among the prospect's attempts. */
  charged: boolean
  resolution: Resolution | undefined
  /** Undefined where it is resolved. */
  nextAttemptMs: number | undefined
  faultsInARow: number
  partsTried: readonly PartOfDay[]
}

export const PARTS_OF_DAY = ['morning', 'midday', 'evening'] as const
export type PartOfDay = (typeof PARTS_OF_DAY)[number]
const PART_STARTS: readonly [PartOfDay, number][] = [
  ['morning', 0],
  ['midday', 12],
  ['evening', 17],
]

export function partOfDay(ms: number, zone: string): PartOfDay {
  const hour = wallClock(ms, zone).secondOfDay / 3_600
  return hour < 12 ? 'morning' : hour < 17 ? 'midday' : 'evening'
}

/**
 * @param more.skippedFor why a skipped attempt was refused
 * @param more.callBackMs a time the callee named in the call
 * @param more.isOwnFault the fault is ours: no carrier was asked
 */
export function decide(
  outcome: AttemptOutcome,
  history: History,
  policy: RetryPolicy,
  at: { endedMs: number; startedMs: number; zone: string },
  more: { skippedFor?: string | undefined; callBackMs?: number | undefined; isOwnFault?: boolean } = {},
): Decision {
  const failed = outcome === 'fault' || outcome === 'blocked'
  const charged = !failed && outcome !== 'skipped'
  const attempts = history.attempts + (charged ? 1 : 0)
  const keepsFaults = outcome === 'skipped' || (outcome === 'fault' && more.isOwnFault === true)
  const faultsInARow = keepsFaults ? history.faultsInARow : failed ? history.faultsInARow + 1 : 0
  const partsTried = charged ? tried(history.partsTried, partOfDay(at.startedMs, at.zone)) : history.partsTried
  const end = (resolution: Resolution): Decision => ({
    charged,
    resolution,
    nextAttemptMs: undefined,
    faultsInARow,
    partsTried,
  })
  const next = (ms: number): Decision => ({
    charged,
    resolution: undefined,
    nextAttemptMs: ms,
    faultsInARow,
    partsTried,
  })

  const final = resolutionOf(outcome, policy, more.skippedFor)
  if (final !== undefined && !(final === 'reached' && more.callBackMs !== undefined)) return end(final)
  if (charged && attempts >= policy.maxNumberCalls) return end(outcome === 'reached' ? 'reached' : 'exhausted')
  const gapMs = policy.minMinutesBetween * MINUTE_MS
  if (more.callBackMs !== undefined && final === 'reached') return next(Math.max(more.callBackMs, at.endedMs))
  if (outcome === 'skipped') return next(at.endedMs + (more.skippedFor === 'webhook' ? gapMs : 0))
  if (failed) {
    const shortMs = (policy.retry[outcome] ?? DEFAULT_RETRY[outcome])!.afterMinutes * MINUTE_MS
    if (more.isOwnFault) return next(at.endedMs + shortMs)
    const wait = FAULT_WAITS[faultsInARow - 1]
    return wait === undefined ? end('failed') : next(at.endedMs + wait * shortMs)
  }
  const rule = policy.retry[kindOf(outcome)]
  const afterMs = Math.max(gapMs, (rule?.afterMinutes ?? 0) * MINUTE_MS)
  const fromMs = at.endedMs + afterMs
  return next(rule?.otherPartOfDay ? otherPart(fromMs, at.zone, partsTried) : fromMs)
}

/** The outcome whose rule applies to one without its own. */
function kindOf(outcome: AttemptOutcome): Retried {
  if (outcome === 'busy' || outcome === 'voicemail' || outcome === 'hung_up' || outcome === 'abandoned') return outcome
  return 'no_answer'
}

function resolutionOf(
  outcome: AttemptOutcome,
  policy: RetryPolicy,
  skippedFor: string | undefined,
): Resolution | undefined {
  switch (outcome) {
    case 'reached':
    case 'opted_out':
    case 'invalid_number':
      return outcome
    case 'declined':
      return 'do_not_call'
    case 'voicemail':
      return policy.voicemailResolves ? 'voicemail' : undefined
    case 'skipped':
      return skippedFor === 'do_not_call' ? 'do_not_call' : undefined
    default:
      return undefined
  }
}

/** Once all three were tried, all but the last are new again. */
function tried(before: readonly PartOfDay[], now: PartOfDay): PartOfDay[] {
  const all = [...before.filter((part) => part !== now), now]
  return all.length === PARTS_OF_DAY.length ? [now] : all
}

/** The first moment from `fromMs` on that lies in a part of the day that was not tried. */
function otherPart(fromMs: number, zone: string, avoid: readonly PartOfDay[]): number {
  if (!avoid.includes(partOfDay(fromMs, zone))) return fromMs
  const midnightMs = Date.parse(`${wallClock(fromMs, zone).date}T00:00:00Z`)
  for (let day = 0; day < 3; day++) {
    for (const [part, hour] of PART_STARTS) {
      if (avoid.includes(part)) continue
      const ms = instantOf(midnightMs + day * DAY_MS + hour * 60 * MINUTE_MS, zone)
      if (ms >= fromMs) return ms
    }
  }
  return fromMs
}
