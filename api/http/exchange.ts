import { clientAddress, isLoopback } from '../../runtime/lib/client-address.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Membership } from '../../store/accounts/identity.ts'
import type { User, WorkspaceRole } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import type { Caller, RecognisedKey } from '../auth/authenticate.ts'
import type { RequesterStanding } from '../auth/standing-rights.ts'
import { type Compiled, MAX_JSON_BYTES, readForm } from '../input.ts'
import { type AnyRoute, type ApiRequest, hasEffect, isAudited, refusesSuspended, scopeOf } from '../route.ts'
import type { Fault } from '../schema.ts'
import type { Services } from '../services.ts'
import { readMultipart } from './multipart.ts'
import type { Match } from './router.ts'
import type { Incoming } from './server.ts'

const URLENCODED = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

async function readUrlencoded({
  body,
}: Incoming): Promise<{ fields: Record<string, string>; files: Record<string, number> }> {
  const text = (await body.bytes(MAX_JSON_BYTES)).toString('utf8')
  return { fields: Object.fromEntries(new URLSearchParams(text)), files: {} }
}

const SAFE_METHODS = new Set(['GET', 'HEAD'])
const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** A matched request: what is read from the connection before the first await. */
export class Exchange {
  readonly incoming: Incoming
  readonly route: AnyRoute
  readonly compiled: Compiled
  readonly requestId: string
  readonly cookies: string
  readonly apiKey: string
  readonly workspaceId: string
  readonly idempotencyKey: string
  readonly contentType: string
  /** Read for writes only. */
  readonly origin: string
  readonly host: string
  /** Read for reads that do something. */
  readonly fetchSite: string
  /** Read where it is written down. */
  readonly forwardedFor: string
  readonly params: Readonly<Record<string, string>>
  readonly log: Logger
  /** The API key that asked, also where it was refused. */
  key: RecognisedKey | undefined
  readonly #headers: Readonly<Record<string, string>>

  constructor(incoming: Incoming, { entry, params }: Match<Compiled>, requestId: string, log: Logger) {
    const { route, compiled } = entry
    this.incoming = incoming
    this.route = route
    this.compiled = compiled
    this.requestId = requestId
    this.log = log
    this.cookies = incoming.header('cookie')
    this.apiKey = scopeOf(route) === undefined ? '' : apiKeyOf(incoming)
    this.workspaceId = route.auth === 'none' ? '' : incoming.header('x-workspace-id')
    this.idempotencyKey = route.idempotent ? incoming.header('idempotency-key') : ''
    const isWrite = !SAFE_METHODS.has(incoming.method)
    this.contentType = isWrite ? incoming.header('content-type') : ''
    this.origin = isWrite ? incoming.header('origin') : ''
    this.fetchSite = hasEffect(route) ? incoming.header('sec-fetch-site') : ''
    this.host = this.origin === '' ? '' : incoming.header('host')
    this.forwardedFor = isWrite || isAudited(route) ? incoming.header('x-forwarded-for') : ''
    this.params =
      compiled.paramNames.length === 0
        ? NONE
        : Object.fromEntries(compiled.paramNames.map((name, i) => [name, decode(params[i] ?? '')]))
    this.#headers = headersOf(incoming, compiled.headers)
  }

  recognised(key: RecognisedKey): void {
    this.key = key
  }

  header(name: string): string {
    return this.#headers[name] ?? ''
  }
}

function headersOf(incoming: Incoming, names: readonly string[] | 'all'): Readonly<Record<string, string>> {
  if (names.length === 0) return NONE
  return names === 'all' ? incoming.headers() : Object.fromEntries(names.map((name) => [name, incoming.header(name)]))
}

const BEARER = /^Bearer +(pb_\S+)$/i

/** From its own header, or as servers send tokens. */
function apiKeyOf(incoming: Incoming): string {
  return incoming.header('x-api-key') || (BEARER.exec(incoming.header('authorization'))?.[1] ?? '')
}

