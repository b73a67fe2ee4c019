import type { CarrierFigures } from '../../../runtime/call/types/leg.ts'
import { keyOfSignal } from '../../../runtime/media/tones/dtmf.ts'
import { causeOf, reasonHeader } from '../call/outcome.ts'
import { type CallMedia, descriptionOf, MediaRefused, SDP_TYPE } from '../media/call-media.ts'
import type { Agreement } from '../media/offer-answer.ts'
import type { Referral, RtpLeg } from '../media/rtp-leg.ts'
import {
  headerOf,
  type OutgoingRequest,
  type SipHeader,
  type SipRequest,
  type SipResponse,
  tokensOf,
} from '../message/message.ts'
import type { Authenticator } from '../transaction/authenticator.ts'
import { sendAuthenticated } from '../transaction/authenticator.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import { GIVE_UP_MS, repeat, T2_MS } from '../transaction/timers.ts'
import type { Flow } from '../transport/flow.ts'
import type { ContactName } from '../trunk/presence.ts'
import { ALLOW, type CallContext, contactOf, type DialogSession, SUPPORTED } from './context.ts'
import { Dialog } from './dialog.ts'
import { Handover } from './handover.ts'
import type { Lead, Successor } from './referral.ts'
import {
  MAX_SE_S,
  MIN_SE_S,
  parseMinSe,
  type SessionTerms,
  SessionTimer,
  termsAsClient,
  termsAsServer,
} from './session-timer.ts'

/** Wait before a re-INVITE that met the other side's is tried again (RFC 3261, section 14.1), in seconds. */
const GLARE_OWNER_S = [2.1, 4] as const
const GLARE_OTHER_S = [0, 2] as const
const MAX_GLARES = 5

interface EstablishedOptions {
  dialog: Dialog
  flow: Flow
  media: CallMedia
  leg: RtpLeg
  authenticator: Authenticator | undefined
  /** What our Contact names. */
  contact?: ContactName | undefined
  /** May requests of this dialog be sent there? */
  allows(address: string): boolean
  /** Did we call? The caller owns the Call-ID. */
  weCalled: boolean
  /** Calls on behalf of the other side; absent: REFER is refused. */
  lead?: Lead | undefined
  /** Answers a PRACK that comes after the 2xx; absent: nothing of ours waits for one. */
  acknowledge?(transaction: ServerTransaction): void
  context: CallContext
}

/** How a held call is watched whose other side keeps no session timer: it is asked every five minutes. */
const HELD_TERMS: SessionTerms = { intervalS: 600, refresher: 'us' }

/** A call between its first 2xx and its BYE: everything that may happen inside of the dialog. */
export class EstablishedDialog implements DialogSession {
  readonly dialog: Dialog
  readonly #options: EstablishedOptions
  readonly #timer: SessionTimer
  readonly #handover: Handover
  /** The way the other side's last request came: routers give it another port in the middle of a call. */
  #way: Flow
  #over = false
  /** Has taken this one's place: the call is there now. */
  #successor: Successor | undefined
  /** Repeats a 2xx to an INVITE until its ACK. */
  #unacknowledged: { sequence: number; offered: boolean; stop(): void } | undefined
  /** Our own INVITE or UPDATE is under way. */
  #refreshing = false
  #glares = 0
  #terms: SessionTerms | undefined
  /** The other side holds the call. */
  #isHeld = false
  #allowsUpdate = false
  /** The shortest interval the other side takes, where it said so. */
  #minSe: number | undefined

