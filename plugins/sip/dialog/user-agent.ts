import { inBackground } from '../../../runtime/lib/async/boundary.ts'
import { InboundCall } from '../call/inbound-call.ts'
import { headerOf, type SipRequest, tokensOf } from '../message/message.ts'
import { serializeResponse } from '../message/serializer.ts'
import type { ExtensionTable } from '../registrar/extension-table.ts'
import type { Registrar } from '../registrar/registrar.ts'
import type { Challenger } from '../transaction/challenger.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import { responseTo } from '../transaction/server-transaction.ts'
import type { TransactionUser } from '../transaction/transactions.ts'
import type { Flow } from '../transport/flow.ts'
import type { Gatekeeper } from '../transport/gatekeeper.ts'
import type { ActiveTrunk, TrunkTable } from '../trunk/trunk-table.ts'
import { ALLOW, type CallContext, type DialogSession, SUPPORTED } from './context.ts'
import { replacedBy } from './replaces.ts'
import { MIN_SE_S, termsAsServer } from './session-timer.ts'

/** Extensions that a request may insist on. */
const UNDERSTOOD: ReadonlySet<string> = new Set(['100rel', 'timer', 'replaces'])
/** Those a REGISTER may. */
const MET_BY_REGISTRAR: ReadonlySet<string> = new Set(['path', 'outbound', 'gruu'])
const KNOWN_METHODS: ReadonlySet<string> = new Set(ALLOW.value.split(', '))
/** Known methods that are not allowed outside of a call. */
const NOT_ALLOWED: ReadonlySet<string> = new Set(['REGISTER', 'SUBSCRIBE', 'PUBLISH', 'MESSAGE', 'REFER'])

export interface UserAgentOptions {
  gatekeeper: Gatekeeper
  trunks: TrunkTable
  extensions: ExtensionTable
  registrar: () => Registrar
  challenger: Challenger
  context: () => CallContext
  /** A call that may come in, over one of these trunks. */
  invited(call: InboundCall, trunks: readonly ActiveTrunk[]): void
}

/** The user agent server (RFC 3261, section 8.2 and 13.3): every request finds its dialog, or is a new call, or is refused. */
export class UserAgent implements TransactionUser {
  readonly #options: UserAgentOptions
  readonly #dialogs = new Map<string, { receive(transaction: ServerTransaction): void }>()
  readonly #sessions = new Map<string, DialogSession>()
  readonly #pending = new Map<ServerTransaction, InboundCall>()
  /** The key of a call in `#pending`, independent of transport. */
  readonly #merging = new Set<string>()

  constructor(options: UserAgentOptions) {
    this.#options = options
  }

  opened(session: DialogSession): void {
    const key = keyOf(session.dialog)
    this.#sessions.set(key, session)
    this.#dialogs.set(key, session)
  }

  closed(session: DialogSession): void {
    const key = keyOf(session.dialog)
    // The dialog of a call that rang may be that of its answer by now.
    if (this.#sessions.get(key) === session) this.#sessions.delete(key)
    if (this.#dialogs.get(key) === session) this.#dialogs.delete(key)
  }

  request(transaction: ServerTransaction): void {
    const { request, flow } = transaction
    const { gatekeeper } = this.#options
    if (gatekeeper.isScanner(headerOf(request, 'user-agent'), flow.address)) {
      transaction.abandon()
      return
    }
    const dialog = this.#dialogs.get(keyOf(dialogOf(request)))
    if (dialog !== undefined) {
      if (!refusesExtension(transaction)) dialog.receive(transaction)
    } else if (request.to.params.has('tag')) transaction.respond(481)
    else if (request.method === 'INVITE') this.#invite(transaction)
    else if (request.method === 'REGISTER' && !this.#options.extensions.isEmpty) {
      if (!refusesExtension(transaction, MET_BY_REGISTRAR)) this.#options.registrar().receive(transaction)
    } else this.#outside(transaction)
  }

  /** A request outside of any dialog that begins none. */
  #outside(transaction: ServerTransaction): void {
    const { request, flow } = transaction
    const { gatekeeper } = this.#options
    if (!gatekeeper.isKnown(flow.address) && !gatekeeper.isProven(flow.address)) {
      gatekeeper.refuse('unknown_source', flow.address, `${request.method} from an address of no trunk`)
      transaction.abandon()
      return
    }
    const headers = [ALLOW, SUPPORTED, { name: 'accept', value: 'application/sdp' }]
    if (NOT_ALLOWED.has(request.method)) transaction.respond(405, { headers })
    else if (!KNOWN_METHODS.has(request.method)) {
      transaction.respond(501, { headers })
    } else if (!refusesExtension(transaction))
      transaction.respond(request.method === 'OPTIONS' ? 200 : 481, { headers })
  }

  #invite(transaction: ServerTransaction): void {
    const { request } = transaction
    const trunks = this.#identify(transaction)
    if (trunks === undefined || refusesExtension(transaction)) return
    if (!['sip', 'sips', 'tel'].includes(request.uri.scheme)) transaction.respond(416)
    else if (this.#isMerged(request)) transaction.respond(482)
    else if (termsAsServer(request) === 'too_short') {
      transaction.respond(422, { headers: [{ name: 'min-se', value: String(MIN_SE_S) }] })
    } else if (request.headers.some(({ name }) => name === 'replaces')) this.#replace(transaction)
    else {
      transaction.respond(100)
      const call = new InboundCall(transaction, this.#options.context())
      const key = keyOf({ ...dialogOf(request), localTag: transaction.toTag })
      const merging = mergeKeyOf(request)
      this.#pending.set(transaction, call)
      this.#merging.add(merging)
      this.#dialogs.set(key, call)
      const settled = call.settled.finally(() => {
        this.#pending.delete(transaction)
        this.#merging.delete(merging)
        if (this.#dialogs.get(key) === call) this.#dialogs.delete(key)
      })
      inBackground('sip', settled)
      this.#options.invited(call, trunks)
    }
  }

  /** A call that takes another's place: an attended transfer (RFC 3891, section 3). */
  #replace(transaction: ServerTransaction): void {
    const replaced = replacedBy(transaction.request)
    if (replaced === undefined || replaced === 'bad') {
      transaction.respond(400)
      return
    }
    const session = this.#sessions.get(keyOf(replaced))
    if (session?.replacedBy === undefined) transaction.respond(481)
    else if (replaced.earlyOnly) transaction.respond(486)
    else session.replacedBy(transaction)
  }

  /** The same call over two ways (section 8.2.2.2). */
  #isMerged(request: SipRequest): boolean {
    return this.#merging.has(mergeKeyOf(request))
  }

  /** The trunks a call may have come over; undefined when it was refused or challenged. */
  #identify(transaction: ServerTransaction): readonly ActiveTrunk[] | undefined {
    const { request, flow } = transaction
    const { trunks, challenger, gatekeeper, extensions, registrar } = this.#options
    // Extensions prove themselves wherever they call from.
    if (extensions.withUsername(request.from.uri.user) !== undefined) {
      const extension = registrar().prove(transaction, request.from.uri.user)
      return extension && [extension.active]
    }
    // Whose call it is by its password, it is from wherever it comes: another trunk's list says nothing of it.
    const claimed = challenger.claimed(request)
    const known = claimed !== undefined && trunks.withUsername(claimed).length > 0 ? [] : trunks.from(flow.address)
    if (known.length > 0) return known
    if (!trunks.takesStrangers && extensions.isEmpty) {
      gatekeeper.refuse('unknown_source', flow.address, 'An INVITE from an address whose calls no trunk takes')
      transaction.abandon()
      return undefined
    }
    if (!gatekeeper.admitsProof(flow.address)) {
      transaction.abandon()
      return undefined
    }
    const passwords = (username: string): string[] =>
      trunks.withUsername(username).map(({ trunk }) => trunk.password ?? '')
    const proof = challenger.check(request, passwords)
    switch (proof.verdict) {
      case 'proven':
        gatekeeper.proved(flow.address, proof.username)
        return trunks.withUsername(proof.username).slice(proof.index, proof.index + 1)
      case 'wrong':
        gatekeeper.refuse('wrong_credentials', flow.address, 'The username or password is wrong', {
          username: proof.username?.slice(0, 60),
        })
        gatekeeper.guessed(flow.address, proof.username ?? '')
        transaction.respond(403)
        return undefined
      default:
        transaction.respond(401, { headers: challenger.challenge(proof.verdict === 'stale') })
        return undefined
    }
  }

