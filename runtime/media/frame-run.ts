import { appendToBlocks } from './append-to-blocks.ts'

/** A second. */
const FRAMES_OF_BLOCK = 50

/**
 * Samples that come in pieces of any length and leave as frames, in order. What has left is kept no longer than its reader keeps it.
 * Frames are views of a shared buffer and must not be changed. Pure.
 */
export class FrameRun {
  readonly #frameSamples: number
  /** From the one on that the next frame leaves from. */
  #blocks: Int16Array[] = []
  /** All samples that came, and the frames that left. */
  #samples = 0
  #taken = 0

  constructor(frameSamples: number) {
    this.#frameSamples = frameSamples
  }

  get isEmpty(): boolean {
    return this.#samples === 0
  }

  /** Whole frames that came. */
  get length(): number {
    return Math.floor(this.#samples / this.#frameSamples)
  }

  /** Frames that left. */
  get taken(): number {
    return this.#taken
  }

  /** Whole frames that are still to leave. */
  get left(): number {
    return this.length - this.#taken
  }

  push(samples: Int16Array): void {
    appendToBlocks(this.#blocks, FRAMES_OF_BLOCK * this.#frameSamples, this.#samples, samples)
    this.#samples += samples.length
  }

  /** No more comes: silence fills the last frame. Returns how many samples of it. */
  end(): number {
    const over = this.#samples % this.#frameSamples
    if (over === 0) return 0
    const silence = this.#frameSamples - over
    // Blocks begin silent and hold whole frames.
    this.#samples += silence
    return silence
  }

  /** The next frame to leave; undefined when none is ready. */
  get next(): Int16Array | undefined {
    if (this.left === 0) return undefined
    const from = (this.#taken % FRAMES_OF_BLOCK) * this.#frameSamples
    return this.#blocks[0]!.subarray(from, from + this.#frameSamples)
  }

  /** The next frame, which leaves with this. */
  take(): Int16Array | undefined {
    const frame = this.next
    if (frame === undefined) return undefined
    this.#taken++
    if (this.#taken % FRAMES_OF_BLOCK === 0) this.#blocks.shift()
    return frame
  }
}
