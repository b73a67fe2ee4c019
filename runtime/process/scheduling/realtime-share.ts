/** Of a core, over a few looks in a row: who takes more keeps others from what they wait for. */
const MOST_SHARE = 0.9
/** With one core in all there is nothing beside it: half is the others'. */
const MOST_SHARE_OF_ONE_CORE = 0.5
const LOOKS_IN_A_ROW = 3
const REST_MS = 10_000
const MOST_REST_MS = 320_000
/** Real-time for so long without taking too much: what it rested for before is forgotten. */
const CALM_MS = 320_000

/**
 * Whether a thread that carries audio may be scheduled in real time now: a loop that spins would take the machine with it. Who
 * takes too much rests for ten seconds as a thread like any other, longer each time.
 */
export class RealtimeShare {
  readonly #mostShare: number
  #last: { atMs: number; usedMs: number } | undefined
  #above = 0
  #restMs = REST_MS
  #restsUntilMs: number | undefined
  #calmSinceMs: number | undefined

  constructor(cores: number) {
    this.#mostShare = cores > 1 ? MOST_SHARE : MOST_SHARE_OF_ONE_CORE
  }

  /** @param usedMs of the processor, by the thread since it began. Returns what it may be until the next look. */
  look(atMs: number, usedMs: number): 'realtime' | 'normal' {
    const last = this.#last
    this.#last = { atMs, usedMs }
    this.#calmSinceMs ??= atMs
    if (last === undefined || atMs <= last.atMs) return this.#restsUntilMs === undefined ? 'realtime' : 'normal'
    if (this.#restsUntilMs !== undefined) {
      if (atMs < this.#restsUntilMs) return 'normal'
      this.#restsUntilMs = undefined
      this.#calmSinceMs = atMs
      this.#above = 0
      return 'realtime'
    }
    if (atMs - this.#calmSinceMs >= CALM_MS) this.#restMs = REST_MS
    const share = (usedMs - last.usedMs) / (atMs - last.atMs)
    this.#above = share > this.#mostShare ? this.#above + 1 : 0
    if (this.#above < LOOKS_IN_A_ROW) return 'realtime'
    this.#restsUntilMs = atMs + this.#restMs
    this.#restMs = Math.min(2 * this.#restMs, MOST_REST_MS)
    return 'normal'
  }
}
