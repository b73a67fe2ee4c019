import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { type ErrorCode, PatchbayError } from '../runtime/errors.ts'
import { isNestedDeeper } from '../runtime/json-depth.ts'
import type { Logger } from '../runtime/log.ts'
import type { User, WorkspaceRole } from '../store/schema.ts'
import type { Tenant } from '../store/tenant.ts'
import type { Authenticator, Caller } from './auth/authenticate.ts'
import { isUuid } from './ids.ts'
import type { ObserveAnswer } from './metrics.ts'
import { readMultipart } from './multipart.ts'
import { type AnyRoute, type ApiRequest, checksQuery, Reply } from './route.ts'
import { createRouter, type Match, type Router } from './router.ts'
import { type Check, compileCheck, type Fault, type Place, unstorableText, ValidationError } from './schema.ts'
import type { Incoming, Outgoing } from './server.ts'
import type { Services } from './services.ts'
import { follow, type Listener, type Pending, type Steps } from './steps.ts'

export const MAX_JSON_BYTES = 1024 * 1024
/** Whatever walks a body after this may recurse. */
export const MAX_JSON_DEPTH = 64

interface RequestPath {
  routes: readonly AnyRoute[]
  services: Services
  authenticator: Authenticator
  log: Logger
  observe: ObserveAnswer
}

/**
 * The request path. `run` is the list of what happens to every request, in the order of its answers: 404 path, 405, 401,
 * 403 origin, 403 workspace, 403 role, 400 and 422 input, 404 malformed id, then whatever the handler finds.
 */
export function createRequestPath(options: RequestPath): (incoming: Incoming) => void {
  const { services, authenticator, log } = options
  const router = createRouter(options.routes.map((route) => ({ route, compiled: compile(route) })))
  const isOwnOrigin = originCheck(services.config.publicUrl)

  function* run(incoming: Incoming, matched: Matched, requestId: string): Steps<Outgoing> {
    if (matched === undefined) throw new PatchbayError('not_found')
    if ('allow' in matched) {
      return withHeader(errorReply(new PatchbayError('method_not_allowed'), requestId, log), 'allow', matched.allow)
    }
    const exchange = new Exchange(incoming, matched, requestId, log)
    const { route, compiled } = exchange
    const caller = (route.auth === 'none' ? NOBODY : yield authenticator.authenticate(exchange, route)) as Caller
    refuseForeignOrigin(exchange, caller)
    const { tenant, role } = enterWorkspace(caller, route, services)
    requireRole(route, role)
    const request = new HandledRequest(exchange, caller, tenant, role, services)
    const json = (compiled.body && (yield jsonText(exchange))) as string | undefined
    readInput(request, exchange, json)
    refuseMalformedIds(exchange)
    const result = yield route.handler(request as unknown as ApiRequest, services)
    return reply(exchange, result)
  }

  function refuseForeignOrigin(exchange: Exchange, caller: Caller): void {
    if (exchange.origin === '' || caller.viaKey || !SIGNED_IN.test(exchange.cookies)) return
    if (!isOwnOrigin(exchange.origin, exchange.host)) throw new PatchbayError('cross_origin')
  }

  return (incoming) => {
    const startedMs = services.clock.monotonicMs()
    const requestId = requestIdOf(incoming.header('x-request-id'))
    const matched = router.match(incoming.method, incoming.path)
    const answer = new Answer(incoming, matched, requestId, startedMs, options)
    follow(run(incoming, matched, requestId), answer)
  }
}

type Matched = ReturnType<Router<Compiled>['match']>

/** Sends what `run` comes to and notes it. */
class Answer implements Listener<Outgoing> {
  readonly #incoming: Incoming
  readonly #route: AnyRoute | undefined
  readonly #requestId: string
  readonly #startedMs: number
  readonly #options: RequestPath

  constructor(incoming: Incoming, matched: Matched, requestId: string, startedMs: number, options: RequestPath) {
    this.#incoming = incoming
    this.#route = matched && 'entry' in matched ? matched.entry.route : undefined
    this.#requestId = requestId
    this.#startedMs = startedMs
    this.#options = options
  }

