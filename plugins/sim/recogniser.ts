import { FeatureExtractor, type FrameFeatures } from './features.ts'
import { type Hit, Matcher } from './matcher.ts'
import { LIVE_HOP_MS, type Template, weightOf } from './template.ts'

export type RecogniserEvent =
  | { type: 'start'; atMs: number }
  /** The words heard so far. */
  | { type: 'interim'; text: string; language: string; startMs: number; endMs: number; confidence: number }
  /** An utterance of the vocabulary that is over. */
  | { type: 'final'; text: string; language: string; startMs: number; endMs: number; confidence: number }
  /** Silence again; `recognised` is false when what was heard is nothing the vocabulary holds. */
  | { type: 'end'; atMs: number; recognised: boolean }

interface RecogniserOptions {
  /** Silence after which an utterance is over. */
  endSilenceMs: number
}

/** The part of what was heard that must belong to recognised utterances. */
const MIN_EXPLAINED = 0.85
/** Loud frames that count as speech rather than as a click. */
const MIN_SPEECH_FRAMES = 4
const MIN_INTERIM_GAP_FRAMES = 5
const MAX_HITS = 64
/** An utterance that never ends is decided after this long. */
const MAX_SEGMENT_FRAMES = 20_000 / LIVE_HOP_MS
/** Quietest power that can be speech: about -67 dB of full scale. */
const MIN_POWER = 2e-7
/** Speech stands out of the background by this power ratio. */
const ABOVE_NOISE = 10
/** Loudest background that is believed of the first sound, -54 dB: the caller may speak at once. */
const FIRST_NOISE = 4e-6
/** How fast the estimate of the background follows a rising one: 4 dB/s. */
const NOISE_RISE = 1.02
/** How fast the loudness of a speaker is forgotten: half in 5 s. */
const PEAK_DECAY = 0.9972

/** Recognises utterances of a closed vocabulary in a stream of audio. Pure: time is counted in samples. */
export class Recogniser {
  readonly #features: FeatureExtractor
  readonly #endSilenceFrames: number
  #matchers: Matcher[] = []
  #frame = 0
  #noise = FIRST_NOISE
  #peak = 0
  #speaking = false
  #startFrame = 0
  #lastLoud = 0
  #loudFrames = 0
  /** Power of each frame since #startFrame. */
  #powers: number[] = []
  #hits: Hit[] = []
  #interim = ''
  #interimFrame = 0

  constructor(sampleRateHz: number, options: RecogniserOptions) {
    this.#features = new FeatureExtractor(sampleRateHz, LIVE_HOP_MS)
    this.#endSilenceFrames = Math.max(1, Math.round(options.endSilenceMs / LIVE_HOP_MS))
  }

  /** Takes the vocabulary's templates; what is being said is then measured against them from its next frame on. */
  use(templates: readonly Template[]): void {
    this.#matchers = Matcher.forAll(templates)
  }

  /** Takes mono 16-bit samples at the recogniser's rate. */
  push(samples: Int16Array, emit: (event: RecogniserEvent) => void): void {
    this.#features.push(samples, (features) => this.#step(features, emit))
  }

