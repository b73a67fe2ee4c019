import type { Clock } from '../../../runtime/lib/clock.ts'
import type { Binding } from '../../../runtime/plugin-sdk/telephony/extension.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { contactOf, USER_AGENT } from '../dialog/context.ts'
import { MAX_FORWARDS } from '../dialog/dialog.ts'
import { headerOf, type NameAddress, type SipRequest } from '../message/message.ts'
import type { Challenger } from '../transaction/challenger.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import type { Timers } from '../transaction/timers.ts'
import type { Transactions } from '../transaction/transactions.ts'
import type { Flow } from '../transport/flow.ts'
import type { Gatekeeper } from '../transport/gatekeeper.ts'
import type { ExtensionTable, KnownExtension } from './extension-table.ts'

const DEFAULT_EXPIRES_S = 300
const MAX_EXPIRES_S = 3_600
const MIN_EXPIRES_S = 60
/** A refresh may be a little late. */
const GRACE_MS = 5_000
/** Phones of one extension; beyond, the one that registered first is forgotten. */
const MAX_PHONES = 8
/** Phones in use give up on a challenge they don't know, though another stands beside it. */
const FOR_PHONES = ['MD5'] as const
/** Asks phones over UDP whether they are there; that keeps the way through their routers open. */
const KEEP_ALIVE_MS = 30_000

/** A phone that is registered with this node. */
interface Registered extends Binding {
  /** The way its registration came. */
  readonly flow: Flow
}

interface Entry extends Registered {
  readonly key: string
  readonly callId: string
  readonly sequence: number
  readonly release: () => void
}

interface RegistrarOptions {
  table: ExtensionTable
  challenger: Challenger
  gatekeeper: Gatekeeper
  transactions: Transactions
  clock: Clock
  timers: Timers
  log: Logger
  token(): string
  /** The phones of an extension are these from now on. */
  changed(extensionId: string, bindings: readonly Binding[]): void
}

/** Takes registrations of softphones (RFC 3261, section 10.3): each proves by digest who it is. */
export class Registrar {
  readonly #options: RegistrarOptions
  readonly #phones = new Map<string, Entry[]>()

  constructor(options: RegistrarOptions) {
    this.#options = options
  }

