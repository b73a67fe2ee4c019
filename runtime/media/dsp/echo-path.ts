import { BandFrames } from './band-frames.ts'
import { BANDS, FLOOR_DB, type Levels } from './bands.ts'
import { type EchoMatch, HEARD_DB, matchEcho, SENT_DB } from './echo-match.ts'

/** A telephone's echo is back within this, the way there and back through the network included, and a browser's. */
export const MAX_LAG = 45
/** Frames that are compared at once: 0.8 s. */
const WINDOW = 40
const COMPARE_EVERY = 3
/** Once it is known whether there is an echo, fewer comparisons do; of a known one only these neighbours, and seldom all. */
const COMPARE_KNOWN_EVERY = 6
const NEAR_LAGS = 8
const COMPARE_ALL_EVERY = 4
/**
 * Likeness of two patterns of sound: an echo's is 0.7 to 1 as a rule, that of people who speak at the same time below 0.7, and twice in
 * a row at the same delay below this.
 */
const ECHO_LIKENESS = 0.76
/** Of an echo whose delay stands still. */
const STEADY_ECHO_LIKENESS = 0.68
/** Of the one that is known, a little sooner or later. */
const DRIFTING_ECHO_LIKENESS = 0.7
/** Twice in a row, of the echo that is known already and comes at another delay now: the caller's voice over it may look like that. */
const MOVED_ECHO_LIKENESS = 0.8
const SAME_LAGS = 2
/** A player that draws sound out moves the delay by so much from one comparison to the next. */
const DRIFT_LAGS = 1
const STEADY_LAGS = 1
/** Of the echo that is known already, with the caller's own voice in it. */
const SAME_ECHO_LIKENESS = 0.62
/** Of sound that holds no echo. */
const NO_LIKENESS = 0.58
const MIN_SENT_FRAMES = 10
const MIN_BOTH_FRAMES = 15
/** A way that was seen so seldom, and not in so many comparisons since, was none. */
const SURE_SIGHTINGS = 5
const MOST_MISSED = 6
/** Of a sound that is over, and was short; and of one that goes on. */
const SHORT_ECHO_LIKENESS = 0.66
const LONG_ECHO_LIKENESS = 0.6
const MIN_SHORT_FRAMES = 8
/** So many more frames of the agent of which nothing came back at a delay than of which something did: there is no echo so late. */
const UNANSWERED_FRAMES = 12
/** And of which nothing comes back by the known way any more: it is gone, or was none. */
const GONE_FRAMES = 25
/** Above what would be heard of it. */
const SURELY_HEARD_DB = 6

/** Where the agent's own voice comes back from. */
interface EchoPath {
  /** Frames of 20 ms after it was sent. */
  readonly lag: number
  /** Within the last 0.8 s it was between these. */
  readonly minLag: number
  readonly maxLag: number
  /** What is added to each band on the way, in dB. */
  readonly gainsDb: Float32Array
}

/**
 * Learns whether the agent's voice comes back on the line, how late and how loud: the pattern of what was sent, over time and
 * bands, is looked for in what is heard. Pure. Slots count frames of 20 ms.
 */
export class EchoPathFinder {
  readonly #sent = new BandFrames()
  readonly #heard = new BandFrames()
  #untilComparison = COMPARE_EVERY
  #comparisons = 0
  /** Comparisons in which the known way was seen, and since then those in which it was not: it may be another one. */
  #sightings = 0
  #missed = 0
  /** By delay. */
  readonly #unanswered = new Uint8Array(MAX_LAG + 1)
  #known = false
  /** The line was silent while the agent spoke. */
  #isClean = false
  #gone = 0
  /** The delay at which the last comparison found an echo. */
  #foundAt: number | undefined
  path: EchoPath | undefined

  /** It is known whether there is an echo. */
  get known(): boolean {
    return this.#known
  }

  sent(slot: number, levels: Levels): void {
    this.#sent.put(slot, levels)
  }

  /** What was sent in a slot; undefined: nothing. */
  sentIn(slot: number): Levels | undefined {
    return this.#sent.at(slot)
  }

  /** Whether there was any sound on the line in a slot. */
  soundsIn(slot: number): boolean {
    return this.#heard.loudest(slot) > HEARD_DB
  }

  heard(slot: number, levels: Levels): void {
    this.#heard.put(slot, levels)
    const sounds = this.soundsIn(slot)
    if (!this.#known && this.#isUnanswered(slot, sounds)) {
      this.#known = true
      this.#isClean = true
    }
    if (this.path !== undefined) this.#check(this.path, slot, sounds)
    if (--this.#untilComparison > 0 || !sounds) return
    this.#untilComparison = this.#known ? COMPARE_KNOWN_EVERY : COMPARE_EVERY
    this.#compare(slot)
  }

  /** The line has no echo: it was silent while the agent spoke. */
  get isClean(): boolean {
    return this.#isClean
  }

  /** No evidence within the time limit. */
  giveUp(): void {
    this.#known = true
  }

  /** There may be an echo after all: it is looked for again. */
  doubt(): void {
    if (this.path !== undefined) return
    this.#known = false
    this.#isClean = false
    this.#unanswered.fill(0)
  }

  /** Whether a sound may have been the agent's: one that is over, or goes on for long. */
  resembles(from: number, to: number, isOver: boolean): boolean {
    const match = matchEcho(this.#sent, this.#heard, {
      from,
      to,
      minLag: 0,
      maxLag: MAX_LAG,
      minSent: MIN_SHORT_FRAMES,
      minBoth: MIN_SHORT_FRAMES,
    })
    return match !== undefined && match.likeness >= (isOver ? SHORT_ECHO_LIKENESS : LONG_ECHO_LIKENESS)
  }

