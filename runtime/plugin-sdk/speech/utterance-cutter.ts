/** Above this a window of sound is taken for speech, below the other for its end. */
const VOICE = 0.5
const SILENCE = 0.35
const START_WINDOWS = 2
/** Kept in front of the first loud window: a word's first consonant is quiet. */
const LEAD_MS = 300
/** An utterance that never ends is cut into parts of this length. */
const MAX_MS = 25_000

interface CutterOptions {
  windowMs: number
  /** Silence that ends an utterance. */
  pauseMs?: number
}

export type Cut =
  | { type: 'start'; startS: number }
  /** `utterance`: its windows, what came before its first loud one included. */
  | { type: 'end'; utterance: readonly Int16Array[]; startS: number }

/** Cuts a stream of windows of sound into utterances, by how likely each holds a voice. Pure. */
export class UtteranceCutter {
  readonly #windowS: number
  readonly #leadWindows: number
  readonly #endWindows: number
  readonly #maxWindows: number
  readonly #lead: Int16Array[] = []
  #utterance: Int16Array[] = []
  #loud = 0
  #quiet = 0
  #window = 0
  #startWindow = 0

  constructor({ windowMs, pauseMs = 400 }: CutterOptions) {
    this.#windowS = windowMs / 1000
    this.#leadWindows = Math.ceil(LEAD_MS / windowMs)
    this.#endWindows = Math.ceil(pauseMs / windowMs)
    this.#maxWindows = Math.ceil(MAX_MS / windowMs)
  }

  /** Takes the next window, which is kept, and how likely it holds a voice, 0 to 1. */
  push(samples: Int16Array, probability: number): Cut | undefined {
    this.#window++
    if (this.#utterance.length > 0) {
      this.#utterance.push(samples)
      this.#quiet = probability < SILENCE ? this.#quiet + 1 : 0
      const isOver = this.#quiet >= this.#endWindows || this.#utterance.length >= this.#maxWindows
      return isOver ? this.end() : undefined
    }
    this.#lead.push(samples)
    if (this.#lead.length > this.#leadWindows) this.#lead.shift()
    this.#loud = probability >= VOICE ? this.#loud + 1 : 0
    if (this.#loud < START_WINDOWS) return undefined
    this.#utterance = this.#lead.splice(0)
    this.#startWindow = this.#window - this.#utterance.length
    this.#quiet = 0
    return { type: 'start', startS: this.#startWindow * this.#windowS }
  }

  /** The utterance that is being spoken, where there is one: nothing comes any more. */
  end(): Extract<Cut, { type: 'end' }> | undefined {
    if (this.#utterance.length === 0) return undefined
    const utterance = this.#utterance
    this.#utterance = []
    this.#loud = 0
    return { type: 'end', utterance, startS: this.#startWindow * this.#windowS }
  }
}
