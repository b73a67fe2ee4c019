/** How many calls a tick places. Pure. */

export interface Load {
  /** Free seats this campaign may use now, and those its unanswered calls hold already. */
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
  /** Calls the workspace and the source numbers may begin now; undefined: any. */
  room: number | undefined
  /** Calls the carriers take until the next tick; undefined: any. */
  carrierCalls: number | undefined
}

/** What was measured of the campaign's own calls. */
export interface Measured {
  /** Of the last few hundred attempts that rang. */
  rung: number
  answered: number
  /** Over 30 days. */
  liveAnswers: number
  abandoned: number
  /** Of the last minute. */
  lastMinute: { calls: number; abandoned: number }
}

export interface Pace {
  place: number
  effectiveRatio: number
  /** A sentence for the status. */
  why: string
}

/** FTC safe harbour: 3 % a campaign over 30 days; here well before it. */
const ABANDONED_LIMIT = 0.025
/** Over-dialling expects no more than this share of the answered calls to find no seat. */
const ABANDONED_AIM = 0.01
/** Fewer attempts say nothing of how many answer. */
const LEAST_MEASURED = 50
const HALVING_CALLS = 20
/** One-sided 95 %. */
const CONFIDENCE = 1.645

export function pace(load: Load, limits: PaceLimits, measured: Measured): Pace {
  const { ratio, why } = effectiveRatio(load.seats, limits.callRatio, measured)
  const underWay = load.placing + load.ringing + load.waiting
  const wanted = Math.round(ratio * load.seats + Number.EPSILON) - underWay
  const live = underWay + load.talking
  const free = limits.maxActiveCalls === 0 ? Number.POSITIVE_INFINITY : limits.maxActiveCalls - live
  const place = Math.min(wanted, free, limits.room ?? wanted, limits.carrierCalls ?? wanted)
  return { place: Math.max(0, Math.floor(place)), effectiveRatio: ratio, why }
}

function effectiveRatio(seats: number, asked: number, measured: Measured): { ratio: number; why: string } {
  if (asked <= 1) return { ratio: asked, why: 'Every call has its seat before it is dialled' }
  const { rung, answered, liveAnswers, abandoned, lastMinute } = measured
  if (liveAnswers > 0 && abandoned / liveAnswers >= ABANDONED_LIMIT) {
    return { ratio: 1, why: `${percent(abandoned / liveAnswers)} of the live answers of 30 days were abandoned` }
  }
  if (rung < LEAST_MEASURED) {
    return { ratio: 1, why: `The answer rate is known after ${LEAST_MEASURED} calls; so far ${rung} rang` }
  }
  if (seats <= 0) return { ratio: 1, why: 'No seat is free' }
  const rate = answered / rung
  const pessimistic = Math.min(1, rate + CONFIDENCE * Math.sqrt((rate * (1 - rate)) / rung))
  const ratio = Math.min(asked, linesFor(Math.floor(seats), pessimistic, Math.ceil(asked * seats)) / seats)
  if (lastMinute.calls > HALVING_CALLS && lastMinute.abandoned * 2 >= lastMinute.calls) {
    return { ratio: Math.max(1, ratio / 2), why: 'Half of the calls of the last minute were abandoned' }
  }
  return { ratio: Math.max(1, ratio), why: `${percent(rate)} of the calls are answered` }
}

/**
 * The most lines of which, each answered with this probability, no more than one in a hundred answered calls is expected to
 * find all seats taken.
 */
export function linesFor(seats: number, answerRate: number, most: number): number {
  let lines = seats
  while (lines < most && overflowShare(lines + 1, seats, answerRate) <= ABANDONED_AIM) lines++
  return lines
}

/** E[max(0, answered − seats)] / E[answered] of a binomial. */
function overflowShare(lines: number, seats: number, rate: number): number {
  if (rate <= 0) return 0
  if (rate >= 1) return (lines - seats) / lines
  let overflow = 0
  // From the top down the terms grow; a term is the one above times a ratio.
  let logTerm = lines * Math.log(rate)
  for (let answered = lines; answered > seats; answered--) {
    overflow += (answered - seats) * Math.exp(logTerm)
    logTerm += Math.log(answered / (lines - answered + 1)) + Math.log((1 - rate) / rate)
  }
  return overflow / (lines * rate)
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`
}
