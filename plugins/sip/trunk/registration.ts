import { createHash } from 'node:crypto'
import { inBackground } from '../../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import type { TrunkAttempt } from '../../../runtime/plugin-sdk/telephony/trunk.ts'
import { contactOf, SUPPORTED, USER_AGENT } from '../dialog/context.ts'
import { MAX_FORWARDS } from '../dialog/dialog.ts'
import { parseNameAddress, splitOutside } from '../message/grammar.ts'
import {
  headerOf,
  headersOf,
  type OutgoingRequest,
  type SipHeader,
  SipParseError,
  type SipResponse,
} from '../message/message.ts'
import { formatHost } from '../message/serializer.ts'
import { Authenticator, sendAuthenticated } from '../transaction/authenticator.ts'
import type { Timers } from '../transaction/timers.ts'
import type { Transactions } from '../transaction/transactions.ts'
import type { Flow } from '../transport/flow.ts'
import { accountUri, contactName } from './presence.ts'
import type { Target } from './targets.ts'
import type { ActiveTrunk } from './trunk-table.ts'

const EXPIRES_S = 300
/** Of an hour: what a registrar may ask for at least. */
const MAX_EXPIRES_S = 3_600
/** No sooner than this, but where the registrar keeps us for less. */
const LEAST_REFRESH_MS = 20_000
const FIRST_RETRY_MS = 5_000
const MAX_RETRY_MS = 300_000
/** Often enough to keep a router's way in open, and to notice a dead trunk. */
const KEEP_ALIVE_MS = 30_000
/** Routers forget a way of UDP after 30 s. */
const PING_MS = 25_000
const PING = Buffer.from('\r\n\r\n', 'latin1')
/** How long taking a registration back may take. */
const GOODBYE_MS = 2_000
/** Delay before reconnecting: a restarting peer must be up. */
const RECOVER_MS = 1_000

interface RegistrationOptions {
  active: ActiveTrunk
  transactions: Transactions
  timers: Timers
  clock: Clock
  token(): string
  /** The way to one address of the trunk. */
  flow(target: Target): Promise<Flow>
  /** What the trunk answered, 0 for nothing; called when that changes. */
  state(status: number, reason: string): void
  /** Called with each answer and each timeout. */
  contacted(attempt: TrunkAttempt): void
}

/**
 * Keeps in touch with one trunk: REGISTER where it is asked for (RFC 3261, section 10), at the first of its addresses that
 * answers; else OPTIONS to each of them, so that calls go to those that live.
 */
export class Registration {
  readonly #options: RegistrationOptions
  readonly #authenticator: Authenticator | undefined
  readonly #callId: string
  readonly #tag: string
  #sequence = 0
  #expiresS = EXPIRES_S
  #retryMs = FIRST_RETRY_MS
  #status: number | undefined
  #stopped = false
  /** Where we are registered. */
  #flow: Flow | undefined
  #cancel: () => void = () => undefined
  #stopPinging: () => void = () => undefined
  /** Counts the tries, so that the answer to an older one changes nothing. */
  #round = 0

