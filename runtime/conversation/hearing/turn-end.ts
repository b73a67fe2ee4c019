import type { llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LocalModels } from '../providers/models.ts'
import type { TurnSilence } from './endpointing.ts'
import type { InboundAudio } from './inbound-audio.ts'

const PREDICTION_TIMEOUT_MS = 400
/** Taken when the model fails or is late. */
const UNSURE = 0.3

/** What of the caller's words is still to come. */
export interface WordsOnTheWay {
  /** Resolves when none are; undefined: none are now. */
  settled(): Promise<void> | undefined
  /** Their recogniser says itself when a turn is over. */
  readonly endsTurns: boolean
}

export interface TurnEndOptions {
  inbound: InboundAudio
  models: LocalModels
  clock: Clock
  silence: TurnSilence
  words: WordsOnTheWay
  onError: (error: unknown) => void
}

/**
 * Waits for the end of the caller's turn. The model listens at the first pause of 96 ms, so that its answer is there when the
 * silence is long enough.
 */
export class TurnEnd {
  readonly model = 'turn-detector-v1-mini'
  readonly provider = 'patchbay'
  readonly #inbound: InboundAudio
  readonly #models: LocalModels
  readonly #clock: Clock
  readonly #silence: TurnSilence
  readonly #words: WordsOnTheWay
  readonly #onError: (error: unknown) => void
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Where the caller's present or last stretch of speech began in their audio, and when its last sound arrived. */
  #speechStartMs = 0
  #speechEndAtMs: number | undefined
  /** The recogniser said that the turn is over. */
  #isOver = false
  #prediction: Promise<number> | undefined
  /** Predictions made by the model, for metrics and tests. */
  predictions = 0

  constructor({ inbound, models, clock, silence, words, onError }: TurnEndOptions) {
    this.#inbound = inbound
    this.#models = models
    this.#clock = clock
    this.#silence = silence
    this.#words = words
    this.#onError = onError
  }

  /** The caller paused: begin to think, unless the recogniser does. */
  paused(): void {
    if (!this.#words.endsTurns) this.#prediction = this.#predict()
  }

  /** The caller speaks (again): what was thought of the last pause is void. */
  speechStarted(startMs: number): void {
    this.#speechStartMs = startMs
    this.#prediction = undefined
    this.#isOver = false
  }

  /** The caller is silent. `endAtMs`: when the last sound arrived, in monotonic milliseconds. */
  speechEnded(endAtMs: number): void {
    this.#speechEndAtMs = endAtMs
  }

  /** The recogniser says that the turn is over whose last words are of the sound up to `endMs`. */
  turnEnded(endMs: number): void {
    this.#isOver = endMs > this.#speechStartMs
  }

  async supportsLanguage(): Promise<boolean> {
    return true
  }

  /** The delay is kept here; the session's own two-step delay is never taken. */
  async unlikelyThreshold(): Promise<number> {
    return 0
  }

  /** Resolves with 1 once the silence has lasted as long as it must; new speech makes the session drop the answer. */
  async predictEndOfTurn(chatCtx: llm.ChatContext): Promise<number> {
    const last = chatCtx.items.at(-1)
    const text = last?.type === 'message' && last.role === 'user' ? (last.textContent ?? '') : ''
    // Answer only after all received audio was processed.
    await this.#inbound.caughtUp()
    const silenceMs = this.#isOver ? this.#silence(1, '') : this.#silence(await this.#opinion(), text)
    await this.#sleep((this.#speechEndAtMs ?? this.#clock.monotonicMs()) + silenceMs - this.#clock.monotonicMs())
    // On the words that are known a turn ends only when none of later speech are on their way.
    for (let owed = this.#words.settled(); owed !== undefined; owed = this.#words.settled()) await owed
    return 1
  }

  #opinion(): Promise<number> {
    this.#prediction ??= this.#predict()
    return this.#prediction
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  async #predict(): Promise<number> {
    this.predictions++
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<number>((resolve) => {
      timer = setTimeout(() => resolve(UNSURE), PREDICTION_TIMEOUT_MS)
    })
    try {
      return await Promise.race([this.#models.endOfTurn(this.#inbound.recent()), late])
    } catch (error) {
      this.#onError(error)
      return UNSURE
    } finally {
      clearTimeout(timer)
    }
  }

  #sleep(delayMs: number): Promise<void> {
    if (delayMs <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(
        boundary('call', () => {
          this.#timers.delete(timer)
          resolve()
        }),
        delayMs,
      )
      this.#timers.add(timer)
    })
  }
}
