/** A sound that comes after such a silence begins something: the consonants of a word are further apart in no speech. */
const BEGINS_AFTER_MS = 100
/** A sound begins and ends so near to where the model of voices hears it. */
const NEAR_MS = 300
/** Kept at most: the model may be some seconds behind. */
const MAX_STRETCHES = 64

/** A sample of the caller's: when it came, and its place in milliseconds of the caller's timestamps. */
export interface AudioInstant {
  atMs: number
  soundMs: number
}

/** Where the caller was loud, so that what a model hears by windows of 32 ms has the edges of its sound. Pure. */
export class SpeechEdges {
  readonly #stretches: { from: AudioInstant; to: AudioInstant }[] = []

  /** @param quietMs of sound before it */
  loud(from: AudioInstant, to: AudioInstant, quietMs: number): void {
    const last = this.#stretches.at(-1)
    if (last !== undefined && quietMs < BEGINS_AFTER_MS) {
      last.to = to
      return
    }
    this.#stretches.push({ from, to })
    if (this.#stretches.length > MAX_STRETCHES) this.#stretches.shift()
  }

  /** Where that begins of which a model says that it began then; undefined: the line is noisy. */
  beginning(nearMs: number): AudioInstant | undefined {
    const away = ({ from }: { from: AudioInstant }) => Math.abs(from.atMs - nearMs)
    const [nearest] = this.#stretches.toSorted((a, b) => away(a) - away(b))
    return nearest !== undefined && away(nearest) < NEAR_MS ? nearest.from : undefined
  }

  /** Where that ends of which a model says that it had ended by then; undefined: the line is noisy. */
  end(beforeMs: number): AudioInstant | undefined {
    const last = this.#stretches.findLast(({ from }) => from.atMs < beforeMs)
    return last !== undefined && last.to.atMs < beforeMs && last.to.atMs > beforeMs - NEAR_MS ? last.to : undefined
  }
}