  /**
   * Asks a caller for a password whose address is in a trunk's list, though the number dialled is another trunk's. False: it
   * gave one, or no trunk is called by password.
   */
  challenge(transaction: ServerTransaction): boolean {
    const { trunks, challenger, gatekeeper } = this.#options
    const { request, flow } = transaction
    if (!trunks.takesStrangers || headerOf(request, 'authorization') !== undefined) return false
    if (gatekeeper.admitsProof(flow.address)) transaction.respond(401, { headers: challenger.challenge(false) })
    else transaction.abandon()
    return true
  }

  ack(request: SipRequest): void {
    this.#sessions.get(keyOf(dialogOf(request)))?.acknowledged(request)
  }

  cancel(invite: ServerTransaction): void {
    this.#pending.get(invite)?.cancel()
  }

  /** A flood of calls over a trunk is answered without a transaction, whose answer would be repeated for half a minute. */
  admits(request: SipRequest, flow: Flow): boolean {
    if (request.method !== 'INVITE' || request.to.params.has('tag')) return true
    const trunks = this.#options.trunks.from(flow.address)
    const nowMs = this.#options.context().clock.monotonicMs()
    if (trunks.length === 0 || trunks.some((active) => active.admitsInvite(nowMs))) return true
    this.#options.gatekeeper.refuse('trunk_rate', flow.address, 'More calls a second than the trunk takes')
    this.#unavailable(request, flow)
    return false
  }

  overloaded(request: SipRequest, flow: Flow): void {
    this.#options.gatekeeper.refuse('overloaded', flow.address, 'Too many transactions at once')
    this.#unavailable(request, flow)
  }

  #unavailable(request: SipRequest, flow: Flow): void {
    const headers = [{ name: 'retry-after', value: '10' }]
    flow.send(serializeResponse(responseTo(request, flow, 503, 'overloaded', { headers })))
  }
}

/** Names what the request insists on and we lack (section 8.2.2.3). False: it may be dealt with. */
function refusesExtension(transaction: ServerTransaction, understood = UNDERSTOOD): boolean {
  const unknown = tokensOf(transaction.request, 'require').filter((token) => !understood.has(token))
  if (unknown.length === 0) return false
  transaction.respond(420, { headers: [{ name: 'unsupported', value: unknown.join(', ') }] })
  return true
}

/** What names a dialog (RFC 3261, section 12). */
interface DialogId {
  callId: string
  localTag: string
  remoteTag: string
}

/** The dialog that a request names. */
function dialogOf({ callId, to, from }: SipRequest): DialogId {
  return { callId, localTag: to.params.get('tag') ?? '', remoteTag: from.params.get('tag') ?? '' }
}

function mergeKeyOf({ callId, cseq, from }: SipRequest): string {
  return `${callId} ${cseq.number} ${from.params.get('tag')}`
}

function keyOf({ callId, localTag, remoteTag }: DialogId): string {
  return `${callId} ${localTag} ${remoteTag}`
}
