/** Heard before the first sound of a stretch, so that the next packets may be late. */
const FIRST_WAIT_MS = 60
/** After a stretch ran dry in the middle the wait grows by this, up to the most. */
const MORE_WAIT_MS = 40
const MOST_WAIT_MS = 300
/** A page that sleeps keeps at most this much. */
const MOST_HELD_MS = 60_000
/** Nothing came in this time: what is there is all there is. */
const END_MS = 200

/** Samples in order, and marks between them. Pure: told the time in samples that were played. */
export class PlayQueue {
  readonly #perMs: number
  readonly #reached: (markId: number) => void
  #items: (Float32Array | number)[] = []
  #offset = 0
  #samples = 0
  #waitMs = FIRST_WAIT_MS
  #isPlaying = false
  #idle = 0
  #endsWithMark = true

  constructor(rateHz: number, reached: (markId: number) => void) {
    this.#perMs = rateHz / 1000
    this.#reached = reached
  }

  add(samples: Float32Array): void {
    if (samples.length === 0) return
    this.#items.push(samples)
    this.#samples += samples.length
    this.#idle = 0
    this.#endsWithMark = false
    while (this.#samples > MOST_HELD_MS * this.#perMs) this.#skip()
  }

  mark(id: number): void {
    this.#endsWithMark = true
    if (this.#samples === 0) this.#reached(id)
    else this.#items.push(id)
  }

  clear(): void {
    this.#items = []
    this.#offset = 0
    this.#samples = 0
    this.#isPlaying = false
    this.#endsWithMark = true
  }

  /** Fills `out`; what is not there is silence. */
  pull(out: Float32Array): void {
    out.fill(0)
    if (!this.#isPlaying) {
      this.#idle += out.length
      const enough = this.#samples >= this.#waitMs * this.#perMs || this.#idle >= END_MS * this.#perMs
      if (this.#samples === 0 || !(enough || this.#endsWithMark)) return
      this.#isPlaying = true
    }
    let filled = 0
    while (filled < out.length && this.#items.length > 0) {
      const item = this.#items[0]!
      if (typeof item === 'number') {
        this.#items.shift()
        this.#reached(item)
        continue
      }
      const part = item.subarray(this.#offset, this.#offset + out.length - filled)
      out.set(part, filled)
      filled += part.length
      this.#offset += part.length
      this.#samples -= part.length
      if (this.#offset < item.length) continue
      this.#items.shift()
      this.#offset = 0
    }
    while (typeof this.#items[0] === 'number') this.#reached(this.#items.shift() as number)
    if (this.#samples > 0) return
    this.#isPlaying = false
    this.#idle = 0
    if (!this.#endsWithMark) this.#waitMs = Math.min(MOST_WAIT_MS, this.#waitMs + MORE_WAIT_MS)
  }

  #skip(): void {
    const item = this.#items.shift()
    if (typeof item === 'number') this.#reached(item)
    else if (item !== undefined) {
      this.#samples -= item.length - this.#offset
      this.#offset = 0
    }
  }
}
