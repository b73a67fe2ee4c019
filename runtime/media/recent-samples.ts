import { appendToBlocks } from './append-to-blocks.ts'

/** Half a second at 16 kHz. */
const BLOCK_SAMPLES = 8_000

/** The last samples of what comes in pieces of any length. Pure. */
export class RecentSamples {
  #blocks: Int16Array[] = []
  /** Of the first block: samples that are forgotten. */
  #from = 0
  #length = 0

  /** Keeps a copy of them, and of all samples the last `most`. */
  push(samples: Int16Array, most: number): void {
    appendToBlocks(this.#blocks, BLOCK_SAMPLES, this.#from + this.#length, samples)
    this.#length += samples.length
    this.keepLast(most)
  }

  get length(): number {
    return this.#length
  }

  /** Forgets all but the last ones. */
  keepLast(samples: number): void {
    const over = Math.max(0, this.#length - samples)
    this.#from += over
    this.#length -= over
    while (this.#from >= BLOCK_SAMPLES) {
      this.#blocks.shift()
      this.#from -= BLOCK_SAMPLES
    }
  }

  /** Copies of all of them, in order, in pieces of at most so many samples. */
  *pieces(mostSamples: number): Generator<Int16Array> {
    let from = this.#from
    let left = this.#length
    for (const block of this.#blocks) {
      const to = Math.min(BLOCK_SAMPLES, from + left)
      for (let at = from; at < to; at += mostSamples) yield block.slice(at, Math.min(to, at + mostSamples))
      left -= to - from
      from = 0
    }
  }
}
