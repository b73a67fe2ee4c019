import { BANDS, type FrameFeatures, similarity } from './features.ts'
import { LIVE_HOP_MS, TEMPLATE_HOP_MS, type Template } from './template.ts'

/** Where an utterance was heard in the audio. Frames count LIVE_HOP_MS steps from the start of the audio. */
export interface Hit {
  text: string
  /** Language tag. */
  language: string
  startFrame: number
  endFrame: number
  /** Grows with length and likeness: the better of two hits in the same place has more. */
  score: number
  /** Mean likeness, 0–1. */
  confidence: number
}

/** A frame must be more alike than this to speak for a path. */
const THRESHOLD = 0.6
/** The mean likeness a whole utterance needs. */
const MIN_CONFIDENCE = 0.92
/** The likeness of the worst tenth of a second: one wrong or lost word is enough to miss it. */
const MIN_LOCAL = 0.68
const LOCAL_MEMORY = 0.8
/** What may be missing at either end of an utterance, in loud template frames (40 ms). */
const EDGE_WEIGHT = 4
/** What it costs to advance by 0, 1, 2, … template frames in a live frame; two are normal. */
const STEP_COST: readonly number[] = [0.25, 0.05, 0, 0.05, 0.25]
const LONGEST_STEP = STEP_COST.length - 1
/** Loud live frames (0.2 s) before a path says anything. */
const MIN_HEARD_WEIGHT = 10
const FRAMES_PER_LIVE_FRAME = LIVE_HOP_MS / TEMPLATE_HOP_MS
/** How much longer than in the template a pause may be, in live frames. */
const PAUSE_SLACK_FRAMES = 6
/** A template frame that counts less may be heard as silence. */
const FAINT = 0.3
const NONE = -2
const START = -1

/** What is known of the path to each template frame. */
const COLUMNS = 6
const VALUE_BYTES = 4

/**
 * Follows one template through arriving audio: local alignment (Smith and Waterman 1981) of its frames with the live
 * ones, in time order, with little freedom in pace. A path that no longer pays is dropped, so audio that is nothing
 * like the template costs next to nothing.
 */
export class Matcher {
  readonly template: Template
  /** Of the best path that ends at each template frame: sum of scores (≤ 0: none), first live frame, … */
  readonly #score: Float32Array
  readonly #start: Int32Array
  /** … recent likeness, its lowest value so far, sums of likeness and of its weights. */
  readonly #local: Float32Array
  readonly #lowest: Float32Array
  readonly #likeness: Float32Array
  readonly #weight: Float32Array
  /** A path may start before #startEnd, and is complete from #endStart on. */
  readonly #startEnd: number
  readonly #endStart: number
  /** The last template frame a path reaches; -1: none. */
  #reach = -1

  /** One for each; they share a buffer: collecting garbage takes as long as there are buffers, and each call has its matchers. */
  static forAll(templates: readonly Template[]): Matcher[] {
    const memory = new ArrayBuffer(templates.reduce((sum, { length }) => sum + COLUMNS * length * VALUE_BYTES, 0))
    let at = 0
    return templates.map((template) => {
      const matcher = new Matcher(template, memory, at)
      at += COLUMNS * template.length * VALUE_BYTES
      return matcher
    })
  }

  private constructor(template: Template, memory: ArrayBuffer, at: number) {
    this.template = template
    const n = template.length
    const { progress } = template
    this.#startEnd = progress.findIndex((weight) => weight > EDGE_WEIGHT)
    this.#endStart = progress.findIndex((weight) => weight >= progress[n - 1]! - EDGE_WEIGHT)
    const column = (index: number): [ArrayBuffer, number, number] => [memory, at + index * n * VALUE_BYTES, n]
    this.#score = new Float32Array(...column(0))
    this.#start = new Int32Array(...column(1))
    this.#local = new Float32Array(...column(2))
    this.#lowest = new Float32Array(...column(3))
    this.#likeness = new Float32Array(...column(4))
    this.#weight = new Float32Array(...column(5))
  }

  reset(): void {
    this.#score.fill(0)
    this.#reach = -1
  }

