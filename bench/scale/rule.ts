/** The scaling rule of deploy/kubernetes, as a HorizontalPodAutoscaler and KEDA work it out. Pure. */
export interface ScalingRule {
  /** Sessions a worker is to have on average. */
  readonly sessionsPerWorker: number
  readonly leastWorkers: number
  readonly mostWorkers: number
  /** How often it is worked out. */
  readonly everyS: number
  /** Most new workers in each look: the larger of a share and a number. */
  readonly growShare: number
  readonly growWorkers: number
  readonly growEveryS: number
  /** The highest wish of this long before workers go. */
  readonly shrinkAfterS: number
  /** Most workers that go, as a share of those there, in each minute. */
  readonly shrinkShare: number
}

/** Within this of the goal nothing is done, as in Kubernetes. */
const TOLERANCE = 0.1

/** Works out the number of workers, look by look. */
export class Scaler {
  readonly #rule: ScalingRule
  #wishes: { atS: number; workers: number }[] = []
  #changes: { atS: number; from: number }[] = []

  constructor(rule: ScalingRule) {
    this.#rule = rule
  }

  /** @param sessions those that run and those that wait */
  look(nowS: number, workers: number, sessions: number): number {
    const rule = this.#rule
    const ratio = sessions / Math.max(1, workers) / rule.sessionsPerWorker
    const raw = Math.abs(ratio - 1) <= TOLERANCE ? workers : Math.ceil(sessions / rule.sessionsPerWorker)
    const wish = Math.min(rule.mostWorkers, Math.max(rule.leastWorkers, raw))
    this.#wishes = [...this.#wishes.filter(({ atS }) => nowS - atS < rule.shrinkAfterS), { atS: nowS, workers: wish }]
    this.#changes = this.#changes.filter(({ atS }) => nowS - atS < 60)
    const target = wish > workers ? Math.min(wish, this.#mostAt(nowS, workers)) : this.#leastAt(workers)
    if (target !== workers) this.#changes.push({ atS: nowS, from: workers })
    return target
  }

  #mostAt(nowS: number, workers: number): number {
    const { growShare, growWorkers, growEveryS } = this.#rule
    const before = this.#changes.find(({ atS }) => nowS - atS < growEveryS)?.from ?? workers
    return Math.max(Math.ceil(before * (1 + growShare)), before + growWorkers)
  }

  #leastAt(workers: number): number {
    const highest = Math.max(...this.#wishes.map(({ workers }) => workers))
    const before = Math.max(workers, ...this.#changes.map(({ from }) => from))
    return Math.min(workers, Math.max(highest, Math.floor(before * (1 - this.#rule.shrinkShare))))
  }
}
