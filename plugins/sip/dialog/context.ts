import type { Clock } from '../../../runtime/lib/clock.ts'
import type { Pacer } from '../../../runtime/media/line/pacer.ts'
import type { RefusedCall } from '../../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import type { Random } from '../media/rtp-sender.ts'
import type { SipRequest, Uri } from '../message/message.ts'
import { formatHost } from '../message/serializer.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import type { Timers } from '../transaction/timers.ts'
import type { Transactions } from '../transaction/transactions.ts'
import type { Flow } from '../transport/flow.ts'
import type { ContactName } from '../trunk/presence.ts'
import type { Dialog } from './dialog.ts'

/** A call that was answered, as those see it who hand on what belongs to its dialog. */
export interface DialogSession {
  readonly dialog: Dialog
  receive(transaction: ServerTransaction): void
  acknowledged(ack: SipRequest): void
  /** Has another call take its place (RFC 3891): the transaction is answered. Absent: it can't be replaced. */
  replacedBy?(transaction: ServerTransaction): void
}

/** What calls share. */
export interface CallContext {
  readonly transactions: Transactions
  readonly timers: Timers
  readonly clock: Clock
  readonly pacer: Pacer
  readonly random: Random
  readonly log: Logger
  /** An unguessable text, for tags and branches. */
  token(): string
  /** The way to the next hop of a dialog, where `allows` lets it be reached; else the way the call came. */
  flowFor(nextHop: Uri, known: Flow, allows: (address: string) => boolean): Flow
  /** Writes down what a call of ours has said. `over`: it says no more. */
  keepMessages(callId: string, sipCallId: string, over: boolean): void
  /** Writes down a call that was turned away. */
  refused(call: RefusedCall): void
  /** From now on requests of this dialog reach the session. */
  opened(session: DialogSession): void
  closed(session: DialogSession): void
}

export const ALLOW = { name: 'allow', value: 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY, REFER' }
export const SUPPORTED = { name: 'supported', value: 'timer, 100rel, replaces' }
export const USER_AGENT = { name: 'user-agent', value: 'Patchbay' }

/** Ours, over this flow. @param name what a trunk is to know us by */
export function contactOf(flow: Flow, name?: ContactName): { name: string; value: string } {
  const host = formatHost(name?.host ?? flow.local.host)
  const transport = flow.protocol === 'udp' ? '' : `;transport=${flow.protocol}`
  return {
    name: 'contact',
    value: `<sip:${encodeURIComponent(name?.user ?? 'patchbay')}@${host}:${flow.local.port}${transport}>`,
  }
}
