/** Left and right of a recording. */
export const CALLER = 0
export const AGENT = 1
type Side = typeof CALLER | typeof AGENT

/**
 * Two voices on one line of time, as interleaved stereo. Positions count frames from the beginning. Samples are put
 * anywhere inside a window; what is taken from its front is final, and what comes for it later is too late. Pure.
 */
export class StereoWindow {
  readonly #frames: Int16Array
  readonly #size: number
  /** Position of the first frame that was not taken yet. */
  #start = 0

  constructor(windowFrames: number) {
    this.#size = windowFrames
    this.#frames = new Int16Array(windowFrames * 2)
  }

  get start(): number {
    return this.#start
  }

  /** Puts samples over what was there; those outside of the window are lost. */
  put(side: Side, at: number, samples: Int16Array): void {
    const from = Math.max(0, this.#start - at)
    const to = Math.min(samples.length, this.#start + this.#size - at)
    for (let i = from; i < to; i++) this.#frames[((at + i) % this.#size) * 2 + side] = samples[i]!
  }

  /** Moves what a side has from a position on so many frames towards the front; what was there is lost. */
  advance(side: Side, from: number, by: number): void {
    const end = this.#start + this.#size
    for (let at = Math.max(from - by, this.#start); at < end; at++) {
      const source = at + by
      this.#frames[(at % this.#size) * 2 + side] = source < end ? this.#frames[(source % this.#size) * 2 + side]! : 0
    }
  }

  /** Silences a side from a position on. */
  silence(side: Side, from: number): void {
    const end = this.#start + this.#size
    for (let at = Math.max(from, this.#start); at < end; at++) this.#frames[(at % this.#size) * 2 + side] = 0
  }

  /** The frames before `until`, at most a window of them at once; nothing when they were taken already. */
  take(until: number): Int16Array {
    const count = Math.max(0, Math.min(until - this.#start, this.#size))
    const out = new Int16Array(count * 2)
    const first = this.#start % this.#size
    const head = Math.min(count, this.#size - first)
    for (const [from, frames, to] of [
      [first, head, 0],
      [0, count - head, head],
    ] as const) {
      const part = this.#frames.subarray(from * 2, (from + frames) * 2)
      out.set(part, to * 2)
      part.fill(0)
    }
    this.#start += count
    return out
  }
}
