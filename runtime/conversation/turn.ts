import type { llm } from '@livekit/agents'
import type { Clock } from '../clock.ts'
import type { AgentSpec } from '../link/messages.ts'
import type { Ears } from './ears.ts'
import { languageOf } from './languages/index.ts'
import type { Language } from './languages/language.ts'
import type { LocalModels } from './models.ts'

/** How long a silence ends a turn, by how sure the model is. Between the points: straight lines. */
const DELAY_CURVE: readonly (readonly [probability: number, delayMs: number])[] = [
  [0, 1600],
  [0.1, 1200],
  [0.2, 700],
  [0.3, 380],
  [0.45, 220],
  [0.6, 140],
]
/** What a closed or an open sentence adds to or takes from the model's opinion. */
const CLOSED_SENTENCE_BONUS = 0.2
/** On top of it for a question, whose caller waits for the answer; in full where the model isn't sure of the opposite. */
const QUESTION_BONUS = 0.15
const NOT_OVER = 0.1
const OPEN_SENTENCE_LIMIT = 0.12
const PREDICTION_TIMEOUT_MS = 400
/** Taken when the model fails or is late. */
const UNSURE = 0.3
/** The model's opinion, corrected by how the words end. */
export function weighWords(probability: number, text: string, { openEndings }: Pick<Language, 'openEndings'>): number {
  const trimmed = text.trim()
  const lastWord = /[\p{L}']+$/u.exec(
    trimmed
      .toLowerCase()
      .replaceAll('’', "'")
      .replace(/[.,…]+$/u, ''),
  )?.[0]
  if (/(\.\.\.|…|,)$/u.test(trimmed) || (lastWord !== undefined && openEndings.has(lastWord))) {
    return Math.min(probability, OPEN_SENTENCE_LIMIT)
  }
  if (!/[.?!。？！]$/u.test(trimmed)) return probability
  const asked = /[?？]$/u.test(trimmed) ? QUESTION_BONUS * Math.min(1, probability / NOT_OVER) : 0
  return Math.min(1, probability + CLOSED_SENTENCE_BONUS + asked)
}

/** Silence in milliseconds, from the end of speech, that ends a turn of which the model is so sure. */
export function endpointingDelayMs(probability: number): number {
  let [fromP, fromMs] = DELAY_CURVE[0]!
  for (const [p, ms] of DELAY_CURVE) {
    if (probability < p) return fromMs + ((probability - fromP) / (p - fromP)) * (ms - fromMs)
    fromP = p
    fromMs = ms
  }
  return fromMs
}

/** How much longer or shorter a silence is than balanced, and what it is at least and at most. */
const MODES = {
  eager: { factor: 0.6, leastMs: 100, mostMs: 900 },
  balanced: { factor: 1, leastMs: 0, mostMs: 1_600 },
  patient: { factor: 1.8, leastMs: 400, mostMs: 3_000 },
} as const

/** The curve of an agent that lets its callers pause for shorter or longer. */
export function endpointingDelay(mode: AgentSpec['endpointing'] = 'balanced'): (probability: number) => number {
  const { factor, leastMs, mostMs } = MODES[mode]
  return (probability) => Math.min(mostMs, Math.max(leastMs, factor * endpointingDelayMs(probability)))
}

/**
 * Decides when the caller's turn is over. The model listens at the first pause of 96 ms, so that its answer is there
 * when the silence is long enough; the surer it is, the shorter the silence it needs.
 */
export class TurnEnd {
  readonly model = 'turn-detector-v1-mini'
  readonly provider = 'patchbay'
  readonly #ears: Ears
  readonly #models: LocalModels
  readonly #clock: Clock
  readonly #delayMs: (probability: number) => number
  readonly #onError: (error: unknown) => void
  readonly #language: () => Language
  readonly #timers = new Set<NodeJS.Timeout>()
  /** When the last sound of the caller arrived. */
  #speechEndMs: number | undefined
  #prediction: Promise<number> | undefined
  /** Predictions made by the model, for metrics and tests. */
  predictions = 0

  /**
   * @param delayMs silence that ends a turn of which the model is so sure
   * @param language what the caller speaks
   */
  constructor(
    ears: Ears,
    models: LocalModels,
    clock: Clock,
    delayMs: (probability: number) => number,
    onError: (error: unknown) => void,
    language: () => Language = () => languageOf(undefined),
  ) {
    this.#ears = ears
    this.#models = models
    this.#clock = clock
    this.#delayMs = delayMs
    this.#onError = onError
    this.#language = language
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

  /** The delay is kept here, by the curve; the session's own two-step delay is never taken. */
  async unlikelyThreshold(): Promise<number> {
    return 0
  }

  /** Resolves with 1 once the silence has lasted as long as it must; new speech makes the session drop the answer. */
  async predictEndOfTurn(chatCtx: llm.ChatContext): Promise<number> {
    const last = chatCtx.items.at(-1)
    const text = last?.type === 'message' && last.role === 'user' ? (last.textContent ?? '') : ''
    this.#prediction ??= this.#predict()
    const probability = weighWords(await this.#prediction, text, this.#language())
    const endMs = this.#speechEndMs ?? this.#clock.monotonicMs()
    await this.#sleep(endMs + this.#delayMs(probability) - this.#clock.monotonicMs())
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
      return await Promise.race([this.#models.endOfTurn(this.#ears.recent()), late])
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
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, delayMs)
      this.#timers.add(timer)
    })
  }
}