  constructor(options: EstablishedOptions) {
    this.#options = options
    this.dialog = options.dialog
    this.#way = options.flow
    this.#timer = new SessionTimer(options.context.timers, {
      refresh: () => this.#refresh(),
      expired: () => {
        options.context.log.warn('The session timer ran out: the other side is gone')
        this.#gone()
      },
    })
    const { context, authenticator, contact, lead } = options
    this.#handover = new Handover({
      ...{ context, authenticator, contact, lead, dialog: this.dialog },
      flow: () => this.#flow,
      isOver: () => this.#over,
      isTaken: () => this.#successor !== undefined,
      taken: (by) => {
        this.#successor = by
      },
      leave: () => this.#bye(undefined),
    })
    options.context.opened(this)
  }

  get #flow(): Flow {
    const { context, allows } = this.#options
    return context.flowFor(this.dialog.nextHop, this.#way, allows)
  }

  /** Session timer and abilities as the INVITE or its answer said. */
  agreed(message: SipRequest | SipResponse, terms: SessionTerms | undefined): void {
    this.#allowsUpdate = tokensOf(message, 'allow').includes('update')
    this.#terms = terms
    this.#timer.restart(this.#timing)
  }

  /** What the session timer goes by. */
  get #timing(): SessionTerms | undefined {
    return this.#terms ?? (this.#isHeld ? HELD_TERMS : undefined)
  }

  /** No media show that the side which holds a call is still there; without a session timer of its own we ask. */
  #watchHold({ direction }: Agreement): void {
    this.#isHeld = direction === 'sendonly' || direction === 'inactive'
    if (this.#terms === undefined) this.#timer.restart(this.#timing)
  }

  /** Answers an INVITE of the other side with 200, again and again until the ACK comes. */
  answer(transaction: ServerTransaction, headers: readonly SipHeader[], body: Buffer, offered: boolean): void {
    const { context, flow, contact } = this.#options
    const reply = {
      headers: [contactOf(flow, contact), ALLOW, SUPPORTED, SDP_TYPE, ...headers],
      body,
    }
    transaction.respond(200, reply)
    const again = repeat(context.timers, T2_MS, () => transaction.resendAccepted())
    const giveUp = context.timers.after(GIVE_UP_MS, () => {
      context.log.warn('The answer was never acknowledged: the call is ended')
      this.#gone()
    })
    this.#unacknowledged = {
      sequence: transaction.request.cseq.number,
      offered,
      stop: () => {
        again()
        giveUp()
      },
    }
  }

  /** The ACK of a 2xx. */
  acknowledged(ack: SipRequest): void {
    const waiting = this.#unacknowledged
    if (waiting === undefined || ack.cseq.number !== waiting.sequence) return
    waiting.stop()
    this.#unacknowledged = undefined
    if (!waiting.offered) return
    try {
      const answer = descriptionOf(ack)
      if (answer === undefined) throw new MediaRefused(488, 'The ACK has no answer to our offer')
      this.#options.leg.renegotiated(this.#options.media.complete(answer))
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error
      this.#options.context.log.warn({ err: error }, 'The call is ended: no codec in common')
      this.#gone()
    }
  }

  /** A request inside of the dialog. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    if (this.#over) {
      transaction.respond(481)
      return
    }
    if (!this.dialog.takes(request)) {
      transaction.respond(500, { headers: [{ name: 'retry-after', value: '1' }] })
      return
    }
    const { flow } = transaction
    if (flow.protocol === this.#way.protocol && flow.address === this.#way.address) this.#way = flow
    switch (request.method) {
      case 'BYE':
        transaction.respond(200)
        this.#end()
        if (this.#successor !== undefined) return
        this.#options.leg.known(releasedBy(this.#options.weCalled ? 'callee' : 'caller', causeOf(request)))
        this.#options.leg.ended(this.#handover.left() ? 'transferred' : 'caller_hangup')
        return
      case 'INVITE':
      case 'UPDATE':
        this.#renegotiate(transaction)
        return
      case 'INFO':
        this.#info(transaction)
        return
      case 'NOTIFY':
        this.#handover.notified(transaction)
        return
      case 'PRACK':
        if (this.#options.acknowledge === undefined) transaction.respond(481)
        else this.#options.acknowledge(transaction)
        return
      case 'OPTIONS':
        transaction.respond(200, { headers: [ALLOW, SUPPORTED] })
        return
      case 'REFER':
        this.#handover.refer(transaction)
        return
      default:
        transaction.respond(405, { headers: [ALLOW] })
    }
  }

  /** A re-INVITE or UPDATE: keep-alive, hold, resume, or another address. */
  #renegotiate(transaction: ServerTransaction): void {
    const { request } = transaction
    const { media, leg, flow, contact } = this.#options
    if (this.#refreshing) {
      transaction.respond(491)
      return
    }
    if (this.#unacknowledged !== undefined && request.method === 'INVITE') {
      transaction.respond(500, { headers: [{ name: 'retry-after', value: '2' }] })
      return
    }
    const timing = termsAsServer(request)
    if (timing === 'too_short') {
      transaction.respond(422, { headers: [{ name: 'min-se', value: String(MIN_SE_S) }] })
      return
    }
    try {
      const offer = descriptionOf(request)
      if (offer !== undefined && this.#unacknowledged?.offered === true) {
        // Our own offer has no answer yet (RFC 3311, section 5.2).
        transaction.respond(491)
        return
      }
      const accepted = offer === undefined ? undefined : media.accept(offer)
      this.dialog.refreshTarget(request)
      // A refresh without Session-Expires ends the timer; our own refreshes do no harm (RFC 4028, section 9).
      this.agreed(request, timing?.terms ?? (this.#terms?.refresher === 'us' ? this.#terms : undefined))
      const headers = timing?.headers ?? []
      if (request.method === 'INVITE') {
        this.answer(transaction, headers, accepted?.answer ?? media.offer(), accepted === undefined)
      } else {
        const body = accepted === undefined ? {} : { body: accepted.answer }
        const type = accepted === undefined ? [] : [SDP_TYPE]
        transaction.respond(200, {
          headers: [contactOf(flow, contact), ALLOW, SUPPORTED, ...type, ...headers],
          ...body,
        })
      }
      if (accepted !== undefined) {
        leg.renegotiated(accepted.agreement)
        this.#watchHold(accepted.agreement)
      }
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error
      transaction.respond(error.status, { headers: error.headers })
    }
  }

  /**
   * Another dialog replaces this one (RFC 3891): our media and agent stay, the remote side changes. Only callers
   * admitted by the call's own trunk may replace it.
   */
  replacedBy(transaction: ServerTransaction): void {
    const { request, flow } = transaction
    const { media, leg, allows, context } = this.#options
    const timing = termsAsServer(request)
    if (this.#over) {
      transaction.respond(603)
      return
    }
    if (!allows(flow.address)) {
      context.log.warn({ from: flow.address }, 'Takeover of a call refused: not an address of its trunk')
      transaction.respond(403)
      return
    }
    if (timing === 'too_short') {
      transaction.respond(422, { headers: [{ name: 'min-se', value: String(MIN_SE_S) }] })
      return
    }
    try {
      const offer = descriptionOf(request)
      const accepted = offer === undefined ? undefined : media.accept(offer)
      const successor = new EstablishedDialog({
        ...this.#options,
        ...{ flow, authenticator: undefined, weCalled: false },
        dialog: Dialog.ofInvite(request, transaction.toTag),
      })
      this.#successor = successor
      successor.agreed(request, timing?.terms)
      successor.answer(transaction, timing?.headers ?? [], accepted?.answer ?? media.offer(), accepted === undefined)
      if (accepted !== undefined) leg.renegotiated(accepted.agreement)
      leg.known({ callId: request.callId })
      this.#bye(undefined)
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error
      transaction.respond(error.status, { headers: error.headers })
    }
  }

  /** Keys that come with the signalling: `Signal=5`, or the key alone. */
  #info(transaction: ServerTransaction): void {
    const { request } = transaction
    const type = headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase()
    const text = Buffer.from(request.body).toString('latin1').trim()
    const signal = type === 'application/dtmf-relay' ? /^signal[ \t]*=[ \t]*(\S{1,2})[ \t]*$/im.exec(text)?.[1] : text
    const isKnown = type === 'application/dtmf-relay' || type === 'application/dtmf'
    const key = isKnown ? keyOfSignal(signal ?? '') : undefined
    transaction.respond(key !== undefined || request.body.length === 0 ? 200 : 415)
    if (key !== undefined) this.#options.leg.keyPressed(key)
  }

  /** Keeps the session alive (RFC 4028): with an UPDATE where the other side knows it, else with an INVITE. */
  #refresh(): void {
    if (this.#over || this.#timing === undefined) return
    if (this.#refreshing || this.#unacknowledged !== undefined) {
      this.#refreshLater(GLARE_OTHER_S)
      return
    }
    const { context, media, authenticator, flow, contact } = this.#options
    const invite = !this.#allowsUpdate
    const headers = [
      contactOf(flow, contact),
      ALLOW,
      SUPPORTED,
      ...(this.#terms === undefined
        ? []
        : [{ name: 'session-expires', value: `${this.#terms.intervalS};refresher=uac` }]),
      ...(this.#minSe === undefined ? [] : [{ name: 'min-se', value: String(this.#minSe) }]),
      ...(invite ? [SDP_TYPE] : []),
    ]
    const body = invite ? media.offer() : undefined
    this.#refreshing = true
    let credentials: readonly SipHeader[] = []
    sendAuthenticated(
      context.transactions,
      authenticator,
      this.#flow,
      (extra) => {
        credentials = extra
        return this.dialog.request(invite ? 'INVITE' : 'UPDATE', [...headers, ...extra], body)
      },
      {
        final: (response) => this.#refreshed(response, credentials),
        failed: () => {
          this.#refreshing = false
          this.#gone()
        },
      },
    )
  }

  #refreshed(response: SipResponse, credentials: readonly SipHeader[]): void {
    const { context } = this.#options
    if (response.cseq.method === 'INVITE' && response.status < 300) {
      const flow = this.#flow
      flow.send(context.transactions.ackBytes(this.dialog.ack(response.cseq.number, credentials), flow))
    }
    if (!this.#refreshing || this.#over) return
    this.#refreshing = false
    if (response.status < 300) {
      this.#glares = 0
      this.dialog.refreshTarget(response)
      this.#terms = termsAsClient(response) ?? this.#terms
      this.#timer.restart(this.#timing)
    } else if (response.status === 491 && this.#glares++ < MAX_GLARES) {
      this.#refreshLater(this.#options.weCalled ? GLARE_OWNER_S : GLARE_OTHER_S)
    } else if (response.status === 481 || response.status === 408) this.#gone()
    else if (response.status === 422 && this.#lengthen(response)) this.#refresh()
    else if (this.#terms === undefined)
      // Whatever it says, it is there.
      this.#timer.restart(this.#timing)
    else {
      context.log.warn({ status: response.status }, 'The other side refused to refresh the session')
      this.#timer.retry()
    }
  }

  /** Takes the longer interval that the other side asks for (RFC 4028, section 7.4). False: it asks for none. */
  #lengthen(response: SipResponse): boolean {
    const least = parseMinSe(response)
    if (this.#terms === undefined || least === undefined) return false
    if (least <= this.#terms.intervalS || least > MAX_SE_S) return false
    this.#minSe = least
    this.#terms = { ...this.#terms, intervalS: least }
    return true
  }

  #refreshLater([leastS, mostS]: readonly [number, number]): void {
    const { timers, random } = this.#options.context
    const waitS = leastS + (mostS - leastS) * (random.bits(16) / 0x10000)
    timers.after(waitS * 1_000, () => this.#refresh())
  }

  /** Transfers the call by REFER (RFC 3515). Unless it was `taken`, the call continues. */
  transfer(target: string): Promise<Referral> {
    return this.#successor === undefined ? this.#handover.transfer(target) : this.#successor.transfer(target)
  }

  /** Ends the call. @param reason why the session did */
  hangUp(reason?: string): void {
    if (this.#successor !== undefined) {
      this.#successor.hangUp(reason)
      return
    }
    if (this.#over) return
    this.#options.leg.known(releasedBy('patchbay'))
    this.#bye(reason)
  }

  #bye(reason: string | undefined): void {
    this.#end()
    const { context, authenticator } = this.#options
    const ignore = (): void => undefined
    const why = reasonHeader(reason)
    const bye = (extra: readonly SipHeader[]): OutgoingRequest => this.dialog.request('BYE', [why, ...extra])
    sendAuthenticated(context.transactions, authenticator, this.#flow, bye, { final: ignore, failed: ignore })
  }

  /** The other side is unresponsive; BYE is sent all the same. */
  #gone(): void {
    if (this.#over) return
    this.hangUp('connection_lost')
    this.#options.leg.known(releasedBy('carrier'))
    this.#options.leg.ended('connection_lost')
  }

  #end(): void {
    this.#over = true
    this.#timer.stop()
    this.#unacknowledged?.stop()
    this.#options.context.closed(this)
  }
}

function releasedBy(by: 'caller' | 'callee' | 'carrier' | 'patchbay', q850?: number): CarrierFigures {
  return { releasedBy: by, ...(q850 === undefined ? {} : { q850 }) }
}
