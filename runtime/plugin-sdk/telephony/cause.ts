import type { DialFailure } from './carrier.ts'

/** What the network said when a call was not to be: the one table from which status, disposition and sentence follow. */
export interface NetworkWord {
  /** The final answer to the INVITE (RFC 3261, section 21). */
  readonly sipStatus?: number | undefined
  /** ITU-T Q.850, as `Reason: Q.850;cause=17` has it (RFC 3326). */
  readonly q850?: number | undefined
  /** The network refused in the callee's place. */
  readonly isBlock?: boolean
}

export interface Meaning {
  readonly failure: DialFailure
  /** For the operator, behind the network's own words. */
  readonly sentence?: string
  /** Another route may succeed: the next address of the trunk, another trunk. */
  readonly elsewhere: boolean
}

const BUSY: Meaning = { failure: 'busy', elsewhere: false }
const NO_ANSWER: Meaning = { failure: 'no_answer', elsewhere: false }
const REJECTED: Meaning = { failure: 'rejected', sentence: 'the callee refused the call', elsewhere: false }
const BLOCKED: Meaning = {
  failure: 'carrier',
  sentence: 'a carrier or an analytics service blocked the call; the callee did not refuse it',
  elsewhere: false,
}
const BAD_NUMBER: Meaning = { failure: 'invalid_number', sentence: 'the number is not in service', elsewhere: false }
const BROKEN: Meaning = { failure: 'carrier', elsewhere: true }
const carrier = (sentence: string): Meaning => ({ failure: 'carrier', sentence, elsewhere: false })
const CREDENTIALS = carrier("the trunk's username or password is wrong")

/** Statuses that say it all: Q.850 adds nothing to them. */
const OWN_WORD: Readonly<Record<number, Meaning>> = {
  401: CREDENTIALS,
  407: CREDENTIALS,
  403: carrier('the trunk refuses this account, source or destination'),
  488: carrier('the trunk takes none of the offered codecs'),
  606: carrier('the trunk takes none of the offered codecs'),
}

const BY_CAUSE: Readonly<Record<number, Meaning>> = {
  1: BAD_NUMBER,
  17: BUSY,
  18: NO_ANSWER,
  19: NO_ANSWER,
  20: { ...NO_ANSWER, sentence: 'the phone is switched off or out of reach' },
  21: REJECTED,
  22: { ...BAD_NUMBER, sentence: 'the number has changed' },
  28: { ...BAD_NUMBER, sentence: 'the number is incomplete' },
  34: { ...BROKEN, sentence: 'no line is free' },
  38: { ...BROKEN, sentence: 'the network is out of order' },
  41: { ...BROKEN, sentence: 'the network failed for a moment' },
  42: { ...BROKEN, sentence: 'the network is congested' },
  44: { ...BROKEN, sentence: 'no line is free' },
  47: { ...BROKEN, sentence: 'the network has no means for the call' },
}

const BY_STATUS: Readonly<Record<number, Meaning>> = {
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
  603: REJECTED,
  604: BAD_NUMBER,
  607: REJECTED,
  608: REJECTED,
}

/** The outcome of a call by the network's cause. Without a cause there was no response: the carrier failed. */
export function meaningOf({ sipStatus, q850, isBlock }: NetworkWord): Meaning {
  if (isBlock) return BLOCKED
  const own = sipStatus === undefined ? undefined : OWN_WORD[sipStatus]
  const cause = q850 === undefined ? undefined : BY_CAUSE[q850]
  const status = sipStatus === undefined ? BROKEN : BY_STATUS[sipStatus]
  return own ?? cause ?? status ?? { failure: 'carrier', elsewhere: false }
}
