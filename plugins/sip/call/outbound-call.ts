import type { CarrierFigures } from '../../../runtime/call/types/leg.ts'
import { ALLOW, type CallContext, contactOf, SUPPORTED, USER_AGENT } from '../dialog/context.ts'
import { Dialog, MAX_FORWARDS } from '../dialog/dialog.ts'
import { EarlyDialog } from '../dialog/early-dialog.ts'
import { EstablishedDialog } from '../dialog/established-dialog.ts'
import type { Lead } from '../dialog/referral.ts'
import { MAX_SE_S, MIN_SE_S, parseMinSe, SESSION_EXPIRES_S, termsAsClient } from '../dialog/session-timer.ts'
import { type CallMedia, descriptionOf, MediaRefused, SDP_TYPE } from '../media/call-media.ts'
import type { Agreement } from '../media/offer-answer.ts'
import type { Referral, RtpLeg } from '../media/rtp-leg.ts'
import { headerOf, type OutgoingRequest, type SipHeader, type SipResponse, tokensOf } from '../message/message.ts'
import type { Authenticator, Sending } from '../transaction/authenticator.ts'
import { sendAuthenticated } from '../transaction/authenticator.ts'
import { cancelOf } from '../transaction/client-transaction.ts'
import { GIVE_UP_MS } from '../transaction/timers.ts'
import type { Flow } from '../transport/flow.ts'
import type { ContactName, Presence } from '../trunk/presence.ts'
import { type Ending, endingOf, reasonHeader } from './outcome.ts'

/** Answers that only ask for another session interval. */
const MAX_INTERVALS = 2
/** Of a fork. */
const MAX_BRANCHES = 32
const CANCELED: Ending = { status: 487, reason: '', ours: 'canceled' }
const SILENT: Ending = { status: 0, reason: '', ours: 'silent' }
/** A trunk that sends only 183 may ring already; a 183 that lasts so long is taken for ringing. */
const PROGRESS_IS_RINGING_MS = 4_000

interface OutboundEvents {
  ringing(): void
  /** Makes a leg: at early media, or else at the answer. */
  leg(agreement: Agreement): RtpLeg
  /** Answered: the call belongs to this leg. */
  answered(leg: RtpLeg): void
  /** Status 0: there was no answer at all, or `reason` says why we ended it. `rang`: the callee was alerted. */
  failed(ending: Ending, rang: boolean): void
  /** What is known of the call, whenever more is. */
  carrier?(figures: CarrierFigures): void
}

interface OutboundOptions {
  presence: Presence
  contact?: ContactName | undefined
  /** Proxies the call is to be led over, as Route has them. */
  routes?: readonly string[]
  flow: Flow
  media: CallMedia
  authenticator: Authenticator | undefined
  allows(address: string): boolean
  /** From the first sign that the call was taken. */
  ringTimeoutMs: number
  /** How long the other side may take to say anything at all. */
  silenceMs: number
  /** The media go on as they are until the call is answered. */
  keepsMedia?: boolean
  /** Calls on behalf of the other side, once it is answered. */
  lead?(dialog: Dialog, leg: RtpLeg): Lead
  context: CallContext
  events: OutboundEvents
}

/** A call that we place, from its INVITE to its answer. */
export class OutboundCall {
  readonly #options: OutboundOptions
  readonly callId: string
  readonly #localTag: string
  #sequence: number
  #intervalS = SESSION_EXPIRES_S
  #minSe = MIN_SE_S
  #intervals = 0
  #sending: Sending | undefined
  /** Dialogs that provisional answers opened, by their tag: PRACK counts their CSeq. */
  readonly #early = new Map<string, EarlyDialog>()
  /** What each branch of a fork agreed to before it was answered, by its tag. */
  readonly #earlyAnswers = new Map<string, Agreement>()
  /** Branches that changed it since: their 2xx only repeats what it was first. */
  readonly #updated = new Set<string>()
  /** Carries the media of the branch that spoke last before the answer. */
  #leg: RtpLeg | undefined
  /** The last RSeq of each of them that was in order. */
  readonly #provisionals = new Map<string, number>()
  #session: EstablishedDialog | undefined
  /** Of the answers, by their tags. */
  readonly #dialogs = new Map<string, Dialog>()
  /** By their tags: a 2xx that comes again gets its ACK again. */
  readonly #acks = new Map<string, Buffer>()
  #hungUp = false
  /** Why we did. */
  #why: string | undefined
  #reported = false
  /** The call was received, at least by a proxy. */
  #taken = false
  #rang = false
  #alertedAtMs: number | undefined
  #progressAtMs: number | undefined
  readonly #startedMs: number
  #stopWaiting: () => void = () => undefined

