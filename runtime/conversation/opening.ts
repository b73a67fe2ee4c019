import type { voice } from '@livekit/agents'
import type { OpenSession } from '../link/messages.ts'
import type { AnsweredBy } from '../telephony/carrier.ts'
import { Answering } from './answering.ts'
import { keyedConsent, readConsent } from './consent.ts'
import type { SessionPort } from './contract.ts'
import type { Ears } from './ears.ts'
import { languageOf } from './languages/index.ts'

/** A message that isn't played by then is cut off, for the machine may never say that it is full. */
const MESSAGE_TIMEOUT_MS = 90_000
/** An answer that says neither yes nor no is asked for once more. */
const MAX_ASKS = 2

export interface OpeningActions {
  /** Ends the session: a machine took the call. */
  voicemail(): void
  /** Writes down a turn of the caller that the model doesn't get. */
  userTurn(text: string): void
  failed(error: unknown): void
}

/**
 * How a call begins: the notice that it is recorded, the question whether it may be, the first message; for outbound calls
 * also who picked up. A conversation that another worker takes over has no opening.
 */
export class Opening {
  readonly #open: OpenSession
  readonly #port: SessionPort
  readonly #actions: OpeningActions
  readonly #answering: Answering | undefined
  #session: voice.AgentSession | undefined
  #asks = 0
  /** A machine listens: nothing it says is answered. */
  #muted = false

  constructor(open: OpenSession, port: SessionPort, ears: Ears, answeredAtMs: number, actions: OpeningActions) {
    this.#open = open
    this.#port = port
    this.#actions = actions
    const { voicemail } = open.agent
    if (voicemail === undefined || open.resume !== undefined) return
    this.#answering = new Answering(voicemail.behaviour, ears, answeredAtMs, {
      told: (by) => port.tell({ type: 'answered_by', by, source: 'agent' }),
      hush: () => {
        this.#asks = 0
        this.#muted = true
        port.tell({ type: 'muted' })
        this.#session?.interrupt({ force: true })
      },
      leaveMessage: () => void this.#leaveMessage(voicemail.message || open.agent.firstMessage),
      hangUp: () => actions.voicemail(),
    })
  }

  /** The session of a new call runs: says what comes first. */
  begin(session: voice.AgentSession): void {
    this.#session = session
    const { recordingNotice = '', consentMessage = '' } = this.#open.agent
    if (recordingNotice.trim() !== '') {
      this.#port.tell({ type: 'greeting', step: 'notice' })
      session.say(recordingNotice, { allowInterruptions: false })
    }
    if (consentMessage.trim() !== '') this.#ask()
    else this.#firstMessage()
  }

  /** True when the caller's turn is not the model's to answer: it answered the question, or is a machine's. */
  takesTurn(text: string): boolean {
    if (this.#muted) {
      this.#actions.userTurn(text)
      return true
    }
    if (this.#asks === 0) return false
    const consent = readConsent(text, languageOf(this.#open.agent.language))
    if (consent === undefined && this.#asks < MAX_ASKS) {
      this.#actions.userTurn(text)
      this.#ask()
      return true
    }
    this.#asks = 0
    this.#port.tell({ type: 'consent', consent: consent ?? 'unanswered' })
    // Who talks of something else wants that answered.
    if (consent === undefined) return false
    this.#actions.userTurn(text)
    this.#firstMessage()
    return true
  }

  /** True when the key answered the question. `seq` is its place in the call's log. */
  takesKey(digit: string, seq: number): boolean {
    const consent = this.#asks === 0 ? undefined : keyedConsent(digit)
    if (consent === undefined) return false
    this.#asks = 0
    this.#port.tell({ type: 'consent', consent, inputs: [seq] })
    this.#session?.interrupt()
    this.#firstMessage()
    return true
  }

  speechStarted(atMs: number): void {
    this.#answering?.speechStarted(atMs)
  }

  speechEnded(atMs: number): void {
    this.#answering?.speechEnded(atMs)
  }

  words(text: string, nowMs: number): void {
    this.#answering?.words(text, nowMs)
  }

  carrierVerdict(by: AnsweredBy, nowMs: number): void {
    this.#answering?.carrier(by, nowMs)
  }

  tick(nowMs: number): void {
    this.#answering?.tick(nowMs)
  }

  close(): void {
    this.#answering?.close()
  }

  #ask(): void {
    this.#asks++
    this.#port.tell({ type: 'greeting', step: 'consent_asked' })
    this.#session?.say(this.#open.agent.consentMessage ?? '')
  }

  #firstMessage(): void {
    const { firstMessage } = this.#open.agent
    this.#port.tell({ type: 'greeting', step: firstMessage.trim() === '' ? 'done' : 'first_message' })
    if (firstMessage.trim() === '') return
    this.#session?.say(firstMessage).addDoneCallback(() => this.#port.tell({ type: 'greeting', step: 'done' }))
  }

  async #leaveMessage(message: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    try {
      if (message.trim() === '' || this.#session === undefined) return
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, MESSAGE_TIMEOUT_MS)
      })
      await Promise.race([this.#session.say(message, { allowInterruptions: false }).waitForPlayout(), late])
    } catch (error) {
      this.#actions.failed(error)
    } finally {
      clearTimeout(timer)
      this.#actions.voicemail()
    }
  }
}
