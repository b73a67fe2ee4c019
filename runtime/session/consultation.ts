import type { CallEventBody } from '../call-log/events.ts'
import type { Clock } from '../clock.ts'
import { PatchbayError } from '../errors.ts'
import type { LinkSession } from '../link/api-end.ts'
import type { AgentSpec } from '../link/messages.ts'
import type { Seat } from './dispatch.ts'
import type { Leg, LegEvents } from './leg.ts'
import { Marks } from './marks.ts'

/** Who is told of a caller and says nothing is not kept longer. */
const LIMITS = { idleMs: 20_000, maxDurationMs: 60_000 }

export type Verdict = 'accepted' | 'refused' | 'unanswered' | 'failed'

export interface ConsultationOptions {
  callId: string
  /** Says who calls and why, and asks (its consent message): yes or 1 takes the call, no or 2 refuses it. */
  agent: AgentSpec
  leg: Leg
  seat: Seat
  clock: Clock
  /** What the conversation used. */
  tell(event: CallEventBody): void
}

/** A word with somebody who picked up, before a caller is put through: a conversation of its own, of one question. */
export class Consultation {
  readonly #options: ConsultationOptions
  readonly #marks = new Marks()
  readonly #verdict = Promise.withResolvers<Verdict>()
  #link: LinkSession | undefined
  #over = false
  #inputs = 0
  /** The leg's events go here once somebody else wants them. */
  #next: LegEvents | undefined

  constructor(options: ConsultationOptions) {
    const { callId, agent, leg, seat } = options
    this.#options = options
    leg.start(this.#fromHuman())
    leg.answer()
    const open = { callId, agent, format: leg.format, limits: LIMITS, elapsedMs: 0 }
    this.#link = seat.worker.open(open, {
      audio: (bytes) => this.#over || leg.sendAudio(bytes),
      message: (message) => {
        switch (message.type) {
          case 'event':
            if (message.event.type === 'consent') this.#decide(VERDICTS[message.event.consent])
            else if (message.event.type === 'usage') options.tell(message.event)
            break
          case 'clear':
            leg.clear()
            break
          case 'mark':
            leg.mark(this.#marks.issue(message.id))
            break
          case 'ended':
            this.#decide(message.reason === 'idle' || message.reason === 'max_duration' ? 'unanswered' : 'failed')
            break
          case 'rejected':
            this.#decide('failed')
        }
      },
      late: (event) => event.type === 'usage' && options.tell(event),
      ask: () => Promise.reject(new PatchbayError('validation')),
      lost: () => this.#decide('failed'),
    })
  }

  /** What became of it. */
  get verdict(): Promise<Verdict> {
    return this.#verdict.promise
  }

  /** The caller is gone: nothing is left to be asked. */
  cancel(): void {
    this.#decide('failed')
  }

  /** Hands the human over: what their leg tells goes to `events` from now on. */
  handOver(events: LegEvents): void {
    this.#next = events
  }

  #decide(verdict: Verdict): void {
    if (this.#over) return
    this.#over = true
    this.#options.leg.clear()
    void this.#link?.close(verdict)
    this.#options.seat.release('done')
    this.#verdict.resolve(verdict)
  }

  #fromHuman(): LegEvents {
    return {
      audio: (bytes, timestamp) => {
        if (this.#next !== undefined) this.#next.audio(bytes, timestamp)
        else if (!this.#over) this.#link?.audio(bytes, timestamp)
      },
      text: () => undefined,
      dtmf: (digit) => {
        if (this.#next !== undefined) this.#next.dtmf(digit)
        else if (!this.#over) {
          this.#link?.event({ type: 'key', digit, seq: this.#inputs++, at: this.#options.clock.nowMs() })
        }
      },
      played: (id) => {
        const mark = this.#marks.take(id)
        if (mark !== undefined) this.#link?.played(mark)
      },
      ended: (reason) => {
        if (this.#next !== undefined) this.#next.ended(reason)
        else this.#decide('refused')
      },
    }
  }
}

const VERDICTS = { given: 'accepted', refused: 'refused', unanswered: 'unanswered' } as const
