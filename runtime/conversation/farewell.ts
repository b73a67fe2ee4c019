import type { voice } from '@livekit/agents'
import type { Logger } from 'pino'
import { languageOf } from './languages/index.ts'
import { within } from './patience.ts'

const GOODBYE_TIMEOUT_MS = 8000

export interface FarewellEvents {
  /** The caller's last turn was answered with at least a sound. */
  replied(): boolean
  /** The agent has said all it had to, and the caller let it. */
  hungUp(): void
}

/** The last words of a call. */
export class Farewell {
  readonly #session: voice.AgentSession
  readonly #language: string | undefined
  readonly #events: FarewellEvents
  readonly #log: Logger

  constructor(session: voice.AgentSession, language: string | undefined, events: FarewellEvents, log: Logger) {
    this.#session = session
    this.#language = language
    this.#events = events
    this.#log = log
  }

  /** The agent wants to hang up: done when the caller has heard what it is saying. One who speaks up keeps the call. */
  hangUp(speech: voice.SpeechHandle): void {
    speech.addDoneCallback(async () => {
      if (speech.interrupted) return
      if (!this.#events.replied()) await this.say('bye')
      this.#events.hungUp()
    })
  }

  /** Says it to its end, if that is possible. */
  async say(phrase: 'bye' | 'goodbye'): Promise<void> {
    try {
      const text = languageOf(this.#language).phrases[phrase]
      const speech = this.#session.say(text, { allowInterruptions: false, addToChatCtx: false })
      await within(GOODBYE_TIMEOUT_MS, 'Saying goodbye', speech.waitForPlayout())
    } catch (err) {
      this.#log.debug({ err }, 'Could not say goodbye')
    }
  }
}
