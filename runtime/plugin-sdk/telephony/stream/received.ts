import { boundary } from '../../../lib/async/boundary.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { IncomingCall, IncomingRefusal } from '../carrier.ts'
import type { StreamDialect } from './dialect.ts'
import { StreamLeg } from './leg.ts'
import type { StreamReception } from './reception.ts'

/** Carriers give up a question after 15 s: until then the caller hears it ring. */
const ANSWER_LIMIT_MS = 13_000

/** What a carrier does with a call that isn't taken: a busy tone, or "not in service". */
export type Rejection = 'busy' | 'rejected'

/** How one carrier is answered. */
export interface Answers {
  /** Joins the call to our stream, which shows the token. */
  join(callId: string, token: string): string | Promise<string>
  reject(as: Rejection): string | Promise<string>
}

interface ReceivedCallOptions {
  dialect: StreamDialect
  sid: string
  from: string
  to: string
  clock: Clock
  reception: StreamReception
  answers: Answers
  /** It is answered by a command of ours, not by the reply to its announcement. */
  isCommanded: boolean
  /** Ends the call at the carrier. */
  complete(): void
  /** Nothing is owed to the call any more. */
  over(): void
}

/** A call to a number of the account. It rings while the carrier waits for its answer. */
export class ReceivedCall implements IncomingCall {
  readonly sid: string
  readonly from: string | undefined
  readonly to: string
  readonly ourNumber: string
  readonly announcedAs?: string
  /** The answer for the carrier, once decided. */
  readonly document: Promise<string>
  leg: StreamLeg | undefined
  /** Ours, once the call was accepted. */
  callId: string | undefined
  readonly #options: ReceivedCallOptions
  readonly #gone = new AbortController()
  #answer: (document: string | Promise<string>) => void = () => undefined
  #limit: NodeJS.Timeout | undefined
  #token = ''
  #answered = false
  #transferring = false

  constructor(options: ReceivedCallOptions) {
    this.#options = options
    this.sid = options.sid
    // A caller who withholds the number is `anonymous`, `Restricted` or `+266696687`.
    this.from = /^\+(?!266696687$)\d+$/.test(options.from) ? options.from : undefined
    this.to = options.to
    this.ourNumber = options.to
    if (options.isCommanded) this.announcedAs = options.sid
    this.document = new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  accept({ callId }: { callId: string }): StreamLeg {
    this.callId = callId
    const leg = new StreamLeg({
      dialect: this.#options.dialect,
      clock: this.#options.clock,
      answered: () => {
        clearTimeout(this.#limit)
        this.#answered = true
        this.#answer(this.#options.answers.join(callId, this.#issue()))
      },
      closed: (_reason, streaming) => {
        if (!this.#answered) this.#answer(this.#options.answers.reject('busy'))
        else if (!(streaming && this.#options.dialect.closingEndsCall)) this.#options.complete()
      },
      over: (lost) => {
        if (lost) this.#options.complete()
        clearTimeout(this.#limit)
        this.#options.reception.withdraw(this.#token)
        this.#options.over()
      },
    })
    this.leg = leg
    this.#limit = setTimeout(
      boundary('carrier', () => this.end()),
      ANSWER_LIMIT_MS,
    )
    return leg
  }

  /** No capacity is reported as busy, the rest as "not in service". Neither answers the call. */
  reject(why: IncomingRefusal): void {
    this.#answer(this.#options.answers.reject(why === 'no_capacity' || why === 'failed' ? 'busy' : 'rejected'))
    this.#options.over()
  }

  /** No command is sent: the call is another node's, or over. */
  ignore(): void {
    this.#options.over()
  }

  /** The call is over, or was not taken in time. */
  end(): void {
    this.#gone.abort()
    if (!this.#answered) this.#answer(this.#options.answers.reject('busy'))
    if (this.leg === undefined) this.#options.over()
    else this.leg.hangUp('caller_hangup')
  }

  /** A token for the next stream, when the call waits for one. */
  reissue(): string | undefined {
    if (!this.#answered || this.leg === undefined || this.leg.isOver || this.#transferring) return undefined
    this.leg.detach()
    this.#options.reception.withdraw(this.#token)
    return this.#issue()
  }

  /** As of DialledCall. */
  transferring(): () => void {
    this.#transferring = true
    return () => {
      this.#transferring = false
    }
  }

  #issue(): string {
    this.#token = this.#options.reception.issue((sid) => (sid === this.sid ? this.leg : undefined))
    return this.#token
  }
}