  /** Takes the live frame number `frame`; `weight` is its loudness, 0 for silence. Returns a complete hit, if any. */
  push(features: FrameFeatures, weight: number, frame: number): Hit | undefined {
    const { length } = this.template
    let reach = -1
    let best: Hit | undefined
    for (let p = Math.min(length - 1, Math.max(this.#reach + LONGEST_STEP, this.#startEnd)); p >= 0; p--) {
      const from = this.#bestPredecessor(p, weight > 0)
      if (from === NONE) {
        this.#score[p] = 0
        continue
      }
      if (!this.#extend(p, from, features, weight, frame)) continue
      if (reach < 0) reach = p
      if (p >= this.#endStart) best = this.#complete(p, frame, best)
    }
    this.#reach = reach
    return best
  }

  /** The words heard so far on the best path: what an interim result shows. */
  leading(): Hit | undefined {
    const p = this.#bestFrame()
    if (p < 0 || this.#weight[p]! < MIN_HEARD_WEIGHT || !this.#isGood(p)) return undefined
    const text = this.template.wordEnds.findLast((word) => word.frame <= p)?.text ?? ''
    return this.#hit(text, p, 0)
  }

  /** Whether a silence of so many live frames is a pause inside the utterance, by the best path: more of it follows. */
  pausing(silentFrames: number): boolean {
    const { weights, progress, length } = this.template
    const p = this.#bestFrame()
    if (p < 0 || weights[p]! >= FAINT || this.#weight[p]! < MIN_HEARD_WEIGHT || !this.#isGood(p)) return false
    if (progress[length - 1]! - progress[p]! < MIN_HEARD_WEIGHT) return false
    let first = p
    let last = p
    while (first > 0 && weights[first - 1]! < FAINT) first--
    while (last < length - 1 && weights[last + 1]! < FAINT) last++
    return silentFrames <= (last - first + 1) / FRAMES_PER_LIVE_FRAME + PAUSE_SLACK_FRAMES
  }

  /** The template frame the best path has come to; -1: there is no path. */
  #bestFrame(): number {
    let best = -1
    for (let p = 0; p <= this.#reach; p++) if (this.#score[p]! > (best < 0 ? 0 : this.#score[best]!)) best = p
    return best
  }

  #isGood(p: number): boolean {
    return this.#likeness[p]! >= MIN_CONFIDENCE * this.#weight[p]! && this.#lowest[p]! >= MIN_LOCAL
  }

  #hit(text: string, p: number, frame: number): Hit {
    return {
      text,
      language: this.template.language,
      startFrame: this.#start[p]!,
      endFrame: frame,
      score: this.#score[p]!,
      confidence: this.#likeness[p]! / this.#weight[p]!,
    }
  }

  /** The template frame the best path to `p` comes from; START opens a new one, only where something is audible. */
  #bestPredecessor(p: number, audible: boolean): number {
    let from = p < this.#startEnd && audible ? START : NONE
    let best = 0
    for (let step = 0; step <= LONGEST_STEP && step <= p; step++) {
      const score = this.#score[p - step]! - STEP_COST[step]!
      if (score > best) {
        best = score
        from = p - step
      }
    }
    return from
  }

  #extend(p: number, from: number, features: FrameFeatures, weight: number, frame: number): boolean {
    const expected = this.template.weights[p]!
    const counts = Math.max(expected, weight)
    const both = Math.min(expected, weight) > 0
    const alike = both ? Math.max(0, similarity(this.template.shapes, p * BANDS, features.shape)) : 0
    const opened = from === START
    const cost = opened ? 0 : STEP_COST[p - from]!
    const score = (opened ? 0 : this.#score[from]!) - cost + counts * (alike - THRESHOLD)
    const local = opened ? 1 : this.#local[from]!
    const memory = 1 - (1 - LOCAL_MEMORY) * counts
    const now = local * memory + alike * (1 - memory)
    if (score <= 0 || now < MIN_LOCAL / 2) {
      this.#score[p] = 0
      return false
    }
    this.#score[p] = score
    this.#start[p] = opened ? frame : this.#start[from]!
    this.#local[p] = now
    this.#lowest[p] = Math.min(opened ? 1 : this.#lowest[from]!, now)
    this.#likeness[p] = (opened ? 0 : this.#likeness[from]!) + counts * alike
    this.#weight[p] = (opened ? 0 : this.#weight[from]!) + counts
    return true
  }

  #complete(p: number, frame: number, best: Hit | undefined): Hit | undefined {
    if (best && best.score >= this.#score[p]!) return best
    return this.#isGood(p) ? this.#hit(this.template.text, p, frame) : best
  }
}