  /** Whether the line was silent long enough after the agent's speech that no echo can follow. */
  #isUnanswered(slot: number, sounds: boolean): boolean {
    let least = UNANSWERED_FRAMES
    for (let lag = 0; lag <= MAX_LAG; lag++) {
      const count = this.#unanswered[lag]!
      if (this.#sent.loudest(slot - lag) > SENT_DB) {
        this.#unanswered[lag] = sounds ? Math.max(0, count - 1) : Math.min(UNANSWERED_FRAMES, count + 1)
      }
      least = Math.min(least, this.#unanswered[lag]!)
    }
    return least === UNANSWERED_FRAMES
  }

  /** An echo path without recent echo is dropped. */
  #check({ minLag, maxLag, gainsDb }: EchoPath, slot: number, sounds: boolean): void {
    let expectedDb = Number.POSITIVE_INFINITY
    for (let lag = minLag; lag <= maxLag; lag++) {
      const sent = this.#sent.at(slot - lag)
      let loudest = FLOOR_DB
      for (let band = 0; band < BANDS; band++) loudest = Math.max(loudest, (sent?.[band] ?? FLOOR_DB) + gainsDb[band]!)
      expectedDb = Math.min(expectedDb, loudest)
    }
    if (expectedDb < HEARD_DB + SURELY_HEARD_DB) return
    this.#gone = sounds ? Math.max(0, this.#gone - 1) : this.#gone + 1
    if (this.#gone < GONE_FRAMES) return
    this.#gone = 0
    this.#forget()
    this.#isClean = true
  }

  #forget(): void {
    this.path = undefined
    this.#foundAt = undefined
    this.#sightings = 0
    this.#missed = 0
  }

  #compare(slot: number): void {
    const { path } = this
    const near = path !== undefined && this.#missed === 0 && this.#comparisons++ % COMPARE_ALL_EVERY !== 0
    const match = matchEcho(this.#sent, this.#heard, {
      from: slot - WINDOW + 1,
      to: slot,
      minLag: near ? Math.max(0, path.lag - NEAR_LAGS) : 0,
      maxLag: near ? Math.min(MAX_LAG, path.lag + NEAR_LAGS) : MAX_LAG,
      minSent: MIN_SENT_FRAMES,
      minBoth: MIN_BOTH_FRAMES,
    })
    if (match === undefined) return
    const lag = match.lagAt(slot)
    const isSame = isNear(path?.lag, lag, DRIFT_LAGS)
    const wasFoundAt = this.#foundAt
    const isSteady = Math.max(...match.lags) - Math.min(...match.lags) <= STEADY_LAGS
    const isFound =
      match.likeness >= (isSteady ? STEADY_ECHO_LIKENESS : isSame ? DRIFTING_ECHO_LIKENESS : ECHO_LIKENESS)
    this.#foundAt = isFound ? lag : undefined
    if (path !== undefined) this.#missed = isSame && match.likeness >= SAME_ECHO_LIKENESS ? 0 : this.#missed + 1
    const isAnew = path === undefined || match.likeness >= MOVED_ECHO_LIKENESS
    if (isFound && (isSame || (isAnew && isNear(wasFoundAt, lag, SAME_LAGS)))) {
      this.#learn(slot, match)
      this.#known = true
      this.#isClean = false
      this.#sightings = isSame ? this.#sightings + 1 : 1
      this.#missed = 0
    } else if (this.#missed > MOST_MISSED && this.#sightings < SURE_SIGHTINGS) {
      this.#forget()
      this.doubt()
    } else if (match.likeness < NO_LIKENESS && this.#isJudged(slot)) this.#known = true
  }

  /** Whether an echo of any delay would be heard by now. */
  #isJudged(slot: number): boolean {
    let loud = 0
    for (let at = slot - WINDOW + 1 - MAX_LAG; at <= slot - MAX_LAG; at++) if (this.#sent.loudest(at) > SENT_DB) loud++
    return loud >= MIN_SENT_FRAMES
  }

  /** The median, of the frames in which a band was sent loudest, of what became of it. */
  #learn(slot: number, { lags, lagAt }: EchoMatch): void {
    const gainsDb = new Float32Array(BANDS)
    const before = this.path
    const lag = lagAt(slot)
    const near = before !== undefined && Math.abs(before.lag - lag) <= SAME_LAGS
    for (let band = 0; band < BANDS; band++) {
      let peak = FLOOR_DB
      for (let at = slot - WINDOW + 1; at <= slot; at++)
        peak = Math.max(peak, this.#sent.at(at - lagAt(at))?.[band] ?? FLOOR_DB)
      const gains: number[] = []
      for (let at = slot - WINDOW + 1; at <= slot; at++) {
        const x = this.#sent.at(at - lagAt(at))?.[band]
        const y = this.#heard.at(at)?.[band]
        if (x !== undefined && y !== undefined && x > Math.max(SENT_DB, peak - 12)) gains.push(y - x)
      }
      gains.sort((a, b) => a - b)
      const gain = gains[gains.length >> 1] ?? before?.gainsDb[band] ?? -10
      gainsDb[band] = near ? (gain + before.gainsDb[band]!) / 2 : gain
    }
    this.path = { lag, minLag: Math.min(...lags), maxLag: Math.max(...lags), gainsDb }
  }
}

const isNear = (a: number | undefined, b: number, by: number): boolean => a !== undefined && Math.abs(a - b) <= by
