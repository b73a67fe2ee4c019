import type { DialFailure } from './carrier.ts'

/**
 * Who ended a call that was not answered, and what that means: the one table from which the failure, the retry, the figures of
 * the call log and the operator's sentence follow. Pure.
 */

/** What the signalling of an unanswered call showed. */
export interface SignallingFacts {
  /** The final answer to the INVITE (RFC 3261, section 21); undefined: there was none. */
  readonly sipStatus?: number | undefined
  /** ITU-T Q.850, as `Reason: Q.850;cause=17` has it (RFC 3326). */
  readonly q850?: number | undefined
  /** Reason phrase, texts of Reason and Warning headers, and carriers' own headers, in this order. */
  readonly words?: readonly string[] | undefined
  /** How long the phone had rung; undefined: nothing said that it rang. */
  readonly rangMs?: number | undefined
  /** Why the call ended on our side; undefined: the other side ended it. */
  readonly ours?: 'ring_timeout' | 'silent' | 'stalled' | 'canceled' | undefined
}

/**
 * `callee`: a person or their phone. `carrier`: the trunk that takes our calls. `network`: whatever is between the two: other
 * carriers, analytics engines, gateways. `us`: we hung up.
 */
export const DECIDERS = ['callee', 'carrier', 'network', 'us'] as const
type Decider = (typeof DECIDERS)[number]

export const FAILURE_CAUSES = [
  'busy',
  'no_answer',
  'unreachable',
  'declined',
  'blocked',
  'bad_number',
  'congestion',
  'server_error',
  'credentials',
  'forbidden',
  'codec',
  'silent',
  'stalled',
  'canceled',
  'other',
] as const
type FailureCause = (typeof FAILURE_CAUSES)[number]

export interface Verdict {
  readonly failure: DialFailure
  readonly cause: FailureCause
  readonly who: Decider
  /** For the operator, behind the network's own words. */
  readonly sentence?: string
  /** Another route may succeed: the next address of the trunk, another trunk. */
  readonly elsewhere: boolean
}

/** A phone that rings for less was not declined by a hand: an engine or an app did it. */
export const HUMAN_REFUSAL_MS = 1_000

const verdict = (
  failure: DialFailure,
  cause: FailureCause,
  who: Decider,
  sentence?: string,
  elsewhere = false,
): Verdict => ({ failure, cause, who, ...(sentence === undefined ? {} : { sentence }), elsewhere })

const BUSY = verdict('busy', 'busy', 'callee')
const NO_ANSWER = verdict('no_answer', 'no_answer', 'callee')
const UNREACHABLE = verdict('no_answer', 'unreachable', 'network', 'the phone is switched off or out of reach')
const DECLINED = verdict('rejected', 'declined', 'callee', 'the callee refused the call')
const BLOCKED = verdict(
  'blocked',
  'blocked',
  'network',
  'a carrier or an analytics service blocked the call; the callee did not refuse it',
)
const badNumber = (sentence: string): Verdict => verdict('invalid_number', 'bad_number', 'network', sentence)
const BAD_NUMBER = badNumber('the number is not in service')
const congested = (sentence: string): Verdict => verdict('carrier', 'congestion', 'network', sentence, true)
const BROKEN = verdict('carrier', 'server_error', 'carrier', undefined, true)
const CREDENTIALS = verdict('carrier', 'credentials', 'carrier', "the trunk's username or password is wrong")
const CODEC = verdict('carrier', 'codec', 'carrier', 'the trunk takes none of the offered codecs')

/** What we did ourselves: no answer that comes late changes it. */
const OWN: Readonly<Record<NonNullable<SignallingFacts['ours']>, Verdict>> = {
  ring_timeout: verdict('no_answer', 'no_answer', 'us', 'it rang, and nobody answered in time'),
  silent: verdict('carrier', 'silent', 'carrier', undefined, true),
  stalled: verdict('carrier', 'stalled', 'carrier'),
  canceled: verdict('canceled', 'canceled', 'us'),
}

/** Statuses that say it all: Q.850 adds nothing to them. */
const OWN_WORD: Readonly<Record<number, Verdict>> = {
  401: CREDENTIALS,
  407: CREDENTIALS,
  488: CODEC,
  606: CODEC,
}

const FORBIDDEN = verdict('carrier', 'forbidden', 'carrier', 'the trunk refuses this account, source or destination')

/** Causes of ITU-T Q.850; 21 depends on whether a phone rang. */
const BY_CAUSE: Readonly<Record<number, Verdict>> = {
  1: BAD_NUMBER,
  17: BUSY,
  18: NO_ANSWER,
  19: NO_ANSWER,
  20: UNREACHABLE,
  22: badNumber('the number has changed'),
  28: badNumber('the number is incomplete'),
  34: congested('no line is free'),
  38: congested('the network is out of order'),
  41: congested('the network failed for a moment'),
  42: congested('the network is congested'),
  44: congested('no line is free'),
  47: congested('the network has no means for the call'),
}

const BY_STATUS: Readonly<Record<number, Verdict>> = {
  404: BAD_NUMBER,
  408: NO_ANSWER,
  410: BAD_NUMBER,
  480: NO_ANSWER,
  484: BAD_NUMBER,
  486: BUSY,
  487: NO_ANSWER,
  500: BROKEN,
  502: BROKEN,
  503: BROKEN,
  504: BROKEN,
  600: BUSY,
  604: BAD_NUMBER,
}

/** 603 Decline and 607 Unwanted (RFC 8197) are a callee's to say, 608 Rejected (RFC 8688) an engine's alone. */
const REFUSALS: ReadonlySet<number> = new Set([603, 607])
const REJECTED = 608
/** Q.850: call rejected. */
export const CALL_REJECTED = 21
/** Words of carriers and analytics engines that block calls by who calls; `purpose=jwscard` is RFC 8688's. */
const BLOCK_WORDS = /block|fraud|spam|robocall|nuisance|reputation|analytics|unwanted|violation|scam|purpose="?jwscard/i
/** Of RFC 8197: a callee says it, with a button of their phone. */
const UNWANTED = 607

/**
 * Who ended a call and what it came to. Only a person whose phone rang can refuse a call: a refusal without ringing, or too soon
 * for a hand, or in an engine's words is a block. Without any answer the carrier failed.
 */
export function verdictOf(facts: SignallingFacts): Verdict {
  const { sipStatus, q850, ours, rangMs } = facts
  if (ours !== undefined) return OWN[ours]
  const own = sipStatus === undefined ? undefined : OWN_WORD[sipStatus]
  if (own !== undefined) return own
  if (blockWordsOf(facts) !== undefined || sipStatus === REJECTED) return BLOCKED
  // A trunk that refuses our account often adds a cause of its own.
  if (sipStatus === 403) return FORBIDDEN
  const isRefusal = (sipStatus !== undefined && REFUSALS.has(sipStatus)) || q850 === CALL_REJECTED
  const cause = q850 === undefined ? undefined : BY_CAUSE[q850]
  if (isRefusal && cause === undefined) return rangMs !== undefined && rangMs >= HUMAN_REFUSAL_MS ? DECLINED : BLOCKED
  const status = sipStatus === undefined ? BROKEN : BY_STATUS[sipStatus]
  return cause ?? status ?? verdict('carrier', 'other', 'carrier')
}

/** The first words that name a block; undefined: none do. */
export function blockWordsOf({ sipStatus, words = [] }: SignallingFacts): string | undefined {
  return words.find(
    (one, i) => BLOCK_WORDS.test(one) && !(i === 0 && sipStatus === UNWANTED && /^unwanted$/i.test(one)),
  )
}
