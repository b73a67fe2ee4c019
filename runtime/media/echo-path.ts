import { BANDS, FLOOR_DB } from './bands.ts'

/** A telephone's echo is back within this, the way there and back through the network included. */
export const MAX_LAG = 45
/** Frames that are compared at once: 0.8 s. */
const WINDOW = 40
/** Frames kept of either side. */
const KEPT = 128
const COMPARE_EVERY = 3
/** Once it is known whether there is an echo, fewer comparisons do; of a known one only these neighbours, and seldom all. */
const COMPARE_KNOWN_EVERY = 6
const NEAR_LAGS = 2
const COMPARE_ALL_EVERY = 4
/** A frame of the agent counts as sound above this, and one of the line. */
const SENT_DB = -48
const HEARD_DB = -64
/** Likeness of two patterns of sound, 0 to 1: an echo's is 0.7 to 1, that of people who speak at the same time below 0.66. */
const ECHO_LIKENESS = 0.71
/** Of the echo that is known already, with the caller's own voice in it. */
const SAME_ECHO_LIKENESS = 0.6
const NO_LIKENESS = 0.5
const MIN_SENT_FRAMES = 10
const MIN_BOTH_FRAMES = 15
/** Of a sound that is over, and was short. */
const SHORT_ECHO_LIKENESS = 0.66
const MIN_SHORT_FRAMES = 8
/** So many frames of the agent that nothing comes back of: there is no echo to speak of. */
const UNANSWERED_FRAMES = 35

/** Where the agent's own voice comes back from. */
export interface EchoPath {
  /** Frames of 20 ms after it was sent. */
  readonly lag: number
  /** What is added to each band on the way, in dB. */
  readonly gainsDb: Float32Array
}

/**
 * Learns whether the agent's voice comes back on the line, how late and how loud: the pattern of what was sent, over time and
 * bands, is looked for in what is heard. Pure. Slots count frames of 20 ms.
 */
export class EchoPathFinder {
  readonly #sent = new Frames()
  readonly #heard = new Frames()
  #untilComparison = COMPARE_EVERY
  #comparisons = 0
  #unanswered = 0
  #known = false
  path: EchoPath | undefined

  /** It is known whether there is an echo. */
  get known(): boolean {
    return this.#known
  }

  sent(slot: number, levels: Float32Array): void {
    this.#sent.put(slot, levels)
  }

  /** What was sent in a slot; undefined: nothing. */
  sentIn(slot: number): Float32Array | undefined {
    return this.#sent.at(slot)
  }

  /** Whether there was any sound on the line in a slot. */
  soundsIn(slot: number): boolean {
    return this.#heard.loudest(slot) > HEARD_DB
  }

  heard(slot: number, levels: Float32Array): void {
    this.#heard.put(slot, levels)
    const sounds = this.soundsIn(slot)
    if (!this.#known && !sounds && this.#sent.loudest(slot) > SENT_DB && ++this.#unanswered >= UNANSWERED_FRAMES) {
      this.#known = true
    }
    if (--this.#untilComparison > 0 || !sounds) return
    this.#untilComparison = this.#known ? COMPARE_KNOWN_EVERY : COMPARE_EVERY
    this.#compare(slot)
  }

  #compare(slot: number): void {
    const near = this.path !== undefined && this.#comparisons++ % COMPARE_ALL_EVERY !== 0
    const from = near ? Math.max(0, this.path!.lag - NEAR_LAGS) : 0
    const to = near ? this.path!.lag + NEAR_LAGS : MAX_LAG
    let best: { lag: number; likeness: number } | undefined
    for (let lag = from; lag <= to; lag++) {
      const likeness = this.#likeness(slot - WINDOW + 1, slot, lag, MIN_SENT_FRAMES, MIN_BOTH_FRAMES)
      if (likeness !== undefined && (best === undefined || likeness > best.likeness)) best = { lag, likeness }
    }
    if (best === undefined) return
    const same = this.path !== undefined && Math.abs(this.path.lag - best.lag) <= NEAR_LAGS
    if (best.likeness >= (same ? SAME_ECHO_LIKENESS : ECHO_LIKENESS)) {
      this.#learn(slot, best.lag)
      this.#known = true
    } else if (best.likeness < NO_LIKENESS) this.#known = true
  }

