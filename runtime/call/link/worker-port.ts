import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cutText } from '../../lib/text.ts'
import type { CallEventBody } from '../log/events.ts'
import type { AgentState } from '../types/leg.ts'
import type { SessionEndReason } from '../types/outcome.ts'
import type { SessionPort } from './linked-conversation.ts'
import type { AskMethod, AskMethods, Owed, SoundSpan, WorkerMessage } from './messages.ts'

/** How a conversation speaks to its session: the worker's side of one session on one link. */

const ASK_TIMEOUT_MS: Readonly<Record<AskMethod, number>> = {
  knowledge: 10_000,
  tool: 150_000,
  hand_off: 10_000,
  secret: 10_000,
}
const MAX_ASKS = 64
/** Of a sentence that says what went wrong. */
export const MAX_SENTENCE_CHARS = 2_000
/** Ten seconds of audio: as long as an opening may take. What comes after is dropped. */
const MAX_EARLY = 500

/** What the port needs of the link it goes over. */
interface PortLink {
  readonly takesOwed: boolean
  send(message: WorkerMessage): void
  audio(session: number, timestamp: number, bytes: Uint8Array): void
}

interface Asked {
  resolve(result: unknown): void
  reject(error: Error): void
}

export class LinkPort implements SessionPort {
  readonly #session: number
  readonly #link: PortLink
  readonly #endedItself: () => void
  readonly #asked = new Map<number, Asked>()
  #nextAsk = 1
  /** The session is over: only events from before the end are still sent. */
  #over = false
  /** No more events are sent. */
  #ended = false
  /** What the conversation says before its session is accepted. */
  #early: (() => void)[] | undefined = []

  /** `ended` is called once, after the conversation ended its session itself. */
  constructor(session: number, link: PortLink, ended: () => void) {
    this.#session = session
    this.#link = link
    this.#endedItself = ended
  }

  sendAudio(bytes: Uint8Array, timestamp: number): void {
    if (this.#over) return
    if (this.#early === undefined) this.#link.audio(this.#session, timestamp, bytes)
    else this.#hold(() => this.#link.audio(this.#session, timestamp, bytes))
  }

  /** The session is accepted: what was said so far goes out, and from now on everything at once. */
  start(): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const send of early) send()
  }

  state(state: AgentState): void {
    this.#send({ type: 'state', session: this.#session, state })
  }

  tell(event: CallEventBody, sound?: SoundSpan): void {
    // Still sent while closing: the conversation reports its usage and the last words then.
    const message: WorkerMessage = { type: 'event', session: this.#session, event, ...(sound && { sound }) }
    if (this.#over && !this.#ended) this.#link.send(message)
    else this.#send(message)
  }

  owes(owed: Owed): void {
    if (this.#link.takesOwed) this.#send({ type: 'owes', session: this.#session, owed })
  }

  clear(): void {
    this.#send({ type: 'clear', session: this.#session })
  }

  mark(id: number): void {
    this.#send({ type: 'mark', session: this.#session, id })
  }

  ended(reason: SessionEndReason, error?: string): void {
    if (this.#over) return
    this.start()
    this.#send({
      type: 'ended',
      session: this.#session,
      reason,
      ...(error === undefined ? {} : { error: cutText(error, MAX_SENTENCE_CHARS) }),
    })
    this.close()
    this.#endedItself()
  }

  async ask<M extends AskMethod>(
    method: M,
    params: AskMethods[M]['params'],
    signal: AbortSignal,
  ): Promise<AskMethods[M]['result']> {
    if (this.#over) throw new PatchbayError('link_lost')
    if (this.#asked.size >= MAX_ASKS) throw new PatchbayError('unavailable')
    const id = this.#nextAsk++
    const timeoutMs = ASK_TIMEOUT_MS[method]
    const either = signalWithin(timeoutMs, signal)
    either.throwIfAborted()
    let aborted: (() => void) | undefined
    try {
      const result = await new Promise<unknown>((resolve, reject) => {
        this.#asked.set(id, { resolve, reject })
        aborted = () =>
          reject(
            signal.aborted
              ? signal.reason
              : new PatchbayError('timeout', { params: { action: `Asking for ${method}`, timeoutMs } }),
          )
        either.addEventListener('abort', boundary('link', aborted), { once: true })
        this.#send({ type: 'ask', session: this.#session, id, method, params })
      })
      return result as AskMethods[M]['result']
    } finally {
      this.#asked.delete(id)
      if (aborted !== undefined) either.removeEventListener('abort', aborted)
    }
  }

  /** The api node's answer; one without a pending request is dropped. */
  answer(id: number, result: unknown, error: string | undefined): void {
    const asked = this.#asked.get(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new PatchbayError('unavailable', { cause: new Error(error) }))
  }

  /** Nothing more is sent. */
  end(): void {
    this.close()
    this.#ended = true
  }

  /** Only events that happened until now are still sent, and pending requests are dropped. */
  close(): void {
    this.#over = true
    for (const asked of this.#asked.values()) asked.reject(new PatchbayError('link_lost'))
  }

  #send(message: WorkerMessage): void {
    if (this.#over) return
    if (this.#early === undefined) this.#link.send(message)
    else this.#hold(() => this.#link.send(message))
  }

  #hold(send: () => void): void {
    if (this.#early !== undefined && this.#early.length < MAX_EARLY) this.#early.push(send)
  }
}
