/**
 * The guard of a rollout: a one-sided group-sequential test that may be looked at after every call. Pure.
 *
 * O'Brien and Fleming (1979): the standardised difference z, after a share t of the planned calls, is compared with c / √t. Then z·√t is a
 * Brownian motion that is to stay below c up to t = 1, and by the reflection principle it leaves with the probability 2·(1 − Φ(c)),
 * however often one looks. Of the 5 % error, 4 % are for the planned calls. Those that follow have the rest: twice as many calls 0.5 %, four
 * times as many 0.25 %, and so on, so that the sum over all calls ever made stays below 5 %.
 */

/** Calls of one version. Of a share, `values` are 0 and 1, and `sumOfSquares` is `sum`. */
export interface CallSample {
  calls: number
  sum: number
  sumOfSquares: number
}

interface GuardTest {
  /** Higher values are worse, as of cost; else lower ones. */
  worseIsHigher: boolean
  /** Of each version, before which nothing is decided. */
  minCalls: number
  /** Planned calls of both versions together. */
  plannedCalls: number
}

export interface GuardVerdict {
  /** The new version is worse. */
  stops: boolean
  /** Standardised difference, positive where the new version is worse; null: it can't be said yet. */
  z: number | null
  /** What `z` is compared with now. */
  boundary: number | null
}

const PLANNED_ERROR = 0.04
const LATER_ERROR = 0.01

/** The probability that a standard normal value is above z: Abramowitz and Stegun 26.2.17, to 7.5e-8. */
export function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  const t = 1 / (1 + 0.2316419 * z)
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial
}

/** The z above which a standard normal value is with this probability, from 1e-9 to 0.5. */
function quantileOfTail(probability: number): number {
  let [low, high] = [0, 8]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (upperTail(middle) > probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Of the Brownian motion: of the planned calls, then of each doubling. */
const LIMITS: number[] = []

/** What z is compared with after so many calls. */
export function boundaryAfter(calls: number, plannedCalls: number): number {
  const stage = Math.max(0, Math.ceil(Math.log2(calls / plannedCalls)))
  LIMITS[stage] ??= quantileOfTail((stage === 0 ? PLANNED_ERROR : LATER_ERROR / 2 ** stage) / 2)
  return LIMITS[stage] / Math.sqrt(calls / (plannedCalls * 2 ** stage))
}

const meanOf = ({ calls, sum }: CallSample): number => sum / calls

/** Of the sample's values, over n - 1. */
function varianceOf({ calls, sum, sumOfSquares }: CallSample): number {
  return Math.max(0, (sumOfSquares - (sum * sum) / calls) / (calls - 1))
}

/** Whether the new version is worse than the old one, by all calls so far. */
export function judgeVersions(
  old: CallSample,
  fresh: CallSample,
  { worseIsHigher, minCalls, plannedCalls }: GuardTest,
): GuardVerdict {
  const undecided = { stops: false, z: null, boundary: null }
  if (Math.min(old.calls, fresh.calls) < Math.max(2, minCalls)) return undecided
  const error = Math.sqrt(varianceOf(old) / old.calls + varianceOf(fresh) / fresh.calls)
  const difference = meanOf(fresh) - meanOf(old)
  if (error === 0 && difference === 0) return undecided
  const worse = worseIsHigher ? difference : -difference
  // Every call of either version came to the same: one in each might not have.
  const z = error === 0 ? worse / Math.sqrt(1 / (4 * old.calls) + 1 / (4 * fresh.calls)) : worse / error
  const boundary = boundaryAfter(old.calls + fresh.calls, plannedCalls)
  return { stops: z >= boundary, z, boundary }
}

/** The mean with its interval of 95 % confidence; nulls without calls, or with one. */
export function meanInterval(sample: CallSample): { value: number | null; low: number | null; high: number | null } {
  if (sample.calls === 0) return { value: null, low: null, high: null }
  const value = meanOf(sample)
  if (sample.calls === 1) return { value, low: null, high: null }
  const half = 1.96 * Math.sqrt(varianceOf(sample) / sample.calls)
  return { value, low: value - half, high: value + half }
}
