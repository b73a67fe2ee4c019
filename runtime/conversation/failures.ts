import type { voice } from '@livekit/agents'
import type { Logger } from 'pino'
import type { Stage } from './chain.ts'
import type { Farewell } from './farewell.ts'
import { languageOf } from './languages/index.ts'
import type { Providers } from './providers.ts'

/** So many failed answers in a row end the call. */
const MAX_IN_A_ROW = 3

export interface FailuresOptions {
  providers: Providers
  session: voice.AgentSession
  farewell: Farewell
  language: string | undefined
  observer: { failure(stage: Stage | 'session'): void }
  log: Logger
  /** The conversation closes already: what fails now is of no interest. */
  over(): boolean
  /** Ends the call, for this reason. */
  end(reason: string): void
}

/** What goes wrong in a conversation: told to the operator and, where it stops an answer, to the caller. */
export class Failures {
  readonly #options: FailuresOptions
  #inARow = 0

  constructor(options: FailuresOptions) {
    this.#options = options
  }

  /** The caller heard an answer. */
  overcome(): void {
    this.#inARow = 0
  }

  /** A stage failed; the conversation goes on. */
  stage(stage: Stage | 'session', err: unknown): void {
    const { observer, log, over } = this.#options
    if (over()) return
    observer.failure(stage)
    log.warn({ err, stage }, 'A stage of the conversation failed')
  }

  /** No provider of a stage answered, as the session's error event says. Their own failures were told one by one. */
  providers(event: unknown): void {
    const { providers, session, language, over } = this.#options
    const { type, recoverable, error } = event as { type?: string; recoverable?: boolean; error?: unknown }
    const stage = type === 'llm_error' ? 'llm' : type === 'tts_error' ? 'tts' : 'session'
    if (stage === 'session') this.stage(stage, error ?? event)
    if (recoverable === true || over()) return
    this.#inARow++
    // Another attempt can't help where the key or the account is the reason.
    const hopeless = stage !== 'session' && providers[stage].hopeless
    if (hopeless || this.#inARow >= MAX_IN_A_ROW) {
      void this.giveUp(stage)
      return
    }
    try {
      session.say(languageOf(language).phrases.sayAgain, { addToChatCtx: false })
    } catch (err) {
      this.stage('session', err)
    }
  }

  /** The call can't go on: the caller is told if that is possible, then it ends. */
  async giveUp(stage: Stage | 'session'): Promise<void> {
    const { providers, farewell, end } = this.#options
    const why = stage === 'session' ? undefined : providers[stage].lastFailure
    const times = this.#inARow > 1 ? ` ${this.#inARow} times` : ''
    await farewell.say('goodbye')
    end(`The ${stage} provider failed${times}${why === undefined ? '' : `: ${why}`}`)
  }
}
