import { Scaler, type ScalingRule } from './rule.ts'

/** A day of calls against a scaling rule. Pure: the same seed gives the same day. */
export interface DayOptions {
  readonly rule: ScalingRule
  /** Seats of a worker. */
  readonly capacity: number
  /** From the order for a worker until it takes calls: a pod, an image that is there, the models. */
  readonly startS: number
  /** How long a call waits for a seat before it is refused. */
  readonly waitS: number
  readonly meanCallS: number
  /** Calls that begin in the busiest hour. */
  readonly busiestHourCalls: number
  /** A campaign that begins at this second with so many calls at once; undefined: none. */
  readonly burst?: { readonly atS: number; readonly calls: number }
  /** In [0, 1). */
  random(): number
}

export interface Day {
  readonly calls: number
  readonly refused: number
  /** Of those that were answered, in seconds. */
  readonly waitP95S: number
  /** Seats that were there and not used, over the day, as a share of all. */
  readonly idleShare: number
  readonly workerHours: number
  readonly mostWorkers: number
}

const DAY_S = 86_400
/** Of the busiest hour's calls, by hour of the day: a service line in one time zone. */
const HOURS = [
  0.04, 0.02, 0.02, 0.02, 0.03, 0.06, 0.15, 0.35, 0.7, 0.95, 1, 0.95, 0.75, 0.8, 0.92, 0.95, 0.85, 0.65, 0.45, 0.35,
  0.28, 0.2, 0.12, 0.07,
]

interface Worker {
  readonly readyS: number
  sessions: number
  draining: boolean
}

export function playDay(options: DayOptions): Day {
  const { rule, capacity, startS, waitS, random } = options
  const scaler = new Scaler(rule)
  let workers: Worker[] = Array.from({ length: rule.leastWorkers }, () => ({ readyS: 0, sessions: 0, draining: false }))
  const ends = new Map<number, Worker[]>()
  let waiting: number[] = []
  const waits: number[] = []
  let [calls, refused, usedS, thereS, mostWorkers] = [0, 0, 0, 0, 0]

  for (let nowS = 0; nowS < DAY_S; nowS++) {
    for (const worker of ends.get(nowS) ?? []) worker.sessions--
    ends.delete(nowS)
    const arrivals = arrivalsAt(nowS, options)
    calls += arrivals
    for (let n = 0; n < arrivals; n++) waiting.push(nowS)
    waiting = waiting.filter((sinceS) => {
      const seat = emptiest(workers, nowS, capacity)
      if (seat !== undefined) {
        seat.sessions++
        waits.push(nowS - sinceS)
        const endS = nowS + Math.max(1, Math.round(-Math.log(1 - random()) * options.meanCallS))
        ends.set(endS, [...(ends.get(endS) ?? []), seat])
        return false
      }
      if (nowS - sinceS < waitS) return true
      refused++
      return false
    })
    workers = workers.filter(({ draining, sessions }) => !draining || sessions > 0)
    if (nowS % rule.everyS === 0) scale(workers, scaler, nowS, waiting.length, startS)
    for (const { sessions, readyS } of workers) {
      usedS += sessions
      if (readyS <= nowS) thereS += capacity
    }
    mostWorkers = Math.max(mostWorkers, workers.length)
  }
  waits.sort((a, b) => a - b)
  return {
    calls,
    refused,
    waitP95S: waits[Math.floor(waits.length * 0.95)] ?? 0,
    idleShare: 1 - usedS / thereS,
    workerHours: thereS / capacity / 3_600,
    mostWorkers,
  }
}

function arrivalsAt(nowS: number, { busiestHourCalls, burst, random }: DayOptions): number {
  const hour = nowS / 3_600
  const [from, to] = [HOURS[Math.floor(hour)] ?? 0, HOURS[(Math.floor(hour) + 1) % 24] ?? 0]
  const rate = ((from + (to - from) * (hour % 1)) * busiestHourCalls) / 3_600
  // Poisson, by Knuth: rates are small.
  let count = -1
  for (let product = 1, limit = Math.exp(-rate); product > limit; count++) product *= random()
  return Math.max(0, count) + (burst?.atS === nowS ? burst.calls : 0)
}

/** The longest idle slot is on the emptiest worker. */
function emptiest(workers: readonly Worker[], nowS: number, capacity: number): Worker | undefined {
  let best: Worker | undefined
  for (const worker of workers) {
    if (worker.draining || worker.readyS > nowS || worker.sessions >= capacity) continue
    if (best === undefined || worker.sessions < best.sessions) best = worker
  }
  return best
}

/** Orders workers, or has some drain: those finish their calls first. */
function scale(workers: Worker[], scaler: Scaler, nowS: number, waiting: number, startS: number): void {
  const present = workers.filter(({ draining }) => !draining)
  const sessions = workers.reduce((sum, worker) => sum + worker.sessions, waiting)
  const wanted = scaler.look(nowS, present.length, sessions)
  for (let n = present.length; n < wanted; n++) workers.push({ readyS: nowS + startS, sessions: 0, draining: false })
  // Kubernetes takes the youngest.
  for (const worker of present.slice(wanted)) worker.draining = true
}