/** `%00` and broken escapes name nothing; an empty value matches no resource. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    const text = decodeURIComponent(segment)
    return text.includes('\0') ? '' : text
  } catch {
    return ''
  }
}

/** What the handler gets. */
export class HandledRequest {
  readonly id: string
  readonly params: Readonly<Record<string, string>>
  readonly user: User | undefined
  readonly tenant: Tenant | undefined
  readonly role: WorkspaceRole | undefined
  readonly key: Caller['key']
  readonly sessionId: string | undefined
  readonly #issuedAtS: number
  query: unknown
  body: unknown
  readonly #exchange: Exchange
  readonly #services: Services
  /** The workspace that the request named beside the active one. */
  #entered: Tenant | undefined

  constructor(
    exchange: Exchange,
    caller: Caller,
    tenant: Tenant | undefined,
    role: WorkspaceRole | undefined,
    services: Services,
  ) {
    this.id = exchange.requestId
    this.params = exchange.params
    this.user = caller.user
    this.tenant = tenant
    this.role = role
    this.key = caller.key
    this.sessionId = caller.sessionId
    this.#issuedAtS = caller.issuedAtS
    this.#exchange = exchange
    this.#services = services
  }

  enter({ workspaceId, isSuspended }: Membership): Tenant {
    if (isSuspended && refusesSuspended(this.#exchange.route)) throw new PatchbayError('workspace_suspended')
    this.#entered = this.#services.store.tenant(workspaceId)
    return this.#entered
  }

  /** The workspace it was done in or to. */
  get workspaceId(): string | undefined {
    return (this.#entered ?? this.tenant)?.workspaceId ?? this.params.workspace_id
  }

  /** What an answer that takes long needs to go on; undefined where nobody signs in. */
  get standing(): RequesterStanding | undefined {
    const { route } = this.#exchange
    if (this.key !== undefined) {
      const scope = scopeOf(route)
      return scope && { kind: 'key', keyId: this.key.id, scope }
    }
    if (this.user === undefined) return undefined
    return {
      kind: 'user',
      userId: this.user.id,
      sessionId: this.sessionId ?? null,
      issuedAtS: this.#issuedAtS,
      workspaceId: (this.#entered ?? this.tenant)?.workspaceId ?? null,
      role: route.role,
      refusesSuspended: refusesSuspended(route),
    }
  }

  get cookies() {
    return this.#exchange.cookies
  }

  get rawBody() {
    return this.#exchange.incoming.body
  }

  get target() {
    const { path, query } = this.#exchange.incoming
    return query === '' ? path : `${path}?${query}`
  }

  get idempotencyKey() {
    return this.#exchange.idempotencyKey
  }

  get signal() {
    return this.#exchange.incoming.signal
  }

  get clientAddress() {
    const { incoming, forwardedFor } = this.#exchange
    return clientAddress(incoming.remoteAddress, forwardedFor, this.#services.isTrustedProxy)
  }

  get isLocal() {
    const { incoming, forwardedFor } = this.#exchange
    return forwardedFor === '' && isLoopback(incoming.remoteAddress)
  }

  get log() {
    return this.#exchange.log.child({ requestId: this.id })
  }

  header(name: string) {
    return this.#exchange.header(name)
  }

  async form(receive: Parameters<ApiRequest['form']>[0]) {
    const { contentType, incoming, compiled } = this.#exchange
    const { form: schema, files } = this.#exchange.route
    const form =
      files === undefined && URLENCODED.test(contentType)
        ? await readUrlencoded(incoming)
        : await readMultipart(
            { contentType, body: incoming.body, signal: incoming.signal },
            { maxFileBytes: this.#services.config.maxUploadBytes },
            receive,
          )
    const missing = Object.entries(this.#exchange.route.files ?? {})
      .filter(([field, { required }]) => required && !form.files[field])
      .map(([field]): Fault => ({ loc: ['form', field], msg: 'Field required', type: 'missing' }))
    const fields = readForm(compiled, form.fields, missing)
    const known = schema?.properties ?? {}
    const others = Object.fromEntries(Object.entries(form.fields).filter(([name]) => !Object.hasOwn(known, name)))
    return { ...form, fields, others }
  }
}