  /** Phones of this node, the newest first. */
  phones(extensionId: string): readonly Registered[] {
    return [...(this.#phones.get(extensionId) ?? [])].reverse()
  }

  /** Answers a REGISTER. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    const known = this.prove(transaction, request.to.uri.user)
    if (known === undefined) return
    const all = headerOf(request, 'contact') === '*'
    if (all && headerOf(request, 'expires') !== '0') {
      transaction.respond(400)
      return
    }
    const { id } = known.extension
    const before = this.#phones.get(id) ?? []
    const wishes = request.contacts.map((contact) => ({ contact, expiresS: expiresOf(contact, request) }))
    if (wishes.some(({ expiresS }) => expiresS > 0 && expiresS < MIN_EXPIRES_S)) {
      transaction.respond(423, { headers: [{ name: 'min-expires', value: String(MIN_EXPIRES_S) }] })
      return
    }
    const isStale = (entry: Entry): boolean => entry.callId === request.callId && request.cseq.number <= entry.sequence
    if (all) {
      for (const entry of before) this.#remove(id, entry)
    } else {
      for (const { contact, expiresS } of wishes) {
        const key = keyOf(contact)
        const old = this.#phones.get(id)?.find((entry) => entry.key === key)
        if (old !== undefined && isStale(old)) {
          transaction.respond(500)
          return
        }
        if (old !== undefined) this.#remove(id, old)
        if (expiresS > 0 && contact.uri.scheme.startsWith('sip')) this.#add(id, key, contact, expiresS, transaction)
      }
    }
    if (all || wishes.length > 0) this.#tell(known, before)
    const nowMs = this.#options.clock.nowMs()
    transaction.respond(200, {
      headers: (this.#phones.get(id) ?? []).map(({ contact, expiresAtMs }) => ({
        name: 'contact',
        value: `<${contact}>;expires=${Math.max(0, Math.round((expiresAtMs - nowMs) / 1_000))}`,
      })),
    })
  }

  /** The extension that sent the request and says it is `username`; undefined: it was challenged or refused. */
  prove(transaction: ServerTransaction, username: string | undefined): KnownExtension | undefined {
    const { table, challenger, gatekeeper } = this.#options
    const { request, flow } = transaction
    if (!gatekeeper.admitsProof(flow.address)) {
      transaction.abandon()
      return undefined
    }
    const proof = challenger.check(request, (name) => {
      const password = table.withUsername(name)?.extension.password
      return password === undefined ? [] : [password]
    })
    const known = proof.verdict === 'proven' ? table.withUsername(proof.username) : undefined
    // One extension may not speak for another.
    if (known !== undefined && known.extension.username === username) {
      gatekeeper.proved(flow.address, username)
      return known
    }
    if (proof.verdict === 'missing' || proof.verdict === 'stale') {
      transaction.respond(401, { headers: challenger.challenge(proof.verdict === 'stale', FOR_PHONES) })
      return undefined
    }
    gatekeeper.refuse('wrong_credentials', flow.address, 'The username or password of an extension is wrong', {
      username: (username ?? '').slice(0, 60),
    })
    gatekeeper.guessed(flow.address, username ?? '')
    transaction.respond(403)
    return undefined
  }

  /** A connection is gone, and with it the phones it led to. */
  lost(protocol: string, address: string, port: number): void {
    for (const [id, entries] of this.#phones) {
      for (const entry of entries) {
        if (entry.protocol === protocol && entry.address === address && entry.port === port) this.#drop(id, entry)
      }
    }
  }

  /** Extensions that are no more, or have another password, have no phones. */
  forget(isStill: (extensionId: string) => boolean): void {
    for (const [id, entries] of this.#phones) if (!isStill(id)) for (const entry of entries) this.#drop(id, entry)
  }

  close(): void {
    for (const entries of this.#phones.values()) for (const { release } of entries) release()
    this.#phones.clear()
  }

  #add(id: string, key: string, contact: NameAddress, wishS: number, { request, flow }: ServerTransaction): void {
    const { timers, clock } = this.#options
    const expiresS = Math.min(wishS, MAX_EXPIRES_S)
    const releases: (() => void)[] = []
    const entry: Entry = {
      ...{ key, callId: request.callId, sequence: request.cseq.number, flow },
      ...{ contact: contact.uri.text, protocol: flow.protocol, address: flow.address, port: flow.port },
      expiresAtMs: clock.nowMs() + expiresS * 1_000,
      userAgent: headerOf(request, 'user-agent')?.slice(0, 80),
      release: () => {
        for (const release of releases) release()
      },
    }
    releases.push(timers.after(expiresS * 1_000 + GRACE_MS, () => this.#drop(id, entry)))
    if (flow.protocol === 'udp') releases.push(this.#keepAlive(id, entry))
    const entries = this.#phones.get(id) ?? []
    const [first] = entries
    if (first !== undefined && entries.length >= MAX_PHONES) this.#remove(id, first)
    this.#phones.set(id, [...(this.#phones.get(id) ?? []), entry])
  }

  #keepAlive(id: string, entry: Entry): () => void {
    const { timers, transactions, token } = this.#options
    let over = false
    let cancel: () => void = () => undefined
    const ask = (): void => {
      const us = `<sip:${entry.flow.local.host}:${entry.flow.local.port}>`
      const headers = [
        MAX_FORWARDS,
        { name: 'from', value: `${us};tag=${token()}` },
        { name: 'to', value: `<${entry.contact}>` },
        { name: 'call-id', value: token() },
        { name: 'cseq', value: '1 OPTIONS' },
        contactOf(entry.flow),
        USER_AGENT,
      ]
      const again = (): void => {
        if (!over) cancel = timers.after(KEEP_ALIVE_MS, ask)
      }
      // A phone that says nothing is gone, however long it wanted to be kept.
      const failed = (): void => {
        if (!over) this.#drop(id, entry)
      }
      transactions.send({ method: 'OPTIONS', uri: entry.contact, headers }, entry.flow, { final: again, failed })
    }
    cancel = timers.after(KEEP_ALIVE_MS, ask)
    return () => {
      over = true
      cancel()
    }
  }

  #remove(id: string, entry: Entry): void {
    entry.release()
    const left = (this.#phones.get(id) ?? []).filter((one) => one !== entry)
    if (left.length === 0) this.#phones.delete(id)
    else this.#phones.set(id, left)
  }

  #drop(id: string, entry: Entry): void {
    if (!this.#phones.get(id)?.includes(entry)) return
    this.#remove(id, entry)
    this.#options.log.info({ extension: id, contact: entry.contact }, 'A phone is no longer registered')
    this.#options.changed(id, this.#bindings(id))
  }

  #tell({ extension }: KnownExtension, before: readonly Entry[]): void {
    const now = this.#phones.get(extension.id) ?? []
    const names = (entries: readonly Entry[]): string => entries.map(({ key }) => key).join(' ')
    if (names(before) !== names(now)) {
      this.#options.log.info({ extension: extension.name, phones: now.length }, 'Phones of an extension')
    }
    this.#options.changed(extension.id, this.#bindings(extension.id))
  }

  #bindings(id: string): Binding[] {
    return (this.#phones.get(id) ?? []).map(({ contact, protocol, address, port, expiresAtMs, userAgent }) => {
      return { contact, protocol, address, port, expiresAtMs, userAgent }
    })
  }
}

/** A phone keeps its identity across addresses (RFC 5626, section 4.1). */
function keyOf({ uri, params }: NameAddress): string {
  const instance = params.get('+sip.instance')
  return instance === undefined ? uri.text : `${instance} ${params.get('reg-id') ?? ''}`
}

function expiresOf({ params }: NameAddress, request: SipRequest): number {
  const text = params.get('expires') ?? headerOf(request, 'expires') ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : DEFAULT_EXPIRES_S
}
