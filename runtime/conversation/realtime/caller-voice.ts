import { Resampler } from '../../media/dsp/resample.ts'
import { joinSamples } from '../../media/frame.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'

/** Sent of the sound before a voice. */
const LEAD_IN_MS = 500
/** Kept for it: what tells voices from noise may be seconds behind in a busy process. */
const KEPT_MS = 5_000
/** Sent after a voice ended: its last consonant is quiet. */
const TAIL_MS = 200
/** One turn at most: what is longer is dropped, and its words reach the model as text. */
const MAX_TURN_MS = 60_000
/** What a session takes as sound at all. */
const LEAST_MS = 100

/** Where the caller's sound goes. */
export interface SoundSink {
  sound(samples: Int16Array): void
  /** What was sent last is no turn. */
  forget(): void
  /** The turn is answered otherwise: nor is what of it became an item for an answer that was prepared. */
  forgetTurn(): void
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
  /** Not sent, with the ends of its pieces in the run of the caller's sound. */
  #before: { samples: Int16Array; endMs: number }[] = []
  /** Of the turn that is not committed. */
  #turn: Int16Array[] = []
  #turnMs = 0
  /** Where in it the voice begins that speaks now, or spoke last. */
  #voiceAt = 0
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
    this.#dropAll()
    this.#speaks = false
    this.#tailMs = 0
    this.#before = []
  }

  /** @param endMs its end in the run of the caller's sound */
  hear(samples: Int16Array, endMs: number): void {
    if (this.#isDeaf) return
    const converted = this.#resampler.push(samples).slice()
    const lengthMs = (converted.length * 1000) / this.#rateHz
    if (this.#speaks || this.#tailMs > 0) {
      if (!this.#speaks) this.#tailMs -= lengthMs
      this.#add(converted)
      return
    }
    this.#before.push({ samples: converted, endMs })
    while (this.#before[0]!.endMs <= endMs - KEPT_MS) this.#before.shift()
  }

  /** The caller speaks. @param fromMs since then, in the run of their sound */
  speechStarted(fromMs: number): void {
    if (this.#isDeaf) return
    if (!this.#speaks) this.#voiceAt = this.#turn.length
    this.#speaks = true
    const leadIn = this.#before.splice(0).filter(({ endMs }) => endMs > fromMs - LEAD_IN_MS)
    if (leadIn.length > 0) this.#add(joinSamples(leadIn.map(({ samples }) => samples)))
  }

  speechEnded(): void {
    if (this.#isDeaf || !this.#speaks) return
    this.#tailMs = TAIL_MS
    this.#speaks = false
  }

  /** What was said is noise; a voice that speaks now may be none. */
  drop(): void {
    const running = this.#speaks ? this.#turn.slice(this.#voiceAt) : []
    this.#dropAll()
    for (const samples of running) this.#add(samples)
  }

  /** The turn is over, and answered otherwise. */
  turnTaken(): void {
    this.drop()
    this.#sink?.forgetTurn()
  }

  #dropAll(): void {
    if (this.#turnMs === 0) return
    this.committed()
    this.#sink?.forget()
  }

  /** What was said became an item of the session. */
  committed(): void {
    this.#turn = []
    this.#turnMs = 0
    this.#voiceAt = 0
  }

  /** From now on it goes there, with what was said and not answered. */
  goTo(sink: SoundSink | undefined): void {
    this.#sink = sink
    for (const samples of this.#turn) sink?.sound(samples)
  }

  #add(samples: Int16Array): void {
    this.#turnMs += (samples.length * 1000) / this.#rateHz
    if (this.#turnMs > MAX_TURN_MS) this.#dropAll()
    this.#turn.push(samples)
    this.#sink?.sound(samples)
  }
}
