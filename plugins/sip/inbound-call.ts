import { type CallMedia, type MediaRefused, SDP_TYPE } from './call-media.ts'
import { ALLOW, type CallContext, contactOf, SUPPORTED } from './context.ts'
import { Dialog } from './dialog.ts'
import { tokensOf } from './message.ts'
import type { RtpLeg } from './rtp-leg.ts'
import type { SessionDescription } from './sdp.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { Established, type Referral } from './session.ts'
import { termsAsServer } from './session-timer.ts'
import { GIVE_UP_MS, repeat, T2_MS } from './timers.ts'

/** Seconds after which a caller that was turned away may try again. */
const RETRY_AFTER_S = '10'

/** Why a session ended before it was answered, as a status. */
const STATUS_OF: Readonly<Record<string, number>> = {
  no_capacity: 503,
  shutdown: 503,
  api_hangup: 486,
  canceled: 480,
}

/** A call that comes in, from its INVITE to our answer. */
export class InboundCall {
  readonly transaction: ServerTransaction
  readonly toTag: string
  readonly #context: CallContext
  #leg: RtpLeg | undefined
  #media: CallMedia | undefined
  #offer: SessionDescription | undefined
  #answer: Buffer | undefined
  #session: Established | undefined
  #stopRinging: () => void = () => undefined
  #provisional = 0
  readonly #canceled = new AbortController()
  /** Resolves once the INVITE has its final answer. */
  readonly settled: Promise<void>

  constructor(transaction: ServerTransaction, context: CallContext) {
    this.transaction = transaction
    this.toTag = context.token()
    this.#context = context
    this.settled = transaction.answered
  }

  /** Aborts when the caller hangs up before the call was answered. */
  get canceled(): AbortSignal {
    return this.#canceled.signal
  }

  /** The phone rings: the agent is on its way. `answer` is what we say to the caller's offer; without one we offer. */
  ring(leg: RtpLeg, media: CallMedia, offer: SessionDescription | undefined, answer: Buffer | undefined): void {
    this.#leg = leg
    this.#media = media
    this.#offer = offer
    this.#answer = answer
    const { request, flow } = this.transaction
    const headers = [contactOf(flow), ALLOW]
    if (!tokensOf(request, 'require').includes('100rel')) {
      this.transaction.respond(180, { toTag: this.toTag, headers })
      return
    }
    // RFC 3262: the caller wants to be sure that it rings.
    this.#provisional = 1 + (this.#context.random.bits(16) >> 1)
    const reliable = [
      ...headers,
      { name: 'require', value: '100rel' },
      { name: 'rseq', value: String(this.#provisional) },
    ]
    const send = (): void => this.transaction.respond(180, { toTag: this.toTag, headers: reliable })
    send()
    const stop = repeat(this.#context.timers, T2_MS, send)
    const giveUp = this.#context.timers.after(GIVE_UP_MS, stop)
    this.#stopRinging = () => {
      stop()
      giveUp()
    }
  }

  /** A PRACK, or another request of the dialog that is about to be. */
  receive(transaction: ServerTransaction): void {
    if (this.#session !== undefined) {
      this.#session.receive(transaction)
      return
    }
    const { request } = transaction
    if (request.method === 'PRACK') {
      const rack = request.headers.find(({ name }) => name === 'rack')?.value.split(' ')[0]
      const known = this.#provisional > 0 && rack === String(this.#provisional)
      transaction.respond(known ? 200 : 481)
      if (known) this.#stopRinging()
    } else if (request.method === 'BYE') {
      transaction.respond(200)
      this.cancel()
    } else transaction.respond(request.method === 'INVITE' ? 491 : 481)
  }

  /** The agent is there. */
  answer(allows: (address: string) => boolean): void {
    const { request, flow } = this.transaction
    const leg = this.#leg
    const media = this.#media
    if (this.transaction.isAnswered || leg === undefined || media === undefined) return
    this.#stopRinging()
    const timing = termsAsServer(request)
    if (timing === 'too_short') return
    const session = new Established({
      dialog: Dialog.ofInvite(request, this.toTag),
      flow,
      media,
      leg,
      authenticator: undefined,
      allows,
      weCalled: false,
      context: this.#context,
    })
    this.#session = session
    session.agreed(request, timing?.terms)
    const body = this.#answer ?? media.offer()
    session.answer(this.transaction, timing?.headers ?? [], body, this.#offer === undefined)
  }

  /** Turns the caller away. */
  refuse(status: number): void {
    this.#stopRinging()
    const headers = status === 503 ? [{ name: 'retry-after', value: RETRY_AFTER_S }] : []
    this.transaction.respond(status, { toTag: this.toTag, headers: [...headers, ALLOW, SUPPORTED] })
  }

  /** What can't be agreed on. */
  refuseMedia(error: MediaRefused): void {
    const headers = error.status === 415 ? [{ name: 'accept', value: SDP_TYPE.value }] : []
    this.transaction.respond(error.status, { toTag: this.toTag, headers })
  }

  /** The session is over. */
  hangUp(reason: string): void {
    if (this.#session !== undefined) this.#session.hangUp()
    else this.refuse(STATUS_OF[reason] ?? 480)
  }

  /** The caller gave up (CANCEL). */
  cancel(): void {
    if (this.transaction.isAnswered) return
    this.#stopRinging()
    this.transaction.respond(487, { toTag: this.toTag })
    this.#canceled.abort()
    this.#leg?.ended('caller_hangup')
  }

  transfer(target: string): Promise<Referral> {
    return this.#session?.transfer(target) ?? Promise.resolve('failed')
  }
}
