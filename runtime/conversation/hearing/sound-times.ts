/** Each span of speech has two; a turn is reported soon after its last one. */
const MAX_EDGES = 64

/**
 * Which of the caller's sound a moment of this worker is: the sound itself says where on the line it was spoken, however long it
 * was on its way. Moments are milliseconds from the answer by this worker's clock, sound is milliseconds of the caller's
 * timestamps. Pure.
 */
export class SoundTimes {
  readonly #edges: { ms: number; soundMs: number }[] = []

  /** Speech began or ended there. */
  edge(ms: number, soundMs: number): void {
    this.#edges.push({ ms, soundMs })
    if (this.#edges.length > MAX_EDGES) this.#edges.shift()
  }

  /** Exact where speech began or ended then. `last`: what was heard last, and when. */
  at(ms: number, last: { ms: number; soundMs: number }): number {
    const edge = this.#edges.findLast((one) => one.ms === ms)
    return edge?.soundMs ?? last.soundMs + Math.min(0, ms - last.ms)
  }
}