  /** Decides at once about what was heard so far. */
  flush(emit: (event: RecogniserEvent) => void): void {
    if (this.#speaking) this.#finish(emit)
  }

  #step(features: FrameFeatures, emit: (event: RecogniserEvent) => void): void {
    const frame = this.#frame++
    const weight = this.#weigh(features.power)
    if (weight > 0) {
      this.#lastLoud = frame
      if (!this.#speaking) this.#begin(frame)
      this.#loudFrames++
      if (this.#loudFrames === MIN_SPEECH_FRAMES) emit({ type: 'start', atMs: this.#startFrame * LIVE_HOP_MS })
    }
    if (!this.#speaking) return
    this.#powers.push(features.power)
    for (const matcher of this.#matchers) {
      const hit = matcher.push(features, weight, frame)
      if (hit) this.#remember(hit)
    }
    const silence = frame - this.#lastLoud
    if (silence >= this.#endSilenceFrames && !this.#matchers.some((matcher) => matcher.pausing(silence)))
      this.#finish(emit)
    else if (frame - this.#startFrame >= MAX_SEGMENT_FRAMES) this.#finish(emit)
    else if (weight > 0) this.#hint(frame, emit)
  }

  /** How loud a frame is for this speaker over this background: 0 silent, 1 loud. */
  #weigh(power: number): number {
    this.#noise = power < this.#noise ? Math.max(power, MIN_POWER / ABOVE_NOISE) : this.#noise * NOISE_RISE
    this.#peak = Math.max(power, this.#peak * PEAK_DECAY)
    return power < Math.max(MIN_POWER, this.#noise * ABOVE_NOISE) ? 0 : weightOf(power, this.#peak)
  }

  #begin(frame: number): void {
    this.#speaking = true
    this.#startFrame = frame
    this.#loudFrames = 0
    this.#powers = []
    this.#hits = []
    this.#interim = ''
    for (const matcher of this.#matchers) matcher.reset()
  }

  #remember(hit: Hit): void {
    const known = this.#hits.findIndex((other) => other.text === hit.text && other.startFrame === hit.startFrame)
    if (known >= 0) {
      if (hit.score > this.#hits[known]!.score) this.#hits[known] = hit
    } else if (this.#hits.length < MAX_HITS) this.#hits.push(hit)
  }

  /** Tells the words heard so far, when they changed. */
  #hint(frame: number, emit: (event: RecogniserEvent) => void): void {
    if (frame - this.#interimFrame < MIN_INTERIM_GAP_FRAMES) return
    let leading: Hit | undefined
    for (const matcher of this.#matchers) {
      const path = matcher.leading()
      if (path && (!leading || path.score > leading.score)) leading = path
    }
    if (!leading) return
    const before = chain(this.#hits.filter((hit) => hit.endFrame < leading.startFrame))
    const text = [...before.map((hit) => hit.text), leading.text].filter((part) => part !== '').join(' ')
    if (text === '' || text === this.#interim) return
    this.#interim = text
    this.#interimFrame = frame
    const startMs = this.#startFrame * LIVE_HOP_MS
    const { language, confidence } = leading
    emit({ type: 'interim', text, language, startMs, endMs: frame * LIVE_HOP_MS, confidence })
  }

  #finish(emit: (event: RecogniserEvent) => void): void {
    this.#speaking = false
    if (this.#loudFrames < MIN_SPEECH_FRAMES) return
    const heard = chain(this.#hits)
    const span = this.#lastLoud - this.#firstOfVoice() + 1
    const explained = heard.reduce((sum, hit) => sum + hit.endFrame - hit.startFrame + 1, 0)
    const recognised = heard.length > 0 && explained >= MIN_EXPLAINED * span
    if (recognised) {
      for (const { text, language, startFrame, endFrame, confidence } of heard) {
        const [startMs, endMs] = [startFrame * LIVE_HOP_MS, endFrame * LIVE_HOP_MS]
        emit({ type: 'final', text, language, startMs, endMs, confidence })
      }
    }
    emit({ type: 'end', atMs: (this.#lastLoud + 1) * LIVE_HOP_MS, recognised })
  }

  /** The first frame that counts beside the loudest: a background may be let through shortly before the words. */
  #firstOfVoice(): number {
    const peak = this.#powers.reduce((most, power) => Math.max(most, power), 0)
    return this.#startFrame + this.#powers.findIndex((power) => weightOf(power, peak) > 0)
  }
}

/** The best hits that do not overlap, in the order spoken. */
function chain(hits: readonly Hit[]): Hit[] {
  const chosen: Hit[] = []
  for (const hit of [...hits].sort((a, b) => b.score - a.score)) {
    if (chosen.every((other) => hit.endFrame <= other.startFrame || hit.startFrame >= other.endFrame)) chosen.push(hit)
  }
  return chosen.sort((a, b) => a.startFrame - b.startFrame)
}
