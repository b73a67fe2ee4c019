import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { LinkSession, SessionMessage } from '../link/api-end.ts'
import type { CallEventBody } from '../log/events.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import type { Leg, LegEvents } from '../types/leg.ts'
import { type ClaimedSlot, OFFER_TIMEOUT_MS } from './dispatch.ts'
import { Marks } from './marks.ts'

/** How long the callee may stay silent after the question. */
const LIMITS = { idleMs: 20_000, maxDurationMs: 60_000 }
/** Workers tried in turn to announce a caller, while the callee waits. */
const MAX_WORKERS = 3
const SEAT_WAIT_MS = 3_000
/** A lost worker restarts within seconds, where it was the only one. */
const NEXT_SEAT_WAIT_MS = 10_000

/** `failed`: the question was broken off; `unasked`: there was no worker to ask with. */
type ConsultationResult = 'accepted' | 'refused' | 'unanswered' | 'failed' | 'unasked'

interface ConsultationOptions {
  callId: string
  /** Says who calls and why, and asks (its consent message): yes or 1 takes the call, no or 2 refuses it. */
  agent: AgentSpec
  leg: Leg
  clock: Clock
  /** Takes a worker slot for the conversation. Throws when none comes free within `waitMs`. */
  takeSeat(waitMs: number): Promise<ClaimedSlot>
  /** Receives the usage and the errors of the conversation. */
  tell(event: CallEventBody): void
}

/** One worker's share of it. */
interface Session {
  readonly seat: ClaimedSlot
  /** Until the worker has answered. */
  offer?: NodeJS.Timeout
  link?: LinkSession
}

/**
 * Asks a callee, before a caller is put through, in a separate conversation of one question. A worker that
 * can't run it, or that dies, is replaced by another, which asks from the beginning.
 */
export class Consultation {
  readonly #options: ConsultationOptions
  readonly #marks = new Marks()
  readonly #verdict = Promise.withResolvers<ConsultationResult>()
  #session: Session | undefined
  #over = false
  #workers = 0
  #inputs = 0
  /** Receives the leg's events once the callee is handed over. */
  #next: LegEvents | undefined

  constructor(options: ConsultationOptions) {
    this.#options = options
    options.leg.start(this.#fromHuman())
    options.leg.answer()
    inBackground('call', this.#ask())
  }

  /** What became of it. */
  get verdict(): Promise<ConsultationResult> {
    return this.#verdict.promise
  }

  /** The caller is gone: the question is dropped. */
  cancel(): void {
    this.#decide('failed')
  }

  /** Hands the human over: what their leg tells goes to `events` from now on. */
  handOver(events: LegEvents): void {
    this.#next = events
  }

  async #ask(): Promise<void> {
    if (this.#workers === MAX_WORKERS) return this.#decide('unasked')
    const waitMs = this.#workers === 0 ? SEAT_WAIT_MS : NEXT_SEAT_WAIT_MS
    this.#workers++
    const seat = await this.#options.takeSeat(waitMs).catch(() => undefined)
    if (this.#over) return seat?.release('done')
    if (seat === undefined) return this.#decide('unasked')
    this.#open(seat)
  }

  #open(seat: ClaimedSlot): void {
    const { callId, agent, leg, tell } = this.#options
    this.#marks.forget()
    const session: Session = { seat }
    this.#session = session
    session.offer = setTimeout(
      boundary('call', () => this.#lose(session, 'lost', 'no answer to the offer')),
      OFFER_TIMEOUT_MS,
    )
    const open = { callId, agent, format: leg.format, limits: LIMITS, elapsedMs: 0 }
    session.link = seat.worker.open(open, {
      audio: (bytes) => this.#session !== session || leg.sendAudio(bytes),
      message: (message) => this.#heard(session, message),
      late: (event) => event.type === 'usage' && tell(event),
      ask: () => Promise.reject(new PatchbayError('validation')),
      lost: (reason) => this.#lose(session, 'lost', reason),
    })
  }

  /** The worker can't go on: another one may. */
  #lose(session: Session, why: Parameters<ClaimedSlot['release']>[0], reason: string): void {
    if (this.#session !== session) return
    this.#leave(why, 'moved')
    this.#options.leg.clear()
    this.#fault(`The caller could not be announced by a voice worker: ${reason}`)
    inBackground('call', this.#ask())
  }

  #heard(session: Session, message: SessionMessage): void {
    const { leg, tell } = this.#options
    switch (message.type) {
      case 'accepted':
        clearTimeout(session.offer)
        break
      case 'rejected':
        if (message.reason === 'bad_agent') this.#broken(message.message)
        else this.#lose(session, releaseOf(message.reason), message.message)
        break
      case 'event':
        if (message.event.type === 'consent') this.#decide(VERDICTS[message.event.consent])
        else if (message.event.type === 'usage' || message.event.type === 'fault') tell(message.event)
        break
      case 'clear':
        leg.clear()
        break
      case 'mark':
        leg.mark(this.#marks.issue(message.id))
        break
      case 'ended':
        if (message.reason === 'worker_drained') this.#lose(session, 'done', 'it stops')
        else if (message.reason === 'error') this.#broken(message.error ?? 'The conversation failed')
        else this.#decide('unanswered')
    }
  }

  #broken(sentence: string): void {
    this.#fault(sentence)
    this.#decide('failed')
  }

  #fault(sentence: string): void {
    this.#options.tell({ type: 'fault', stage: 'session', sentence })
  }

  #decide(verdict: ConsultationResult): void {
    if (this.#over) return
    this.#over = true
    this.#options.leg.clear()
    this.#leave('done', verdict)
    this.#verdict.resolve(verdict)
  }

  #leave(why: Parameters<ClaimedSlot['release']>[0], reason: string): void {
    const session = this.#session
    this.#session = undefined
    if (session === undefined) return
    clearTimeout(session.offer)
    inBackground('call', session.link?.close(reason))
    session.seat.release(why)
  }

  #fromHuman(): LegEvents {
    return {
      audio: (bytes, timestamp) => {
        if (this.#next !== undefined) this.#next.audio(bytes, timestamp)
        else this.#session?.link?.audio(bytes, timestamp)
      },
      text: () => undefined,
      dtmf: (digit) => {
        if (this.#next !== undefined) this.#next.dtmf(digit)
        else this.#session?.link?.event({ type: 'key', digit, seq: this.#inputs++, at: this.#options.clock.nowMs() })
      },
      played: (id) => {
        const mark = this.#marks.take(id)
        if (mark !== undefined) this.#session?.link?.played(mark)
      },
      ended: (reason) => {
        if (this.#next !== undefined) this.#next.ended(reason)
        else this.#decide('refused')
      },
    }
  }
}

const VERDICTS = { given: 'accepted', refused: 'refused', unanswered: 'unanswered' } as const
const releaseOf = (reason: string) => (reason === 'full' || reason === 'failed' ? reason : 'done')
