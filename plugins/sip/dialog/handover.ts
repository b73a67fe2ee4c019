import type { Referral } from '../media/rtp-leg.ts'
import { headerOf, type SipHeader } from '../message/message.ts'
import { reasonOf } from '../message/serializer.ts'
import type { Authenticator } from '../transaction/authenticator.ts'
import { sendAuthenticated } from '../transaction/authenticator.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import type { Flow } from '../transport/flow.ts'
import type { ContactName } from '../trunk/presence.ts'
import { type CallContext, contactOf } from './context.ts'
import type { Dialog } from './dialog.ts'
import { type Lead, referOf, type Successor } from './referral.ts'

/** How long the referring side may take to hang up. */
const GOODBYE_MS = 5_000
/** What the one who was called says: calling again from here would change nothing. */
const ANSWERS_OF_CALLEE: ReadonlySet<number> = new Set([404, 408, 410, 480, 484, 486, 487, 600, 603, 604, 607, 608])
/** How long the other side may take to say what became of a transfer. */
const TRANSFER_TIMEOUT_MS = 30_000

export interface HandoverOptions {
  dialog: Dialog
  context: CallContext
  authenticator: Authenticator | undefined
  /** What our Contact names. */
  contact: ContactName | undefined
  /** Calls on behalf of the other side; absent: REFER is refused. */
  lead: Lead | undefined
  flow(): Flow
  isOver(): boolean
  /** The call was taken over already. */
  isTaken(): boolean
  /** The call is taken over from now on. */
  taken(by: Successor): void
  /** Hangs up. */
  leave(): void
}

/** Leads a call elsewhere, at our wish or at the other side's (RFC 3515). */
export class Handover {
  readonly #options: HandoverOptions
  #referred: ((sipfrag: string, isOver: boolean) => void) | undefined
  /** The other side hangs up while it transfers itself. False: it had not accepted that yet. */
  #left: (() => boolean) | undefined

  constructor(options: HandoverOptions) {
    this.#options = options
  }

  /** The other side has hung up. True: a peer that accepted the REFER and left without a NOTIFY has followed it. */
  left(): boolean {
    return this.#left?.() ?? false
  }

  /** The other side wants to be led elsewhere. A caller may not have us call others at our expense: only to take a call's place. */
  refer(transaction: ServerTransaction): void {
    const { context, lead, contact } = this.#options
    const { request, flow } = transaction
    const refer = referOf(request)
    if (refer === undefined || lead?.may(refer.target) !== true || this.#options.isTaken()) {
      context.log.warn('A transfer asked for by the other side was refused')
      transaction.respond(603)
      return
    }
    transaction.respond(202, { headers: [contactOf(flow, contact)] })
    this.#notify(100)
    const next = lead.call(refer, {
      answered: () => {
        this.#options.taken(next)
        this.#notify(200)
        // The referring side should hang up now; otherwise we do.
        context.timers.after(GOODBYE_MS, () => this.#options.isOver() || this.#options.leave())
      },
      failed: (status) => this.#notify(status),
    })
  }

  /** Tells how far the REFER is (RFC 3515, section 2.4.5). */
  #notify(status: number): void {
    if (this.#options.isOver()) return
    const { context, authenticator, dialog } = this.#options
    const state = status < 200 ? 'active;expires=60' : 'terminated;reason=noresource'
    const headers = [
      { name: 'event', value: 'refer' },
      { name: 'subscription-state', value: state },
      { name: 'content-type', value: 'message/sipfrag;version=2.0' },
    ]
    const body = Buffer.from(`SIP/2.0 ${status} ${reasonOf(status)}\r\n`)
    const make = (extra: readonly SipHeader[]) => dialog.request('NOTIFY', [...headers, ...extra], body)
    const ignore = (): void => undefined
    sendAuthenticated(context.transactions, authenticator, this.#options.flow(), make, {
      final: ignore,
      failed: ignore,
    })
  }

  /** What becomes of a REFER of ours; nothing else was subscribed to (RFC 6665, section 4.1.3). */
  notified(transaction: ServerTransaction): void {
    const { request } = transaction
    const event = headerOf(request, 'event')?.split(';')[0]?.trim().toLowerCase()
    if (event !== 'refer') transaction.respond(489, { headers: [{ name: 'allow-events', value: 'refer' }] })
    else if (this.#referred === undefined) transaction.respond(481)
    else {
      transaction.respond(200)
      const isOver = /^terminated\b/i.test(headerOf(request, 'subscription-state')?.trim() ?? '')
      this.#referred(Buffer.from(request.body).toString('latin1'), isOver)
    }
  }

  /**
   * Transfers the call by REFER (RFC 3515). Unless it was `taken`, the call continues.
   */
  transfer(target: string): Promise<Referral> {
    const { context, authenticator, contact, dialog } = this.#options
    if (this.#options.isOver() || this.#referred !== undefined) return Promise.resolve('failed')
    const { promise, resolve } = Promise.withResolvers<Referral>()
    const settle = (result: Referral): void => {
      cancel()
      this.#referred = undefined
      this.#left = undefined
      resolve(result)
    }
    const cancel = context.timers.after(TRANSFER_TIMEOUT_MS, () => settle('failed'))
    this.#referred = (sipfrag, isOver) => {
      const status = Number(/^\s*SIP\/2\.0 +(\d{3})/i.exec(sipfrag)?.[1])
      // It says no more of the transfer: the call goes on with us.
      if (Number.isNaN(status) && isOver) settle('failed')
      if (status >= 200) settle(status < 300 ? 'taken' : ANSWERS_OF_CALLEE.has(status) ? 'failed' : 'refused')
    }
    let accepted = false
    this.#left = () => {
      if (accepted) settle('taken')
      return accepted
    }
    const headers = [
      contactOf(this.#options.flow(), contact),
      { name: 'refer-to', value: `<${target}>` },
      { name: 'referred-by', value: dialog.localAddress },
    ]
    sendAuthenticated(
      context.transactions,
      authenticator,
      this.#options.flow(),
      (extra) => dialog.request('REFER', [...headers, ...extra]),
      {
        final: (response) => {
          accepted = response.status < 300
          if (!accepted) settle('refused')
        },
        failed: () => settle('failed'),
      },
    )
    return promise
  }
}
