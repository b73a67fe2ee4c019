/** How many calls a tick places. Pure. */

export interface Load {
  /** Seats that are this campaign's now by its fair share, and those its unanswered calls will take. */
  seats: number
  placing: number
  ringing: number
  /** Answered, and no agent yet. */
  waiting: number
  talking: number
}

export interface PaceLimits {
  callRatio: number
  /** 0: unlimited. */
  maxActiveCalls: number
  /** Attempts the source numbers may begin now; undefined: any. */
  numberRoom: number | undefined
}

export interface Pace {
  place: number
  effectiveRatio: number
  /** A sentence for the status. */
  why: string
}

/**
 * A seat is reserved before each dial, so that an answered call always has an agent and none is abandoned. A ratio above 1 is
 * taken for 1: dialling without a seat needs somebody who speaks to those that nobody is free for.
 */
export function pace(load: Load, limits: PaceLimits): Pace {
  const ratio = Math.min(1, limits.callRatio)
  const underWay = load.placing + load.ringing + load.waiting
  const wanted = Math.round(ratio * load.seats + Number.EPSILON) - underWay
  const live = underWay + load.talking
  const free = limits.maxActiveCalls === 0 ? Number.POSITIVE_INFINITY : limits.maxActiveCalls - live
  const place = Math.max(0, Math.floor(Math.min(wanted, free, limits.numberRoom ?? Number.POSITIVE_INFINITY)))
  return { place, effectiveRatio: ratio, why: sentenceOf(load, limits, { place, wanted, free }) }
}

function sentenceOf(
  load: Load,
  limits: PaceLimits,
  { place, wanted, free }: { place: number; wanted: number; free: number },
): string {
  const { seats } = load
  const numbers = limits.numberRoom ?? Number.POSITIVE_INFINITY
  if (seats <= 0) return 'No seat is free'
  if (place < wanted && free <= numbers) return `max_active_calls lets ${limits.maxActiveCalls} calls be live`
  if (place < wanted) return `The source numbers may begin ${numbers} more calls within 24 hours`
  if (limits.callRatio > 1) return 'Every call has its seat before it is dialled, so call_ratio above 1 counts as 1'
  return 'Every call has its seat before it is dialled'
}
