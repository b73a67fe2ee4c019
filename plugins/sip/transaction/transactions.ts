import { networkOf } from '../../../runtime/lib/address-range.ts'
import type { OutgoingRequest, SipHeader, SipMessage, SipRequest } from '../message/message.ts'
import { formatHost, serializeRequest } from '../message/serializer.ts'
import type { Flow } from '../transport/flow.ts'
import { type ClientEvents, ClientTransaction } from './client-transaction.ts'
import { ServerTransaction } from './server-transaction.ts'
import type { Timers } from './timers.ts'

/** A flood must not fill the memory; 20,000 is over 300 calls beginning and ending every second. */
const MAX_TRANSACTIONS = 20_000
const MAGIC = 'z9hG4bK'

/** An owner of transactions, limited to `most` times the free ones, so that there is always room for others. */
export interface Share {
  readonly key: string
  readonly most: number
}

/** Receives new requests for the user agent. */
export interface TransactionUser {
  /** False: a new request is answered already, at once and without a transaction. */
  admits(request: SipRequest, flow: Flow): boolean
  request(transaction: ServerTransaction): void
  /** The ACK of a 2xx: it has no transaction. */
  ack(request: SipRequest, flow: Flow): void
  /** `invite` is what is to be canceled; the CANCEL itself is answered already. */
  cancel(invite: ServerTransaction): void
  /** More transactions than this process bears: the request was dropped. */
  overloaded(request: SipRequest, flow: Flow): void
}

/** Matches messages to transactions (RFC 3261, sections 17.1.3 and 17.2.3). */
export class Transactions {
  readonly #timers: Timers
  readonly #token: () => string
  readonly #user: TransactionUser
  readonly #clients = new Map<string, ClientTransaction>()
  readonly #servers = new Map<string, ServerTransaction>()
  readonly #sharesOf: (flow: Flow) => readonly Share[]
  /** Requests of the other side that are not over, by share. */
  readonly #held = new Map<string, number>()

  /**
   * @param token makes an unguessable text, for branches
   * @param sharesOf whose part of the transactions a request takes
   */
  constructor(
    timers: Timers,
    token: () => string,
    user: TransactionUser,
    sharesOf: (flow: Flow) => readonly Share[] = ({ address }) => [{ key: networkOf(address), most: 1 }],
  ) {
    this.#timers = timers
    this.#token = token
    this.#user = user
    this.#sharesOf = sharesOf
  }

  get size(): number {
    return this.#clients.size + this.#servers.size
  }

  /** Sends a request with a Via of its own. */
  send(request: OutgoingRequest, flow: Flow, events: ClientEvents): ClientTransaction {
    const branch = `${MAGIC}${this.#token()}`
    return this.#start({ ...request, headers: [viaOf(flow, branch), ...request.headers] }, branch, flow, events)
  }

  /** Sends a CANCEL: it has the Via of what it cancels. */
  sendCancel(cancel: OutgoingRequest, flow: Flow, events: ClientEvents): void {
    const via = cancel.headers.find(({ name }) => name === 'via')?.value ?? ''
    this.#start(cancel, /;branch=([^;]+)/.exec(via)?.[1] ?? '', flow, events)
  }

  /** An ACK of a 2xx as it is sent: it is a transaction of its own that nothing answers. */
  ackBytes(ack: OutgoingRequest, flow: Flow): Buffer {
    return serializeRequest({ ...ack, headers: [viaOf(flow, `${MAGIC}${this.#token()}`), ...ack.headers] })
  }

  #start(request: OutgoingRequest, branch: string, flow: Flow, events: ClientEvents): ClientTransaction {
    const key = `${branch} ${request.method}`
    const transaction = new ClientTransaction(request, flow, this.#timers, events, () => this.#clients.delete(key))
    if (!transaction.isOver) this.#clients.set(key, transaction)
    return transaction
  }

  receive(message: SipMessage, flow: Flow): void {
    if (message.kind === 'response') {
      // Ours has our Via and no other; anything else was sent astray (section 8.1.3.3).
      const branch = message.vias[0]?.params.get('branch')
      if (message.vias.length === 1) this.#clients.get(`${branch} ${message.cseq.method}`)?.receive(message)
      return
    }
    const known = this.#servers.get(keyOf(message, message.method === 'ACK' ? 'INVITE' : message.method))
    if (message.method === 'ACK') {
      if (known?.acknowledged() !== true) this.#user.ack(message, flow)
      return
    }
    if (known !== undefined) {
      known.repeated()
      return
    }
    if (!this.#user.admits(message, flow)) return
    const shares = this.#sharesOf(flow)
    const free = MAX_TRANSACTIONS - this.#servers.size
    if (shares.some((share) => this.#heldBy(share) >= share.most * free)) {
      this.#user.overloaded(message, flow)
      return
    }
    const key = keyOf(message, message.method)
    const canceled = message.method === 'CANCEL' ? this.#servers.get(keyOf(message, 'INVITE')) : undefined
    const toTag = canceled?.toTag ?? this.#token()
    const way = wayOfAnswers(message, flow)
    const transaction = new ServerTransaction(message, way, this.#timers, toTag, () => {
      if (this.#servers.delete(key)) this.#hold(shares, -1)
    })
    this.#servers.set(key, transaction)
    this.#hold(shares, 1)
    if (message.method === 'CANCEL') this.#cancel(transaction, canceled)
    else this.#user.request(transaction)
  }

  #heldBy({ key }: Share): number {
    return this.#held.get(key) ?? 0
  }

  #hold(shares: readonly Share[], more: 1 | -1): void {
    for (const share of shares) {
      const held = this.#heldBy(share) + more
      if (held > 0) this.#held.set(share.key, held)
      else this.#held.delete(share.key)
    }
  }

  #cancel(transaction: ServerTransaction, invite: ServerTransaction | undefined): void {
    transaction.respond(invite === undefined ? 481 : 200)
    if (invite !== undefined && !invite.isAnswered) this.#user.cancel(invite)
  }

  /** Forgets all transactions, without a word to anybody. */
  close(): void {
    for (const transaction of [...this.#clients.values(), ...this.#servers.values()]) transaction.abandon()
  }
}

/**
 * Where a request is answered (section 18.2.2, RFC 3581): where it came from, unless its sender asks for no `rport` and is no
 * NAT away. Then it may send from another port than it listens on, which Via names.
 */
function wayOfAnswers(request: SipRequest, flow: Flow): Flow {
  const via = request.vias[0]
  if (flow.at === undefined || via === undefined || via.params.has('rport') || via.host !== flow.address) return flow
  return flow.at(via.port ?? 5060)
}

/** Branch and sender, and what RFC 2543 matched by, for those who have no branch worth its name. */
function keyOf(request: SipRequest, method: string): string {
  const via = request.vias[0]
  const from = request.from.params.get('tag')
  return [via?.params.get('branch'), via?.host, via?.port, request.callId, request.cseq.number, from, method].join(' ')
}

export function viaOf(flow: Flow, branch: string): SipHeader {
  const { host, port } = flow.local
  return {
    name: 'via',
    value: `SIP/2.0/${flow.protocol.toUpperCase()} ${formatHost(host)}:${port};branch=${branch};rport`,
  }
}
