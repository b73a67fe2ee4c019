/** A sound that comes after such a silence begins something: the consonants of a word are further apart in no speech. */
const BEGINS_AFTER_MS = 100
/** A sound begins and ends so near to where the model of voices hears it. */
const NEAR_MS = 300
/** Kept at most: the model may be some seconds behind. */
const MAX_STRETCHES = 64

/**
 * Where the caller was loud, so that what a model hears by windows of 32 ms has the edges of its sound. Places are milliseconds of the
 * run of the caller's audio. Pure.
 */
export class SpeechEdges {
  readonly #stretches: { fromMs: number; toMs: number }[] = []

  /** @param quietMs of sound before it */
  loud(fromMs: number, toMs: number, quietMs: number): void {
    const last = this.#stretches.at(-1)
    if (last !== undefined && quietMs < BEGINS_AFTER_MS) {
      last.toMs = toMs
      return
    }
    this.#stretches.push({ fromMs, toMs })
    if (this.#stretches.length > MAX_STRETCHES) this.#stretches.shift()
  }

  /** Where that begins of which a model says that it began then; undefined: the line is noisy. */
  beginning(nearMs: number): number | undefined {
    const away = ({ fromMs }: { fromMs: number }) => Math.abs(fromMs - nearMs)
    const [nearest] = this.#stretches.toSorted((a, b) => away(a) - away(b))
    return nearest !== undefined && away(nearest) < NEAR_MS ? nearest.fromMs : undefined
  }

  /** Where that ends of which a model says that it had ended by then; undefined: the line is noisy. */
  end(beforeMs: number): number | undefined {
    const last = this.#stretches.findLast(({ fromMs }) => fromMs < beforeMs)
    return last !== undefined && last.toMs < beforeMs && last.toMs > beforeMs - NEAR_MS ? last.toMs : undefined
  }
}