  done(outgoing: Outgoing): void {
    const { services, observe, log } = this.#options
    const { status } = outgoing
    const durationMs = services.clock.monotonicMs() - this.#startedMs
    observe(this.#route, status, durationMs)
    if (log.isLevelEnabled('debug')) {
      const { method, path } = this.#incoming
      log.debug({ requestId: this.#requestId, method, path, status, durationMs }, 'Request answered')
    }
    this.#incoming.send(outgoing)
  }

  failed(error: unknown): void {
    this.done(errorReply(error, this.#requestId, this.#options.log, this.#incoming, this.#route))
  }
}

const NOBODY: Caller = { user: undefined, membership: undefined, viaKey: false, refused: false }
const SIGNED_IN = /(?:^|;\s*)(?:access|refresh)_token=/
const SAFE_METHODS = new Set(['GET', 'HEAD'])
const NONE: Readonly<Record<string, string>> = Object.freeze({})

interface Compiled {
  readonly query: Check<never> | undefined
  readonly body: Check<never> | undefined
  readonly form: Check<never> | undefined
  readonly paramNames: readonly string[]
  readonly headers: readonly string[] | 'all'
}

function compile(route: AnyRoute): Compiled {
  return {
    query: queryCheck(route),
    body: route.body && (compileCheck(route.body) as unknown as Check<never>),
    form: route.form && (compileCheck(route.form, { coerce: true }) as unknown as Check<never>),
    paramNames: [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
    headers: route.headers ?? [],
  }
}

function queryCheck(route: AnyRoute): Check<never> | undefined {
  if (!checksQuery(route)) return undefined
  return compileCheck(route.query ?? Type.Object({}), { coerce: true, closed: true }) as unknown as Check<never>
}

/** A matched request: what is read from the connection before the first await. */
export class Exchange {
  readonly incoming: Incoming
  readonly route: AnyRoute
  readonly compiled: Compiled
  readonly requestId: string
  readonly cookies: string
  readonly apiKey: string
  readonly workspaceId: string
  readonly contentType: string
  /** Read for writes only. */
  readonly origin: string
  readonly host: string
  readonly params: Readonly<Record<string, string>>
  readonly log: Logger
  readonly #headers: Readonly<Record<string, string>>

  constructor(incoming: Incoming, { entry, params }: Match<Compiled>, requestId: string, log: Logger) {
    const { route, compiled } = entry
    this.incoming = incoming
    this.route = route
    this.compiled = compiled
    this.requestId = requestId
    this.log = log
    this.cookies = incoming.header('cookie')
    this.apiKey = route.auth === 'jwt_or_key' ? incoming.header('x-api-key') : ''
    this.workspaceId = route.role === 'none' ? '' : incoming.header('x-workspace-id')
    const isWrite = !SAFE_METHODS.has(incoming.method)
    this.contentType = isWrite ? incoming.header('content-type') : ''
    this.origin = isWrite ? incoming.header('origin') : ''
    this.host = this.origin === '' ? '' : incoming.header('host')
    this.params =
      compiled.paramNames.length === 0
        ? NONE
        : Object.fromEntries(compiled.paramNames.map((name, i) => [name, decode(params[i] ?? '')]))
    this.#headers = headersOf(incoming, compiled.headers)
  }

  header(name: string): string {
    return this.#headers[name] ?? ''
  }
}

function headersOf(incoming: Incoming, names: readonly string[] | 'all'): Readonly<Record<string, string>> {
  if (names.length === 0) return NONE
  return names === 'all' ? incoming.headers() : Object.fromEntries(names.map((name) => [name, incoming.header(name)]))
}

/** What the handler gets. */
class HandledRequest {
  readonly id: string
  readonly params: Readonly<Record<string, string>>
  readonly user: User | undefined
  readonly tenant: Tenant | undefined
  readonly role: WorkspaceRole | undefined
  query: unknown
  body: unknown
  readonly #exchange: Exchange
  readonly #services: Services

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
    this.#exchange = exchange
    this.#services = services
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

  get signal() {
    return this.#exchange.incoming.signal
  }

  get remoteAddress() {
    return this.#exchange.incoming.remoteAddress
  }

  get log() {
    return this.#exchange.log.child({ requestId: this.id })
  }

  header(name: string) {
    return this.#exchange.header(name)
  }

  async form(receive: Parameters<ApiRequest['form']>[0]) {
    const { contentType, incoming, compiled } = this.#exchange
    const form = await readMultipart(
      { contentType, body: incoming.body, signal: incoming.signal },
      { maxFileBytes: this.#services.config.maxUploadBytes },
      receive,
    )
    refuseUnstorable(form.fields, 'form')
    const missing = Object.entries(this.#exchange.route.files ?? {})
      .filter(([field, { required }]) => required && !form.files[field])
      .map(([field]): Fault => ({ loc: ['form', field], msg: 'Field required', type: 'missing' }))
    const fields = collectFaults(missing, () => compiled.form?.(form.fields, 'form') ?? {})
    return { ...form, fields }
  }
}

function enterWorkspace(
  caller: Caller,
  route: AnyRoute,
  services: Services,
): { tenant: Tenant | undefined; role: WorkspaceRole | undefined } {
  if (route.role === 'none') return { tenant: undefined, role: undefined }
  if (caller.refused && route.workspace === 'path') throw new PatchbayError('workspace_not_found')
  if (caller.refused || caller.membership === undefined) throw new PatchbayError('not_a_member')
  return { tenant: services.store.tenant(caller.membership.workspaceId), role: caller.membership.role }
}

const RANKS: Readonly<Record<WorkspaceRole, number>> = { member: 0, developer: 1, admin: 2 }

function requireRole(route: AnyRoute, role: WorkspaceRole | undefined): void {
  if (route.role === 'none' || role === undefined || RANKS[role] >= RANKS[route.role]) return
  throw new PatchbayError(route.role === 'admin' ? 'admin_required' : 'insufficient_permissions')
}

/** Query and body; all faults of both in one answer. */
function readInput(request: HandledRequest, exchange: Exchange, json: string | undefined): void {
  const { compiled, incoming } = exchange
  const raw = json === undefined ? undefined : parseJson(json)
  if (compiled.query === undefined && compiled.body === undefined) return
  const faults: Fault[] = []
  const query = compiled.query
  if (query) request.query = collectInto(faults, () => query(readQuery(incoming.query), 'query'))
  const body = compiled.body
  if (body) request.body = collectInto(faults, () => body(raw, 'body'))
  if (faults.length > 0) throw new ValidationError(faults)
}

function collectInto(faults: Fault[], read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    faults.push(...error.faults)
    return undefined
  }
}

function collectFaults<T>(faults: Fault[], read: () => T): T {
  const value = collectInto(faults, read) as T
  if (faults.length > 0) throw new ValidationError(faults)
  return value
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function jsonText(exchange: Exchange): Pending<string> {
  if (!JSON_TYPE.test(exchange.contentType)) throw new PatchbayError('malformed_body')
  return (listener) => exchange.incoming.body.text(MAX_JSON_BYTES, listener)
}

function parseJson(text: string): unknown {
  if (isNestedDeeper(text, MAX_JSON_DEPTH)) throw new PatchbayError('body_too_deep')
  try {
    const value: unknown = JSON.parse(text)
    if (text.includes('\\u')) refuseUnstorable(value, 'body')
    return value
  } catch (cause) {
    throw cause instanceof PatchbayError ? cause : new PatchbayError('malformed_body', { cause })
  }
}

function readQuery(query: string): Readonly<Record<string, string>> {
  if (query === '') return NONE
  const fields = Object.fromEntries(new URLSearchParams(query))
  if (query.includes('%00')) refuseUnstorable(fields, 'query')
  return fields
}

function refuseUnstorable(value: unknown, place: Place): void {
  const path = unstorableText(value)
  if (path)
    throw new ValidationError([
      { loc: [place, ...path], msg: 'must be valid Unicode text without NUL', type: 'value_error' },
    ])
}

function refuseMalformedIds({ route, params }: Exchange): void {
  for (const name in route.params) {
    const { notFound } = route.params[name as never] as { notFound?: PatchbayError['code'] }
    if (notFound && !isUuid(params[name] ?? '')) throw new PatchbayError(notFound)
  }
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

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const

function reply(exchange: Exchange, result: unknown): Outgoing {
  const { success } = exchange.route
  const idHeader = ['x-request-id', exchange.requestId] as const
  if (!(result instanceof Reply)) {
    return { status: success.status, headers: [JSON_HEADER, idHeader], body: JSON.stringify(result) }
  }
  const status = result.status ?? success.status
  if (result.stream) return { status, headers: [idHeader, ...result.headers], body: result.stream }
  const { body } = result
  const asIs = typeof body === 'string' || body instanceof Uint8Array || body === undefined
  return {
    status,
    headers: asIs ? [idHeader, ...result.headers] : [JSON_HEADER, idHeader, ...result.headers],
    ...(body === undefined ? {} : { body: asIs ? body : JSON.stringify(body) }),
  }
}

/** Their sentences are for operators, unless a route declares that its callers may read them. */
const OPERATORS_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['configuration', 'permission_denied', 'plugin'])

/**
 * The answer to an error. An error that is no PatchbayError is a defect: its cause goes to the log alone. `incoming` and
 * `route` are known for a request that came that far.
 */
export function errorReply(
  error: unknown,
  requestId: string,
  log: Logger,
  incoming?: Incoming,
  route?: AnyRoute,
): Outgoing {
  const raised = error instanceof PatchbayError ? error : new PatchbayError('internal', { cause: error })
  const isHidden = OPERATORS_ERRORS.has(raised.code) && !route?.errors?.includes(raised.code)
  const known = isHidden ? new PatchbayError('internal', { cause: raised }) : raised
  if (known.status >= 500 && !incoming?.signal.aborted) {
    const { method, path } = incoming ?? {}
    log.error({ err: known.cause ?? known, code: known.code, requestId, method, path }, 'Request failed')
  }
  const detail = known instanceof ValidationError ? known.faults : known.message
  return { status: known.status, headers: [JSON_HEADER, ['x-request-id', requestId]], body: JSON.stringify({ detail }) }
}

function withHeader(outgoing: Outgoing, name: string, value: string): Outgoing {
  return { ...outgoing, headers: [...outgoing.headers, [name, value]] }
}

const REQUEST_ID = /^[\w.:+/=-]{1,128}$/

/** The caller's id when it is fit to be echoed and logged, else a new one. */
export function requestIdOf(header: string): string {
  return header !== '' && REQUEST_ID.test(header) ? header : randomUUID()
}

function originCheck(publicUrl: string): (origin: string, host: string) => boolean {
  const own = new URL(publicUrl).origin
  return (origin, host) => origin === own || origin === `http://${host}` || origin === `https://${host}`
}
