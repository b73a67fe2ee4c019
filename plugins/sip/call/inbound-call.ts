import { ALLOW, type CallContext, contactOf, SUPPORTED } from '../dialog/context.ts'
import { Dialog } from '../dialog/dialog.ts'
import { EstablishedDialog } from '../dialog/established-dialog.ts'
import { termsAsServer } from '../dialog/session-timer.ts'
import type { CallMedia, MediaRefused } from '../media/call-media.ts'
import type { Referral, RtpLeg } from '../media/rtp-leg.ts'
import type { SessionDescription } from '../media/sdp.ts'
import { headerOf, tokensOf, type Uri } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import { GIVE_UP_MS, repeat, T2_MS } from '../transaction/timers.ts'
import type { ContactName } from '../trunk/presence.ts'
import { attendedCalls } from './attended.ts'

/** Seconds after which a caller that was turned away may try again. */
const RETRY_AFTER_S = '10'

/** Why a session ended before it was answered, as a status. */
const STATUS_OF: Readonly<Record<string, number>> = {
  no_capacity: 503,
  shutdown: 503,
  api_hangup: 486,
  canceled: 480,
  busy: 486,
  no_answer: 480,
  rejected: 603,
  carrier: 503,
}

/** A call that comes in, from its INVITE to our answer. */
export class InboundCall {
  readonly transaction: ServerTransaction
  readonly #context: CallContext
  #leg: RtpLeg | undefined
  #contact: ContactName | undefined
  #media: CallMedia | undefined
  #offer: SessionDescription | undefined
  #answer: Buffer | undefined
  #session: EstablishedDialog | undefined
  #stopRinging: () => void = () => undefined
  #provisional = 0
  readonly #canceled = new AbortController()
  /** Resolves once the INVITE has its final answer. */
  readonly settled: Promise<void>

  constructor(transaction: ServerTransaction, context: CallContext) {
    this.transaction = transaction
    this.#context = context
    this.settled = transaction.answered
  }

  /** Aborts when the caller hangs up before the call was answered. */
  get canceled(): AbortSignal {
    return this.#canceled.signal
  }

  /** The phone rings: the agent is on its way. `answer` is what we say to the caller's offer; without one we offer. */
  ring(
    leg: RtpLeg,
    media: CallMedia,
    offer: SessionDescription | undefined,
    answer: Buffer | undefined,
    contact?: ContactName,
  ): void {
    this.#contact = contact
    this.#leg = leg
    this.#media = media
    this.#offer = offer
    this.#answer = answer
    const { request, flow } = this.transaction
    const headers = [contactOf(flow, contact), ALLOW]
    if (!tokensOf(request, 'require').includes('100rel')) {
      this.transaction.respond(180, { headers })
      return
    }
    // RFC 3262: the caller wants to be sure that it rings. Our offer would have to come with it; ours comes with the 200.
    if (offer === undefined) return
    this.#provisional = 1 + (this.#context.random.bits(16) >> 1)
    const reliable = [
      ...headers,
      { name: 'require', value: '100rel' },
      { name: 'rseq', value: String(this.#provisional) },
    ]
    const send = (): void => this.transaction.respond(180, { headers: reliable })
    send()
    const stop = repeat(this.#context.timers, T2_MS, send)
    const giveUp = this.#context.timers.after(GIVE_UP_MS, () => this.#unheard())
    this.#stopRinging = () => {
      stop()
      giveUp()
    }
  }

  /** The reliable provisional response was not acknowledged (RFC 3262, section 3). */
  #unheard(): void {
    this.#context.log.warn('The caller never acknowledged that it rings: the call is refused')
    this.refuse(504)
    this.#leg?.ended('connection_lost')
  }

  /** A request of the dialog that is about to be. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    switch (request.method) {
      case 'PRACK':
        this.#acknowledged(transaction)
        return
      case 'BYE':
        transaction.respond(200)
        this.cancel()
        return
      case 'OPTIONS':
        transaction.respond(200, { headers: [ALLOW, SUPPORTED] })
        return
      case 'UPDATE':
        // Nothing is agreed yet that an offer could change (RFC 3311, section 5.2).
        if (request.body.length === 0)
          transaction.respond(200, { headers: [contactOf(transaction.flow, this.#contact), ALLOW] })
        else later(transaction)
        return
      case 'INVITE':
      case 'INFO':
        // Overlapping INVITEs are refused (section 14.2), and DTMF has no receiver before the answer.
        later(transaction)
        return
      default:
        transaction.respond(405, { headers: [ALLOW] })
    }
  }

  /** A PRACK: `RAck: <RSeq> <CSeq of the INVITE> INVITE`. */
  #acknowledged(transaction: ServerTransaction): void {
    const rack = headerOf(transaction.request, 'rack')?.trim().split(/\s+/).join(' ')
    const { number, method } = this.transaction.request.cseq
    const known = this.#provisional > 0 && rack === `${this.#provisional} ${number} ${method}`
    transaction.respond(known ? 200 : 481)
    if (known) this.#stopRinging()
  }

  /** The agent is there. */
  answer(allows: (address: string) => boolean, mayLead: (target: Uri) => boolean = () => false): void {
    const { request, flow } = this.transaction
    const leg = this.#leg
    const media = this.#media
    if (this.transaction.isAnswered || leg === undefined || media === undefined) return
    this.#stopRinging()
    const timing = termsAsServer(request)
    if (timing === 'too_short') return
    const dialog = Dialog.ofInvite(request, this.transaction.toTag)
    const [context, contact] = [this.#context, this.#contact]
    const session = new EstablishedDialog({
      dialog,
      lead: attendedCalls({
        ...{ context, flow, media, leg, contact, allows, may: mayLead, authenticator: undefined },
        from: dialog.localAddress,
      }),
      flow,
      media,
      leg,
      authenticator: undefined,
      contact: this.#contact,
      allows,
      weCalled: false,
      acknowledge: (late) => this.#acknowledged(late),
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
    this.transaction.respond(status, { headers: [...headers, ALLOW, SUPPORTED] })
  }

  /** What can't be agreed on. */
  refuseMedia(error: MediaRefused): void {
    this.transaction.respond(error.status, { headers: error.headers })
  }

  /** The session is over. */
  hangUp(reason: string): void {
    if (this.#session !== undefined) this.#session.hangUp(reason)
    else this.refuse(STATUS_OF[reason] ?? 480)
  }

  /** The caller gave up (CANCEL). */
  cancel(): void {
    if (this.transaction.isAnswered) return
    this.#stopRinging()
    this.transaction.respond(487)
    this.#canceled.abort()
    this.#leg?.ended('caller_hangup')
  }

  transfer(target: string): Promise<Referral> {
    return this.#session?.transfer(target) ?? Promise.resolve('failed')
  }
}

/** Not now, but perhaps in a moment. */
function later(transaction: ServerTransaction): void {
  transaction.respond(500, { headers: [{ name: 'retry-after', value: '5' }] })
}