  constructor(options: OutboundOptions) {
    const { context } = options
    this.#options = options
    this.callId = context.token()
    this.#localTag = context.token()
    this.#sequence = 1 + (context.random.bits(16) >> 1)
    this.#startedMs = context.clock.monotonicMs()
    this.#stopWaiting = context.timers.after(options.silenceMs, () => this.#silent())
    options.events.carrier?.({ callId: this.callId })
    this.#invite()
  }

  #invite(): void {
    const { context, authenticator, flow } = this.#options
    this.#sending = sendAuthenticated(context.transactions, authenticator, flow, (extra) => this.#make(extra), {
      provisional: (response) => this.#provisional(response),
      final: (response) => this.#final(response),
      failed: () => this.#fail(SILENT),
    })
  }

  #make(extra: readonly SipHeader[]): OutgoingRequest {
    const { presence, contact, routes = [], flow, media } = this.#options
    const { target, from, headers: own } = presence
    const headers = [
      ...routes.map((value) => ({ name: 'route', value })),
      MAX_FORWARDS,
      { name: 'from', value: `${from};tag=${this.#localTag}` },
      { name: 'to', value: `<${target}>` },
      { name: 'call-id', value: this.callId },
      { name: 'cseq', value: `${++this.#sequence} INVITE` },
      contactOf(flow, contact),
      ALLOW,
      SUPPORTED,
      { name: 'session-expires', value: String(this.#intervalS) },
      { name: 'min-se', value: String(this.#minSe) },
      USER_AGENT,
      SDP_TYPE,
      ...own,
      ...extra,
    ]
    return { method: 'INVITE', uri: target, headers, body: media.offer() }
  }

  #provisional(response: SipResponse): void {
    if (this.#hungUp) {
      this.#cancel()
      return
    }
    if (!this.#taken && !this.#reported) {
      this.#taken = true
      this.#stopWaiting()
      this.#stopWaiting = this.#options.context.timers.after(this.#options.ringTimeoutMs, () => this.#ringTimeout())
    }
    if (response.status === 100) return
    this.#signOfLife()
    this.#alerts(response.status)
    const tag = response.to.params.get('tag')
    const request = this.#sending?.current?.request
    if (tag !== undefined && request !== undefined && (this.#early.has(tag) || this.#early.size < MAX_BRANCHES)) {
      const { dialog } = this.#earlyDialog(response, tag, request)
      this.#earlyMedia(response, tag)
      if (tokensOf(response, 'require').includes('100rel')) this.#acknowledge(response, tag, dialog)
    }
    if (response.status <= 183) this.#options.events.ringing()
  }

  #earlyDialog(response: SipResponse, tag: string, request: OutgoingRequest): EarlyDialog {
    const known = this.#early.get(tag)
    if (known !== undefined) return known
    const { media, contact, context } = this.#options
    const early = new EarlyDialog({
      dialog: Dialog.ofAnswer(request, response),
      ...{ media, contact },
      isAgreed: () => this.#earlyAnswers.has(tag),
      updated: (agreement) => {
        this.#earlyAnswers.set(tag, agreement)
        this.#updated.add(tag)
        this.#hearEarly(agreement)
      },
    })
    this.#early.set(tag, early)
    context.opened(early)
    return early
  }

  /** Nothing rings any more. */
  #closeEarly(): void {
    for (const early of this.#early.values()) this.#options.context.closed(early)
  }

  /** Only a reliable answer to our offer counts (RFC 3262); of one who says it just once it is better than nothing. */
  #earlyMedia(response: SipResponse, tag: string): void {
    if (this.#updated.has(tag)) return
    try {
      const answer = descriptionOf(response)
      if (answer === undefined) return
      const agreement = this.#options.media.complete(answer)
      this.#earlyAnswers.set(tag, agreement)
      this.#hearEarly(agreement)
    } catch (error) {
      // The final answer says it again, and decides.
      if (!(error instanceof MediaRefused)) throw error
    }
  }

  /** Media flow both ways from now on (early media): so that NATs and firewalls are open before the answer. */
  #hearEarly(agreement: Agreement): void {
    if (this.#reported || this.#hungUp || this.#options.keepsMedia) return
    this.#legOf(agreement).ring()
  }

  /** The leg with these terms; one of another sampling rate makes place for it. */
  #legOf(agreement: Agreement): RtpLeg {
    const leg = this.#leg
    if (leg?.suits(agreement.codec)) {
      leg.renegotiated(agreement)
      return leg
    }
    leg?.abandon()
    this.#leg = this.#options.events.leg(agreement)
    return this.#leg
  }

  /** The first word from beyond the trunk ends the post-dial delay. */
  #signOfLife(): void {
    if (this.#rang) return
    this.#rang = true
    const { context, events } = this.#options
    events.carrier?.({ pddMs: Math.round(context.clock.monotonicMs() - this.#startedMs) })
  }

  /** 180 says that the phone rings; 183 alone that something is heard, which may be ringing (RFC 3261, section 21.1). */
  #alerts(status: number): void {
    const nowMs = this.#options.context.clock.monotonicMs()
    if (status === 180) this.#alertedAtMs ??= nowMs
    else if (status === 183) this.#progressAtMs ??= nowMs
  }

  /** How long the phone has rung; undefined: nothing says that it did. */
  get #rangMs(): number | undefined {
    const nowMs = this.#options.context.clock.monotonicMs()
    if (this.#alertedAtMs !== undefined) return nowMs - this.#alertedAtMs
    const heardMs = this.#progressAtMs === undefined ? 0 : nowMs - this.#progressAtMs
    return heardMs >= PROGRESS_IS_RINGING_MS ? heardMs : undefined
  }

  /** PRACK (RFC 3262): the other side repeats the answer until it knows that we have it. */
  #acknowledge(response: SipResponse, tag: string, dialog: Dialog): void {
    const text = headerOf(response, 'rseq') ?? ''
    if (!/^\d{1,10}$/.test(text)) return
    const number = Number(text)
    const last = this.#provisionals.get(tag)
    // One that comes again has its PRACK; one that comes too early is sent again (section 4).
    if (last !== undefined && number !== last + 1) return
    this.#provisionals.set(tag, number)
    const { context, flow, allows, authenticator } = this.#options
    const ignore = (): void => undefined
    const rack = { name: 'rack', value: `${number} ${response.cseq.number} ${response.cseq.method}` }
    sendAuthenticated(
      context.transactions,
      authenticator,
      context.flowFor(dialog.nextHop, flow, allows),
      (extra) => dialog.request('PRACK', [rack, ...extra]),
      { final: ignore, failed: ignore },
    )
  }

  #final(response: SipResponse): void {
    if (response.status < 300) {
      this.#accepted(response)
      return
    }
    if (response.status === 422 && this.#intervals++ < MAX_INTERVALS && !this.#hungUp) {
      this.#minSe = Math.min(Math.max(parseMinSe(response) ?? MIN_SE_S, this.#minSe), MAX_SE_S)
      this.#intervalS = Math.max(this.#intervalS, this.#minSe)
      this.#invite()
      return
    }
    this.#fail(endingOf(response, this.#rangMs))
  }

  #accepted(response: SipResponse): void {
    const { context, media, events, allows, authenticator, contact, flow } = this.#options
    const tag = response.to.params.get('tag') ?? ''
    const request = this.#sending?.current?.request
    if (request === undefined) return
    const dialog = this.#dialogs.get(tag) ?? this.#early.get(tag)?.dialog ?? Dialog.ofAnswer(request, response)
    this.#dialogs.set(tag, dialog)
    const known = this.#acks.get(tag)
    if (known === undefined) dialog.confirmed(response)
    const way = context.flowFor(dialog.nextHop, flow, allows)
    const ack = known ?? context.transactions.ackBytes(dialog.ack(response.cseq.number, credentialsOf(request)), way)
    this.#acks.set(tag, ack)
    way.send(ack)
    if (known !== undefined) return
    // Another branch of a fork, or one who was quicker than our CANCEL: goodbye (RFC 3261, section 13.2.2.4).
    if (this.#acks.size > 1 || this.#hungUp || this.#reported) {
      this.#goodbye(dialog, way, this.#acks.size > 1 ? 'answered_elsewhere' : undefined)
      if (this.#hungUp) this.#fail(CANCELED)
      return
    }
    this.#stopWaiting()
    this.#signOfLife()
    try {
      const answer = this.#updated.has(tag) ? undefined : descriptionOf(response)
      const agreement = answer === undefined ? this.#earlyAnswers.get(tag) : media.complete(answer)
      if (agreement === undefined) throw new MediaRefused(488, 'The answer has no session description')
      this.#reported = true
      this.#closeEarly()
      const leg = this.#legOf(agreement)
      events.answered(leg)
      const session = new EstablishedDialog({
        ...{ dialog, flow, media, leg, authenticator, contact, allows, context },
        weCalled: true,
        lead: this.#options.lead?.(dialog, leg),
      })
      this.#session = session
      session.agreed(response, termsAsClient(response))
      leg.connect()
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error
      this.#goodbye(dialog, way, 'no_codec')
      this.#fail({ status: 488, reason: error.message })
    }
  }

  #goodbye(dialog: Dialog, way: Flow, reason: string | undefined): void {
    const ignore = (): void => undefined
    const { context, authenticator } = this.#options
    const why = reasonHeader(reason)
    const make = (extra: readonly SipHeader[]): OutgoingRequest => dialog.request('BYE', [why, ...extra])
    sendAuthenticated(context.transactions, authenticator, way, make, { final: ignore, failed: ignore })
  }

  /** Ends the call in any state. */
  hangUp(reason?: string): void {
    if (this.#session !== undefined) {
      this.#session.hangUp(reason)
      return
    }
    if (this.#hungUp || this.#reported) return
    this.#hungUp = true
    this.#why = reason
    this.#stopWaiting()
    this.#cancel()
    // A peer that never confirms the CANCEL must not keep the call.
    this.#stopWaiting = this.#options.context.timers.after(GIVE_UP_MS, () => this.#fail(CANCELED))
  }

  #ringTimeout(): void {
    if (this.#reported || this.#hungUp) return
    this.hangUp('no_answer')
    // No phone rang: the trunk took the call and lost it.
    if (this.#rang) this.#fail({ status: 480, reason: '', ours: 'ring_timeout' })
    else this.#fail({ status: 0, reason: '', ours: 'stalled' })
  }

  /** No provisional response at all: the target is unreachable. A later answer is hung up on. */
  #silent(): void {
    if (this.#reported || this.#hungUp) return
    this.hangUp()
    this.#fail(SILENT)
  }

  #cancel(): void {
    const sending = this.#sending
    const current = sending?.current
    // Nothing has left yet.
    if (sending !== undefined && current === undefined) sending.isStopped = true
    // CANCEL must wait for a provisional response (section 9.1); the first one returns here.
    if (current?.isProceeding !== true || this.#canceling === current) return
    this.#canceling = current
    const ignore = (): void => undefined
    const { context } = this.#options
    const cancel = cancelOf(current.request, [reasonHeader(this.#why)])
    context.transactions.sendCancel(cancel, sending?.flow ?? this.#options.flow, { final: ignore, failed: ignore })
    current.canceled()
  }
  #canceling: Sending['current']

  #fail(ending: Ending): void {
    this.#stopWaiting()
    if (this.#reported) return
    this.#reported = true
    this.#closeEarly()
    this.#leg?.abandon()
    this.#options.events.failed(ending, this.#rang)
  }

  transfer(target: string): Promise<Referral> {
    return this.#session?.transfer(target) ?? Promise.resolve('failed')
  }
}

/** What proved who we are in an INVITE proves it in its ACK (section 13.2.2.4). */
function credentialsOf(invite: OutgoingRequest): SipHeader[] {
  return invite.headers.filter(({ name }) => name === 'authorization' || name === 'proxy-authorization')
}
