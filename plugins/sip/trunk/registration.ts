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

export interface RegistrationOptions {
  active: ActiveTrunk
  transactions: Transactions
  timers: Timers
  token(): string
  /** The way to the trunk. */
  flow(): Promise<Flow>
  /** What the trunk answered, 0 for nothing; called when that changes. */
  state(status: number, reason: string): void
}

/** Keeps in touch with one trunk: REGISTER where it is asked for (RFC 3261, section 10), else OPTIONS. */
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
  #flow: Flow | undefined
  #cancel: () => void = () => undefined

  constructor(options: RegistrationOptions) {
    const { username, password } = options.active.trunk
    this.#options = options
    this.#callId = options.token()
    this.#tag = options.token()
    this.#authenticator =
      username === undefined ? undefined : new Authenticator({ username, password: password ?? '' }, options.token)
    void this.#contact()
  }

  /** Takes the registration back, without waiting for the answer. */
  stop(): void {
    this.#stopped = true
    this.#cancel()
    const flow = this.#flow
    const { active, transactions } = this.#options
    if (flow === undefined || !active.trunk.register || this.#status !== 200) return
    const ignore = (): void => undefined
    sendAuthenticated(transactions, this.#authenticator, flow, (extra) => this.#make(flow, 0, extra), {
      final: ignore,
      failed: ignore,
    })
  }

  async #contact(): Promise<void> {
    const { active, transactions } = this.#options
    try {
      const flow = await this.#options.flow()
      if (this.#stopped) return
      this.#flow = flow
      sendAuthenticated(transactions, this.#authenticator, flow, (extra) => this.#make(flow, this.#expiresS, extra), {
        final: (response) => this.#answered(response, flow),
        failed: () => this.#failed(0, `"${active.trunk.host}" does not answer`),
      })
    } catch (error) {
      this.#failed(0, error instanceof Error ? error.message : String(error))
    }
  }

  #make(flow: Flow, expiresS: number, extra: readonly SipHeader[]): OutgoingRequest {
    const { trunk, host } = this.#options.active
    const registrar = `sip:${formatHost(host)}`
    const user =
      trunk.username === undefined ? registrar : `sip:${encodeURIComponent(trunk.username)}@${formatHost(host)}`
    const method = trunk.register ? 'REGISTER' : 'OPTIONS'
    const headers = [
      MAX_FORWARDS,
      { name: 'from', value: `<${user}>;tag=${this.#tag}` },
      { name: 'to', value: `<${trunk.register ? user : registrar}>` },
      { name: 'call-id', value: this.#callId },
      { name: 'cseq', value: `${++this.#sequence} ${method}` },
      contactOf(flow),
      SUPPORTED,
      USER_AGENT,
      ...(trunk.register ? [{ name: 'expires', value: String(expiresS) }] : []),
      ...extra,
    ]
    return { method, uri: registrar, headers }
  }

  #answered(response: SipResponse, flow: Flow): void {
    if (this.#stopped) return
    const { register } = this.#options.active.trunk
    // Any answer to an OPTIONS shows that somebody is there.
    if (register && response.status === 423 && this.#lengthen(response)) {
      void this.#contact()
      return
    }
    if (register && response.status >= 300) {
      this.#failed(response.status, response.reason)
      return
    }
    this.#told(register ? response.status : 200, response.reason)
    this.#retryMs = FIRST_RETRY_MS
    this.#again(register ? refreshAfterMs(grantedS(response, flow)) : KEEP_ALIVE_MS)
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

  #told(status: number, reason: string): void {
    if (this.#status === status) return
    this.#status = status
    this.#options.state(status, reason)
  }

  #again(ms: number): void {
    this.#cancel = this.#options.timers.after(ms, () => void this.#contact())
  }
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
