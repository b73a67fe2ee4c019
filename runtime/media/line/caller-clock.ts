/** A clock that is this far off its arrival was set anew. */
const MAX_DRIFT_MS = 300
/** Nothing is heard before it is spoken: sound that would stand so far ahead of its arrival follows one that was held up. */
const MAX_EARLY_MS = 10
/** Sound this old keeps its position, whatever later packets show. */
const SETTLED_MS = 1_000
/** Maximum kept: a turn is reported when it is over, and clocks are rarely reset. */
const MAX_STRETCHES = 64

/** Sound of one clock. In samples. */
interface Stretch {
  /** Its first timestamp. */
  from: number
  /** Where timestamp 0 stands. */
  zero: number
}

/** Where a packet stands; `moved`: so far towards the front moves what came from `movedFrom` on, for it was held up. */
export interface CallerPlace {
  at: number
  moved: number
  movedFrom: number
}

/**
 * Maps the caller's RTP timestamps to the receiver's time line: each packet where it would have
 * come if no process and no network had been busy. All in samples at the leg's rate. Pure.
 */
export class CallerClock {
  readonly #maxDrift: number
  readonly #maxEarly: number
  readonly #settled: number
  readonly #stretches: Stretch[] = []

  constructor(rateHz: number) {
    const samplesIn = (ms: number) => Math.round((ms * rateHz) / 1000)
    this.#maxDrift = samplesIn(MAX_DRIFT_MS)
    this.#maxEarly = samplesIn(MAX_EARLY_MS)
    this.#settled = samplesIn(SETTLED_MS)
  }

  /** A packet of so many samples came now. */
  hear(timestamp: number, length: number, now: number): CallerPlace {
    // What arrives now was spoken up to now.
    const zero = now - length - timestamp
    const last = this.#stretches.at(-1)
    const early = last === undefined ? 0 : last.zero - zero
    if (last === undefined || Math.abs(early) > this.#maxDrift) {
      this.#push({ from: timestamp, zero })
      return { at: zero + timestamp, moved: 0, movedFrom: 0 }
    }
    if (early <= this.#maxEarly) return { at: last.zero + timestamp, moved: 0, movedFrom: 0 }
    // What came before was held up: it belongs where it would have been heard.
    const from = Math.max(last.from, timestamp - this.#settled)
    const movedFrom = last.zero + from
    if (from === last.from) last.zero = zero
    else this.#push({ from, zero })
    return { at: zero + timestamp, moved: early, movedFrom }
  }

  /** Where the sound of that timestamp stands; undefined: nothing came yet. */
  at(timestamp: number): number | undefined {
    const stretch = this.#stretches.findLast(({ from }) => from <= timestamp) ?? this.#stretches[0]
    return stretch && stretch.zero + timestamp
  }

  #push(stretch: Stretch): void {
    this.#stretches.push(stretch)
    if (this.#stretches.length > MAX_STRETCHES) this.#stretches.shift()
  }
}
