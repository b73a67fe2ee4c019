import type { llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LocalModels } from '../providers/models.ts'
import type { TurnSilence } from './endpointing.ts'
import type { InboundAudio } from './inbound-audio.ts'

const PREDICTION_TIMEOUT_MS = 400
/** Taken when the model fails or is late. */
const UNSURE = 0.3

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
  readonly #onError: (error: unknown) => void
  readonly #timers = new Set<NodeJS.Timeout>()
  /** When the last sound of the caller arrived. */
  #speechEndMs: number | undefined
  #prediction: Promise<number> | undefined
  /** Predictions made by the model, for metrics and tests. */
  predictions = 0

  constructor(
    inbound: InboundAudio,
    models: LocalModels,
    clock: Clock,
    silence: TurnSilence,
    onError: (error: unknown) => void,
  ) {
    this.#inbound = inbound
    this.#models = models
    this.#clock = clock
    this.#silence = silence
    this.#onError = onError
  }

  /** The caller paused: begin to think. */
  paused(): void {
    this.#prediction = this.#predict()
  }

  /** The caller speaks (again): what was thought of the last pause is void. */
  speechStarted(): void {
    this.#prediction = undefined
  }

  /** The caller is silent. `endMs`: when the last sound arrived, in monotonic milliseconds. */
  speechEnded(endMs: number): void {
    this.#speechEndMs = endMs
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
    this.#prediction ??= this.#predict()
    const probability = await this.#prediction
    const endMs = this.#speechEndMs ?? this.#clock.monotonicMs()
    await this.#sleep(endMs + this.#silence(probability, text) - this.#clock.monotonicMs())
    return 1
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
