import { type CallMedia, descriptionOf, MediaRefused, SDP_TYPE } from '../media/call-media.ts'
import type { Agreement } from '../media/offer-answer.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import type { ContactName } from '../trunk/presence.ts'
import { ALLOW, contactOf, type DialogSession, SUPPORTED } from './context.ts'
import type { Dialog } from './dialog.ts'

interface EarlyDialogOptions {
  dialog: Dialog
  contact: ContactName | undefined
  media: CallMedia
  /** Has our offer its answer? Before, nothing may be agreed anew (RFC 3311, section 5.2). */
  isAgreed(): boolean
  /** The other side changed what was agreed. */
  updated(agreement: Agreement): void
}

/** A call of ours that rings: what the other side may ask within the dialog of its provisional answer (RFC 3311, RFC 3262). */
export class EarlyDialog implements DialogSession {
  readonly dialog: Dialog
  readonly #options: EarlyDialogOptions

  constructor(options: EarlyDialogOptions) {
    this.#options = options
    this.dialog = options.dialog
  }

  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    if (!this.dialog.takes(request)) {
      transaction.respond(500, { headers: [{ name: 'retry-after', value: '1' }] })
      return
    }
    switch (request.method) {
      case 'UPDATE':
        this.#update(transaction)
        return
      case 'OPTIONS':
        transaction.respond(200, { headers: [ALLOW, SUPPORTED] })
        return
      case 'INFO':
        // DTMF has no receiver before the answer.
        transaction.respond(request.body.length === 0 ? 200 : 415)
        return
      case 'PRACK':
      case 'NOTIFY':
        transaction.respond(481)
        return
      default:
        // No BYE: the callee refuses the INVITE (RFC 3261, section 15).
        transaction.respond(405, { headers: [ALLOW] })
    }
  }

  #update(transaction: ServerTransaction): void {
    const { media, contact, isAgreed, updated } = this.#options
    const { request, flow } = transaction
    const headers = [contactOf(flow, contact), ALLOW, SUPPORTED]
    try {
      const offer = descriptionOf(request)
      if (offer !== undefined && !isAgreed()) {
        transaction.respond(491)
        return
      }
      const accepted = offer === undefined ? undefined : media.accept(offer)
      this.dialog.refreshTarget(request)
      if (accepted === undefined) transaction.respond(200, { headers })
      else transaction.respond(200, { headers: [...headers, SDP_TYPE], body: accepted.answer })
      if (accepted !== undefined) updated(accepted.agreement)
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error
      transaction.respond(error.status, { headers: error.headers })
    }
  }

  /** No 2xx of ours waits for an ACK here. */
  acknowledged(): void {}
}