  /** Whether a sound that is over may have been the agent's. */
  resembles(fromSlot: number, toSlot: number): boolean {
    for (let lag = 0; lag <= MAX_LAG; lag++) {
      const likeness = this.#likeness(fromSlot, toSlot, lag, MIN_SHORT_FRAMES, MIN_SHORT_FRAMES)
      if (likeness !== undefined && likeness >= SHORT_ECHO_LIKENESS) return true
    }
    return false
  }

  /** Correlation over bands and time, each band's mean taken away. Undefined: too little was sent or heard. */
  #likeness(from: number, to: number, lag: number, minSent: number, minBoth: number): number | undefined {
    let loud = 0
    let both = 0
    for (let at = from; at <= to; at++) {
      if (this.#heard.at(at) === undefined || this.#sent.loudest(at - lag) <= SENT_DB) continue
      loud++
      if (this.#heard.loudest(at) > HEARD_DB) both++
    }
    if (loud < minSent || both < minBoth) return undefined
    const x = new Float64Array(BANDS)
    const y = new Float64Array(BANDS)
    let count = 0
    let xy = 0
    let xx = 0
    let yy = 0
    for (let at = from; at <= to; at++) {
      const heard = this.#heard.at(at)
      const sent = this.#sent.at(at - lag)
      // That both begin or end together is no likeness: only sound is compared.
      if (heard === undefined || sent === undefined || this.#sent.loudest(at - lag) <= SENT_DB) continue
      count++
      for (let band = 0; band < BANDS; band++) {
        const a = sent[band]! - FLOOR_DB
        const b = heard[band]! - FLOOR_DB
        x[band]! += a
        y[band]! += b
        xy += a * b
        xx += a * a
        yy += b * b
      }
    }
    for (let band = 0; band < BANDS; band++) {
      xy -= (x[band]! * y[band]!) / count
      xx -= x[band]! ** 2 / count
      yy -= y[band]! ** 2 / count
    }
    return xy / Math.sqrt(xx * yy + 1e-9)
  }

  /** The median, of the frames in which a band was sent loudest, of what became of it. */
  #learn(slot: number, lag: number): void {
    const gainsDb = new Float32Array(BANDS)
    const before = this.path
    const near = before !== undefined && Math.abs(before.lag - lag) <= 2
    for (let band = 0; band < BANDS; band++) {
      let peak = FLOOR_DB
      for (let at = slot - WINDOW + 1; at <= slot; at++)
        peak = Math.max(peak, this.#sent.at(at - lag)?.[band] ?? FLOOR_DB)
      const gains: number[] = []
      for (let at = slot - WINDOW + 1; at <= slot; at++) {
        const x = this.#sent.at(at - lag)?.[band]
        const y = this.#heard.at(at)?.[band]
        if (x !== undefined && y !== undefined && x > Math.max(SENT_DB, peak - 12)) gains.push(y - x)
      }
      gains.sort((a, b) => a - b)
      const gain = gains[gains.length >> 1] ?? before?.gainsDb[band] ?? -10
      gainsDb[band] = near ? (gain + before.gainsDb[band]!) / 2 : gain
    }
    this.path = { lag, gainsDb }
  }
}

/** The levels of the last frames by slot. */
class Frames {
  readonly #levels: (Float32Array | undefined)[] = new Array(KEPT)
  readonly #slots = new Float64Array(KEPT).fill(-1)
  readonly #loudest = new Float32Array(KEPT)

  put(slot: number, levels: Float32Array): void {
    const at = slot % KEPT
    this.#levels[at] = levels
    this.#slots[at] = slot
    this.#loudest[at] = Math.max(...levels)
  }

  at(slot: number): Float32Array | undefined {
    return this.#slots[slot % KEPT] === slot ? this.#levels[slot % KEPT] : undefined
  }

  /** The level of the loudest band; that of silence where there is no frame. */
  loudest(slot: number): number {
    return this.#slots[slot % KEPT] === slot ? this.#loudest[slot % KEPT]! : FLOOR_DB
  }
}
