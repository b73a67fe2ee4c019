import { type AnswerHistory, type Pacing, ratioOf } from './over-dialing.ts'

/** How many calls a tick places. Pure. */

export interface CampaignLoad {
  /** Seats that are this campaign's now by its fair share, and those its unanswered calls are reckoned with. */
  seats: number
  placing: number
  ringing: number
  /** Answered, and no agent yet. */
  waiting: number
  talking: number
}

export interface PaceLimits {
  callRatio: number
  pacing: Pacing
  /** 0: unlimited. */
  maxActiveCalls: number
  /** Attempts the source numbers may begin now; undefined: any. */
  numberRoom: number | undefined
}

interface Pace {
  place: number
  effectiveRatio: number
  /** A sentence for the status. */
  why: string
}

/**
 * Up to a ratio of 1 a seat is reserved before each dial, so that an answered call always has an agent and none is abandoned.
 * Above, the history says how many may be dialled on the seats there are.
 */
export function pace(load: CampaignLoad, limits: PaceLimits, history: AnswerHistory): Pace {
  const { ratio, why } = ratioOf(limits, Math.floor(load.seats), history)
  const underWay = load.placing + load.ringing + load.waiting
  const wanted = Math.round(ratio * load.seats + Number.EPSILON) - underWay
  const live = underWay + load.talking
  const free = limits.maxActiveCalls === 0 ? Number.POSITIVE_INFINITY : limits.maxActiveCalls - live
  const place = Math.max(0, Math.floor(Math.min(wanted, free, limits.numberRoom ?? Number.POSITIVE_INFINITY)))
  return { place, effectiveRatio: ratio, why: sentenceOf(load, limits, { place, wanted, free }) ?? why }
}

function sentenceOf(
  { seats }: CampaignLoad,
  limits: PaceLimits,
  { place, wanted, free }: { place: number; wanted: number; free: number },
): string | undefined {
  const numbers = limits.numberRoom ?? Number.POSITIVE_INFINITY
  if (seats <= 0) return 'No seat is free'
  if (place < wanted && free <= numbers) return `max_active_calls lets ${limits.maxActiveCalls} calls be live`
  if (place < wanted) return `The source numbers may begin ${numbers} more calls within 24 hours`
  return undefined
}
