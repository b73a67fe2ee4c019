import { Resampler } from '../../media/dsp/resample.ts'
import { joinSamples } from '../../media/frame.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'

/** Kept of the sound before a voice was recognised as one. */
const LEAD_IN_MS = 500
/** Sent after a voice ended: its last consonant is quiet. */
const TAIL_MS = 200
/** One turn at most: what is longer is dropped, and its words reach the model as text. */
const MAX_TURN_MS = 60_000
/** What a session takes as sound at all. */
const LEAST_MS = 100

/** Where the caller's sound goes. */
export interface SoundSink {
  sound(samples: Int16Array): void
  forget(): void
}

/**
 * The caller's voice on its way to a speech-to-speech model: while they speak it is sent as it comes, and silence, music on hold and
 * beeps that no recogniser takes for words are not. What no answer was asked for yet is kept, so that another session
 * can be given it.
 */
export class CallerVoice {
  readonly #rateHz: number
  readonly #resampler: Resampler
  #sink: SoundSink | undefined
  #leadIn: Int16Array[] = []
  #leadInMs = 0
  /** Of the turn that is not committed. */
  #turn: Int16Array[] = []
  #turnMs = 0
  #speaks = false
  #tailMs = 0
  #isDeaf = false

  constructor(rateHz: number) {
    this.#rateHz = rateHz
    this.#resampler = new Resampler(MODEL_RATE_HZ, rateHz)
  }

  /** There is a voice that no answer was asked for. */
  get hasSpoken(): boolean {
    return this.#turnMs >= LEAST_MS
  }

  /** Off: nothing of what the caller says is the model's to hear. */
  listen(on: boolean): void {
    this.#isDeaf = !on
    if (on) return
    this.drop()
    this.#speaks = false
    this.#tailMs = 0
    this.#leadIn = []
    this.#leadInMs = 0
  }

  hear(samples: Int16Array): void {
    if (this.#isDeaf) return
    const converted = this.#resampler.push(samples).slice()
    const lengthMs = (converted.length * 1000) / this.#rateHz
    if (this.#speaks || this.#tailMs > 0) {
      if (!this.#speaks) this.#tailMs -= lengthMs
      this.#add(converted)
      return
    }
    this.#leadIn.push(converted)
    this.#leadInMs += lengthMs
    while (this.#leadInMs > LEAD_IN_MS) this.#leadInMs -= (this.#leadIn.shift()!.length * 1000) / this.#rateHz
  }

  /** The caller's voice begins or ends. */
  voice(speaks: boolean): void {
    if (this.#isDeaf) return
    if (this.#speaks && !speaks) this.#tailMs = TAIL_MS
    this.#speaks = speaks
    if (!speaks) return
    const before = joinSamples(this.#leadIn.splice(0))
    this.#leadInMs = 0
    if (before.length > 0) this.#add(before)
  }

  /** What was said is no turn: noise, or words that are answered otherwise. */
  drop(): void {
    if (this.#turnMs === 0) return
    this.committed()
    this.#sink?.forget()
  }

  /** What was said became an item of the session. */
  committed(): void {
    this.#turn = []
    this.#turnMs = 0
  }

  /** From now on it goes there, with what was said and not answered. */
  goTo(sink: SoundSink | undefined): void {
    this.#sink = sink
    for (const samples of this.#turn) sink?.sound(samples)
  }

  #add(samples: Int16Array): void {
    this.#turnMs += (samples.length * 1000) / this.#rateHz
    if (this.#turnMs > MAX_TURN_MS) this.drop()
    this.#turn.push(samples)
    this.#sink?.sound(samples)
  }
}
