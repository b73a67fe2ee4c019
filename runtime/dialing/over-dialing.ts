/**
 * How many calls are dialled per seat when a callee may find no agent free. Pure.
 *
 * The law (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)) lets 3 % of those who picked up be abandoned, over 30 days and by campaign.
 */

/** What became of a campaign's calls. */
export interface AnswerHistory {
  /** The latest attempts, and those of them that asked for a seat. */
  recent: { attempts: number; pickedUp: number }
  /** Over 30 days: people who picked up, and those who found no agent free. */
  month: { live: number; abandoned: number }
  /** Of the last minute. */
  minute: { live: number; abandoned: number }
}

export const NO_HISTORY: AnswerHistory = {
  recent: { attempts: 0, pickedUp: 0 },
  month: { live: 0, abandoned: 0 },
  minute: { live: 0, abandoned: 0 },
}

/** Before anything is measured so many are taken to pick up, with the weight of so many attempts. */
const ASSUMED = { rate: 0.3, attempts: 20 }
/** From so many attempts on, the answer rate alone decides; before, a wrong guess costs few callees. */
const MEASURED = 300
/** Target share of answered calls without a free agent. */
export const TARGET = 0.01
/** Once more than the target were abandoned in 30 days. */
const CAREFUL_TARGET = 0.0025
/** Above this, every call needs its own seat: the legal limit is 3 %. */
export const LIMIT = 0.025
const MINUTE_LEAST = 20
/** Of how sure the answer rate has to be: 1.64 standard errors, 95 %. */
const Z = 1.645

/** `predictive`: the ratio is an upper limit, and the answer rate decides; `fixed`: the ratio as it is written. */
export type Pacing = 'predictive' | 'fixed'

/**
 * The ratio of calls to seats, from 1 up to `callRatio`, and why.
 * @param seats free now, or reckoned for calls that ring
 */
export function ratioOf(
  { callRatio, pacing }: { callRatio: number; pacing: Pacing },
  seats: number,
  history: AnswerHistory,
): { ratio: number; why: string } {
  if (callRatio <= 1) return { ratio: callRatio, why: 'Every call has its seat before it is dialled' }
  const { recent, month, minute } = history
  const monthly = month.live === 0 ? 0 : month.abandoned / month.live
  if (monthly >= LIMIT) {
    const why = `Every call has its seat: ${percent(monthly)} of those who picked up in 30 days found nobody free, and the law allows 3 %`
    return { ratio: 1, why }
  }
  let ratio = callRatio
  let why = `call_ratio lets ${callRatio} calls be dialled on a seat`
  if (pacing === 'predictive') {
    const rate = expectedRate(recent)
    const target = monthly >= TARGET ? CAREFUL_TARGET : TARGET
    const beyond = recent.attempts < MEASURED ? Math.max(ASSUMED.attempts, recent.attempts) : Number.POSITIVE_INFINITY
    const most = mostCalls(seats, rate, target, Math.floor(Math.min(callRatio * seats, seats + beyond)))
    ratio = seats <= 0 ? 1 : Math.max(1, most / seats)
    if (ratio < callRatio) {
      why =
        most >= seats + beyond
          ? `${recent.attempts} attempts are measured: at most ${beyond} calls more than there are seats are dialled`
          : `At most ${percent(rate)} of those called pick up: ${most} calls on ${seats} seats leave ${percent(target)} of them without an agent`
    }
  }
  if (minute.live > MINUTE_LEAST && minute.abandoned * 2 >= minute.live) {
    ratio = Math.max(1, ratio / 2)
    why = `Half of what it would be: ${minute.abandoned} of the ${minute.live} who picked up in the last minute found nobody free`
  }
  return { ratio, why }
}

const percent = (part: number): string => `${(part * 100).toFixed(1)} %`

/** The measured rate, taken at its upper end, and the assumed one, each by the attempts it rests on. */
export function expectedRate(recent: AnswerHistory['recent']): number {
  const { rate, attempts } = ASSUMED
  if (recent.attempts === 0) return rate
  return (rate * attempts + upperRate(recent) * recent.attempts) / (attempts + recent.attempts)
}

/** The answer rate it is surely not above: the upper end of Wilson's interval. */
export function upperRate({ attempts, pickedUp }: AnswerHistory['recent']): number {
  const p = pickedUp / attempts
  const z2 = Z * Z
  const middle = p + z2 / (2 * attempts)
  const spread = Z * Math.sqrt((p * (1 - p)) / attempts + z2 / (4 * attempts * attempts))
  return Math.min(1, (middle + spread) / (1 + z2 / attempts))
}

/**
 * The most calls, up to `limit`, of which at most the part `target` of those who pick up are expected to find all `seats` taken
 * when all ring at once: picking up is binomial, and no seat is reckoned to become free meanwhile. At least one a seat.
 */
function mostCalls(seats: number, rate: number, target: number, limit: number): number {
  let low = seats
  let high = Math.max(seats, limit)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (expectedAbandoned(middle, rate, seats) <= target * middle * rate) low = middle
    else high = middle - 1
  }
  return low
}

/** How many of `calls` are expected to pick up beyond `seats`: E[max(0, X − seats)] of X binomial. */
export function expectedAbandoned(calls: number, rate: number, seats: number): number {
  if (calls <= seats || rate <= 0) return 0
  if (rate >= 1) return calls - seats
  // The chance of exactly k is computed from its logarithm, as (1 − rate)^calls is 0 in a double for a few thousand calls.
  const odds = Math.log(rate) - Math.log1p(-rate)
  let logChance = calls * Math.log1p(-rate)
  let sum = 0
  for (let k = 1; k <= calls; k++) {
    logChance += Math.log((calls - k + 1) / k) + odds
    if (k > seats) sum += (k - seats) * Math.exp(logChance)
  }
  return sum
}
