/** Kept at most; what lies further back is taken to lie as the oldest piece does. */
const MAX_PIECES = 1_024

/** Where the milliseconds of one run of sound lie in another count of time, from piece to piece. Pure. */
export class RunMap {
  readonly #toleranceMs: number
  #pieces: { fromMs: number; offsetMs: number }[] = []

  /** @param toleranceMs pieces that are this near to each other are one */
  constructor(toleranceMs: number) {
    this.#toleranceMs = toleranceMs
  }

  /** From `fromMs` of the run on, a millisecond lies `offsetMs` further in the other count. */
  add(fromMs: number, offsetMs: number): void {
    const last = this.#pieces.at(-1)
    if (last !== undefined && Math.abs(last.offsetMs - offsetMs) < this.#toleranceMs) return
    this.#pieces.push({ fromMs, offsetMs })
    if (this.#pieces.length >= 2 * MAX_PIECES) this.#pieces = this.#pieces.slice(MAX_PIECES)
  }

  /** Where that millisecond of the run ends; undefined: nothing is known. */
  at(ms: number): number | undefined {
    const piece = this.#pieces.findLast(({ fromMs }) => fromMs < ms) ?? this.#pieces[0]
    return piece && ms + piece.offsetMs
  }
}