  constructor(options: RegistrationOptions) {
    const { username, password, settings } = options.active.trunk
    const user = settings.auth_username ?? username
    this.#options = options
    this.#callId = options.token()
    this.#tag = options.token()
    this.#authenticator =
      user === undefined ? undefined : new Authenticator({ username: user, password: password ?? '' }, options.token)
    inBackground('sip', this.#contact())
  }

  /** Takes the registration back. Resolves with the answer, soon in any case. @param keep another node has it now */
  stop(keep = false): Promise<void> {
    this.#stopped = true
    this.#cancel()
    this.#stopPinging()
    const flow = this.#flow
    const { active, transactions, timers } = this.#options
    if (keep || flow === undefined || !active.trunk.register || this.#status !== 200) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = timers.after(GOODBYE_MS, resolve)
    const done = (): void => {
      cancel()
      resolve()
    }
    sendAuthenticated(transactions, this.#authenticator, flow, (extra) => this.#make(flow, 0, extra), {
      final: done,
      failed: done,
    })
    return promise
  }

  /** The connection that the registration went over is gone, and calls with it: register anew at once (RFC 5626, 4.4). */
  lost(protocol: string, address: string, port: number): void {
    const flow = this.#flow
    if (this.#stopped || flow === undefined || this.#status !== 200) return
    if (flow.protocol !== protocol || flow.address !== address || flow.port !== port) return
    this.#flow = undefined
    this.#cancel()
    this.#again(RECOVER_MS)
  }

  async #contact(): Promise<void> {
    const { active, clock } = this.#options
    const round = ++this.#round
    this.#stopPinging()
    if (!active.trunk.register) {
      await Promise.all(active.targets.map((target) => this.#ask(target, round)))
      if (active.targets.length === 0) this.#failed(0, `"${active.nextHop.host}" has no address`)
      return
    }
    const [target] = active.candidates(clock.monotonicMs())
    if (target === undefined) this.#failed(0, `"${active.nextHop.host}" has no address`)
    else await this.#ask(target, round)
  }

  async #ask(target: Target, round: number): Promise<void> {
    const { active, transactions, clock } = this.#options
    const silent = (reason: string): void => {
      if (this.#stopped || round !== this.#round) return
      active.silent(target, clock.monotonicMs())
      // Where another address may answer, it is asked at once.
      const others = active.targets.some((one) => !active.isSilent(one, clock.monotonicMs()))
      if (active.trunk.register && others) inBackground('sip', this.#contact())
      else if (!others) this.#failed(0, reason)
    }
    try {
      const flow = await this.#options.flow(target)
      if (this.#stopped || round !== this.#round) return
      sendAuthenticated(transactions, this.#authenticator, flow, (extra) => this.#make(flow, this.#expiresS, extra), {
        final: (response) => {
          if (this.#stopped || round !== this.#round) return
          active.answers(target)
          this.#answered(response, flow)
        },
        failed: () => silent(`"${active.nextHop.host}" does not answer`),
      })
    } catch (error) {
      silent(error instanceof Error ? error.message : String(error))
    }
  }

  #make(flow: Flow, expiresS: number, extra: readonly SipHeader[]): OutgoingRequest {
    const { active } = this.#options
    const { trunk, host } = active
    const registrar = `sip:${formatHost(trunk.settings.from_domain ?? host)}`
    const user = accountUri(trunk, host)
    const method = trunk.register ? 'REGISTER' : 'OPTIONS'
    const contact = contactOf(flow, contactName(trunk))
    // One instance for all nodes (RFC 5626, section 4.1): each registration replaces the previous one.
    const instance = `;+sip.instance="<urn:uuid:${uuidOf(trunk.id)}>";reg-id=1`
    const headers = [
      ...(active.route === undefined ? [] : [{ name: 'route', value: active.route }]),
      MAX_FORWARDS,
      { name: 'from', value: `<${user}>;tag=${this.#tag}` },
      { name: 'to', value: `<${trunk.register ? user : registrar}>` },
      { name: 'call-id', value: this.#callId },
      { name: 'cseq', value: `${++this.#sequence} ${method}` },
      trunk.register ? { ...contact, value: `${contact.value}${instance}` } : contact,
      trunk.register ? { name: 'supported', value: 'path, outbound' } : SUPPORTED,
      USER_AGENT,
      ...(trunk.register ? [{ name: 'expires', value: String(expiresS) }] : []),
      ...extra,
    ]
    return { method, uri: registrar, headers }
  }

  #answered(response: SipResponse, flow: Flow): void {
    if (this.#stopped) return
    const { register } = this.#options.active.trunk
    // Any answer to OPTIONS proves reachability.
    if (register && response.status === 423 && this.#lengthen(response)) {
      inBackground('sip', this.#contact())
      return
    }
    if (register && response.status >= 300) {
      this.#failed(response.status, response.reason)
      return
    }
    this.#told(register ? response.status : 200, response.reason, response.status)
    this.#retryMs = FIRST_RETRY_MS
    this.#flow = flow
    if (register) this.#keepOpen(flow)
    this.#again(register ? refreshAfterMs(grantedS(response, flow)) : KEEP_ALIVE_MS)
  }

  /** Empty lines keep the way of calls open through routers (RFC 5626, section 3.5.1); over a connection they show that it lives. */
  #keepOpen(flow: Flow): void {
    this.#stopPinging()
    const ping = (): void => {
      flow.send(PING)
      this.#stopPinging = this.#options.timers.after(PING_MS, ping)
    }
    this.#stopPinging = this.#options.timers.after(PING_MS, ping)
  }

  /** The registrar takes no registration this short (RFC 3261, section 10.2.8). False: it doesn't say how long it must be. */
  #lengthen(response: SipResponse): boolean {
    const text = headerOf(response, 'min-expires') ?? ''
    const leastS = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (leastS <= this.#expiresS || leastS > MAX_EXPIRES_S) return false
    this.#expiresS = leastS
    return true
  }

  #failed(status: number, reason: string): void {
    if (this.#stopped) return
    this.#told(status, reason)
    this.#again(this.#options.active.trunk.register ? this.#retryMs : KEEP_ALIVE_MS)
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
  }

  /** @param answered what was said in truth: to OPTIONS any answer is as good as 200 */
  #told(status: number, reason: string, answered = status): void {
    const atMs = this.#options.clock.nowMs()
    const { active } = this.#options
    active.contact = { status, reason, atMs }
    const method = active.trunk.register ? 'REGISTER' : 'OPTIONS'
    this.#options.contacted({ method, ok: status === 200, status: answered, reason, atMs })
    if (this.#status === status) return
    this.#status = status
    this.#options.state(status, reason)
  }

  #again(ms: number): void {
    this.#cancel()
    this.#cancel = this.#options.timers.after(ms, () => inBackground('sip', this.#contact()))
  }
}

/** Of an id that is no UUID, one that stays the same. */
function uuidOf(id: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase()
  return createHash('sha256')
    .update(id)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

/** At half time, and in any case before it is over. */
function refreshAfterMs(grantedS: number): number {
  return Math.max(Math.min(LEAST_REFRESH_MS, grantedS * 800), grantedS * 500, 1_000)
}

/** How long the registrar keeps our contact, in seconds. */
function grantedS(response: SipResponse, flow: Flow): number {
  const own = `${flow.local.host}:${flow.local.port}`
  try {
    const contacts = headersOf(response, 'contact').flatMap((value) => splitOutside(value, ',').map(parseNameAddress))
    const ours = contacts.find(({ uri }) => `${uri.host}:${uri.port ?? 5060}` === own) ?? contacts[0]
    const text = ours?.params.get('expires') ?? headerOf(response, 'expires') ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : EXPIRES_S
  } catch (error) {
    if (error instanceof SipParseError) return EXPIRES_S
    throw error
  }
}
