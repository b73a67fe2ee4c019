import { PatchbayError } from '../runtime/lib/errors.ts'
import { cutText } from '../runtime/lib/text.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { HttpSpans } from '../runtime/traces/http-spans.ts'
import { ADMIN_SCOPES } from '../store/accounts/tables.ts'
import { type KeyShelf, shelfOfUser, shelfOfWorkspace } from '../store/database/idempotency.ts'
import type { WorkspaceRole } from '../store/database/schema.ts'
import type { Tenant } from '../store/database/tenant.ts'
import { workspacesOf } from '../store/workspaces/workspaces.ts'
import { audit } from './audit.ts'
import type { Authenticator, Caller } from './auth/authenticate.ts'
import { roleRefusal } from './auth/roles.ts'
import { whileAllowed } from './auth/while-allowed.ts'
import { HandledRequest } from './http/handled-request.ts'
import { keyedAnswer } from './http/keyed-answer.ts'
import { MatchedRequest } from './http/matched-request.ts'
import { packedAnswer } from './http/packed-answer.ts'
import { errorReply, replyOf, requestIdOf, toldError, withHeader } from './http/reply.ts'
import { createRouter, type Router } from './http/router.ts'
import type { HttpResponse, Incoming } from './http/server.ts'
import { hasTag, tagged, takesMatch, whileMatching } from './http/while-matching.ts'
import { isUuid } from './ids.ts'
import { type Compiled, compileInput, faultOfIds, type Input, inputError, MAX_JSON_BYTES, readInput } from './input.ts'
import type { ObserveAnswer } from './metrics.ts'
import { requireNoMaintenance } from './operator/maintenance.ts'
import type { RequestLog } from './requests/request-log.ts'
import { type AnyRoute, type ApiRequest, isAudited, isOfWorkspace, Reply, refusesSuspended } from './route.ts'
import type { Fault } from './schema.ts'
import type { Services } from './services.ts'

interface RequestPath {
  routes: readonly AnyRoute[]
  services: Services
  authenticator: Authenticator
  log: Logger
  observe: ObserveAnswer
  /** Where the requests of API keys are noted. */
  requestLog: Pick<RequestLog, 'note'>
  /** Where answers become spans; undefined: nowhere. */
  requests?: HttpSpans | undefined
}

/**
 * The request path. `run` is the list of what happens to every request, in the order of its answers: 400 framing, 404 path, 405, 401,
 * 403 origin, 403 workspace, 403 role, 403 suspended, 503 maintenance, 400 and 422 input, 404 malformed id, then whatever the handler finds.
 * All headers are read before its first await: afterwards the server has dropped them.
 */
export function createRequestPath(options: RequestPath): (incoming: Incoming) => Promise<void> {
  const { services, authenticator, log } = options
  const router = createRouter(options.routes.map((route) => ({ route, compiled: compileInput(route) })))
  const singles = new Map(options.routes.filter(hasTag).map(({ path, success }) => [path, success.schema]))
  const isOwnOrigin = originCheck(services.config.publicUrl)
  const allowedOrigins: ReadonlySet<string> = new Set(services.config.allowedOrigins ?? [])

  async function run(incoming: Incoming, matched: Matched, requestId: string, answer: Answer): Promise<HttpResponse> {
    if (incoming.isAmbiguous) throw new PatchbayError('malformed_request')
    if (matched === undefined) throw new PatchbayError('not_found')
    if ('allow' in matched) {
      if (answer.origin !== '' && incoming.method === 'OPTIONS') return preflight(requestId, matched.allow)
      return withHeader(errorReply(new PatchbayError('method_not_allowed'), requestId, log), 'allow', matched.allow)
    }
    const head = new MatchedRequest(incoming, matched, requestId, log)
    answer.head = head
    // Its headers are read now, too: the resource is read where it may be changed only as it was.
    const reading = head.ifMatch === '' ? undefined : readingOf(incoming, requestId)
    const { route, compiled } = head
    const caller = route.auth === 'none' ? NOBODY : await authenticator.authenticate(head, route)
    refuseForeignOrigin(head, caller)
    const { tenant, role, isSuspended } = await locate(caller, head, enterWorkspace(caller, head, services))
    if (route.role === 'operator' && !services.operators.includes(caller.user)) {
      throw new PatchbayError('operator_required')
    }
    if (!isAdminByScope(caller, route)) requireRole(route, role)
    if (isSuspended && refusesSuspended(route)) throw new PatchbayError('workspace_suspended')
    if (route.startsCall) await requireNoMaintenance(services.store)
    const request = new HandledRequest(head, caller, tenant, role, services)
    const json = compiled.body && (await jsonText(head))
    const input = readInput(compiled, incoming.query, json)
    request.query = input.query
    request.body = input.body
    const unknown = faultOfIds(route, head.params)
    if (input.faults.length > 0 || input.phoneFaults.length > 0 || unknown !== undefined) {
      const faults = await allFaults(request, route, input)
      const isInputRight = faults.length === 0 && input.phoneFaults.length === 0
      throw isInputRight && unknown !== undefined
        ? new PatchbayError(unknown)
        : inputError(route, faults, input.phoneFaults)
    }
    const handle = async (): Promise<HttpResponse> => {
      const result = await route.handler(request as unknown as ApiRequest, services)
      if (isAudited(route)) await audit(services, request, route, result)
      const response = replyOf(route, requestId, guarded(services, request, result))
      const known = isTagged(route) ? tagged(response, head.ifNoneMatch) : response
      return route.isPacked ? packedAnswer(known, head.acceptEncoding) : known
    }
    if (head.ifMatch !== '') {
      const asked = {
        store: services.store,
        owner: ownerOf(request),
        workspaceId: request.workspaceId,
        path: incoming.path,
        ifMatch: head.ifMatch,
      }
      return whileMatching(asked, reading && (() => read(reading, request, caller)), handle)
    }
    const key = head.idempotencyKey
    const shelf = key === '' || route.idempotent ? undefined : shelfOf(request)
    const response =
      shelf === undefined
        ? await handle()
        : await keyedAnswer(
            request,
            { key, shelf, input: askedFor(head, input.raw), keys: services.config, clock: services.clock },
            handle,
          )
    return request.isReplay ? withHeader(response, 'idempotency-replayed', 'true') : response
  }

  /** The request that reads what another changes; undefined: nothing does. */
  function readingOf(incoming: Incoming, requestId: string): MatchedRequest | undefined {
    const match = router.match('GET', incoming.path)
    if (match === undefined || 'allow' in match || !hasTag(match.entry.route)) return undefined
    return new MatchedRequest(incoming, match, requestId, log)
  }

  async function read(head: MatchedRequest, { tenant, role }: HandledRequest, caller: Caller): Promise<HttpResponse> {
    const request = new HandledRequest(head, caller, tenant, role, services)
    request.query = head.compiled.query?.({}, 'query')
    const result = await head.route.handler(request as unknown as ApiRequest, services)
    return replyOf(head.route, head.requestId, result)
  }

  /** Whether its answers have the tag of what was read, or of what was changed. */
  function isTagged(route: AnyRoute): boolean {
    if (hasTag(route)) return true
    const { schema } = route.success
    return takesMatch(route) && singles.get(route.path) === schema
  }

  /** Where keys of the request's workspace are kept, or of its user where it is of none. */
  function shelfOf({ tenant, user }: HandledRequest): KeyShelf | undefined {
    if (tenant !== undefined) return shelfOfWorkspace(tenant)
    return user && shelfOfUser(services.store.global, user.id)
  }

  /** The workspace of the user's that has what the path names; the active one where none has. */
  async function locate({ user }: Caller, { route, params }: MatchedRequest, active: Entered): Promise<Entered> {
    if (route.isThere === undefined || user === undefined || active.tenant === undefined) return active
    if (await route.isThere(params, active.tenant)) return active
    for (const { id, role, suspended_at } of await workspacesOf(services.store.global, user.id)) {
      if (id === active.tenant.workspaceId) continue
      const tenant = services.store.tenant(id)
      if (await route.isThere(params, tenant)) return { tenant, role, isSuspended: suspended_at !== null }
    }
    return active
  }

  /** Those of shape, and what the route finds in the rest of the body. */
  async function allFaults(
    request: HandledRequest,
    route: AnyRoute,
    { raw, faults, phoneFaults }: Input,
  ): Promise<Fault[]> {
    if (route.faults === undefined || typeof raw !== 'object' || raw === null || Array.isArray(raw)) return faults
    const wrong = new Set([...faults, ...phoneFaults].map(({ loc: [, field] }) => field))
    const rest = Object.fromEntries(Object.entries(raw).filter(([field]) => !wrong.has(field)))
    return [...faults, ...(await route.faults(rest as never, request as unknown as ApiRequest, services))]
  }

  function refuseForeignOrigin(head: MatchedRequest, caller: Caller): void {
    if (caller.key !== undefined || allowedOrigins.has(head.origin)) return
    if (FOREIGN_SITES.has(head.fetchSite)) throw new PatchbayError('cross_origin')
    if (head.origin === '' || !SIGNED_IN.test(head.cookies)) return
    if (!isOwnOrigin(head.origin, head.host)) throw new PatchbayError('cross_origin')
  }

  return async (incoming) => {
    const startedMs = services.clock.monotonicMs()
    const requestId = requestIdOf(incoming.header('x-request-id'))
    const matched = router.match(incoming.method, incoming.path)
    const origin = allowedOrigins.size === 0 ? '' : incoming.header('origin')
    const answer = new Answer(
      incoming,
      matched,
      requestId,
      startedMs,
      options,
      allowedOrigins.has(origin) ? origin : '',
    )
    let response: HttpResponse
    try {
      response = await run(incoming, matched, requestId, answer)
    } catch (error) {
      answer.failed(error)
      return
    }
    answer.done(response)
  }
}

/** All but the form, which is not read yet. */
const askedFor = ({ route, incoming }: MatchedRequest, body: unknown): unknown => [
  `${route.method} ${incoming.path.replace(/\/$/, '')}`,
  incoming.query,
  body ?? null,
]

const ownerOf = ({ tenant, user }: HandledRequest): string => tenant?.workspaceId ?? user?.id ?? ''

type Matched = ReturnType<Router<Compiled>['match']>

/** Asked every few seconds by machines: nobody looks for these among traces. */
const UNTRACED: ReadonlySet<string> = new Set(['/health', '/ready'])

/** How much of an error's body is kept in the request log. */
const KEPT_OF_FAULT = 2_000

/** Sends what `run` comes to and notes it. */
class Answer {
  /** Of a request that came so far. */
  head: MatchedRequest | undefined
  /** Of a page elsewhere that may read the answer; else empty. */
  readonly origin: string
  readonly #incoming: Incoming
  readonly #route: AnyRoute | undefined
  readonly #requestId: string
  readonly #startedMs: number
  readonly #traceparent: string
  readonly #options: RequestPath

  constructor(
    incoming: Incoming,
    matched: Matched,
    requestId: string,
    startedMs: number,
    options: RequestPath,
    origin: string,
  ) {
    this.origin = origin
    this.#incoming = incoming
    this.#route = matched && 'entry' in matched ? matched.entry.route : undefined
    this.#requestId = requestId
    this.#startedMs = startedMs
    this.#traceparent = options.requests === undefined ? '' : incoming.header('traceparent')
    this.#options = options
  }

  done(response: HttpResponse): void {
    this.#sent(response)
  }

  #sent(response: HttpResponse, fault?: { code: string; body: string }): void {
    const { services, observe, requestLog, requests, log } = this.#options
    const { status } = response
    const durationMs = services.clock.monotonicMs() - this.#startedMs
    const route = this.#route
    const isTraced = route === undefined || !UNTRACED.has(route.path)
    const method = route?.method ?? this.#incoming.method
    const span = isTraced
      ? requests?.answered(this.#traceparent, { method, route: route?.path, status, durationMs })
      : undefined
    observe(route, status, durationMs, span?.traceId)
    const key = this.head?.key
    if (key !== undefined && route !== undefined) {
      requestLog.note(key.workspaceId, {
        ...{ id: this.#requestId, atMs: services.clock.nowMs(), method, path: route.path, status },
        durationMs: Math.round(durationMs * 10) / 10,
        key: { id: key.id, name: key.name },
        ...(fault && { fault }),
      })
    }
    const { path } = this.#incoming
    log.debug(
      { requestId: this.#requestId, method: this.#incoming.method, path, status, durationMs },
      'Request answered',
    )
    this.#incoming.send(this.origin === '' ? response : readableBy(this.origin, response))
  }

  failed(error: unknown): void {
    const told = toldError(error, this.#route)
    const response = errorReply(told, this.#requestId, this.#options.log, this.#incoming, this.#route)
    this.#sent(response, { code: told.code, body: cutText(response.body, KEPT_OF_FAULT) })
  }
}

const NOBODY: Caller = {
  ...{ user: undefined, membership: undefined, key: undefined, sessionId: undefined },
  ...{ issuedAtS: 0, refused: false },
}
const FOREIGN_SITES: ReadonlySet<string> = new Set(['cross-site', 'same-site'])
const SIGNED_IN = /(?:^|;\s*)(?:access|refresh)_token=/

interface Entered {
  tenant: Tenant | undefined
  role: WorkspaceRole | undefined
  isSuspended: boolean
}

/** A workspace that is named is entered, also where the route needs none. */
function enterWorkspace(caller: Caller, { route, workspaceId, params }: MatchedRequest, services: Services): Entered {
  const { membership, refused } = caller
  const none = { tenant: undefined, role: undefined, isSuspended: membership?.isSuspended === true }
  if (route.auth === 'none') return none
  if (!isOfWorkspace(route)) {
    if (workspaceId !== '' && (refused || membership === undefined)) throw new PatchbayError('not_a_member')
    return none
  }
  if (route.workspace === 'path' && !isUuid(params.workspace_id ?? '')) throw new PatchbayError('workspace_not_found')
  if (refused || membership === undefined) throw new PatchbayError('not_a_member')
  return { ...membership, tenant: services.store.tenant(membership.workspaceId) }
}

/** A key that an Admin gave the scope for it. */
function isAdminByScope({ key }: Caller, route: AnyRoute): boolean {
  return key !== undefined && route.scope !== undefined && ADMIN_SCOPES.has(route.scope)
}

function requireRole(route: AnyRoute, role: WorkspaceRole | undefined): void {
  if (route.role === 'none' || route.role === 'operator' || role === undefined) return
  const refusal = roleRefusal(role, route.role)
  if (refusal !== undefined) throw new PatchbayError(refusal)
}

/** What takes long to send is sent while its reader has the right to it. */
function guarded(services: Services, request: HandledRequest, result: unknown): unknown {
  const { standing } = request
  if (!(result instanceof Reply) || result.stream === undefined || standing === undefined) return result
  const { stream, status, headers } = result
  const allowed = whileAllowed(stream, (withdrawn) => services.standing.watch(standing, withdrawn))
  return new Reply({ stream: allowed, headers, ...(status === undefined ? {} : { status }) })
}

/** Headers of ours that a page elsewhere may read. */
const EXPOSED = 'x-request-id, x-required-scope, retry-after, location, etag, content-disposition, idempotency-replayed'

function readableBy(origin: string, response: HttpResponse): HttpResponse {
  const ours = response.headers.filter(([name]) => name !== 'access-control-allow-origin')
  return {
    ...response,
    headers: [
      ...ours,
      ['access-control-allow-origin', origin],
      ['access-control-allow-credentials', 'true'],
      ['access-control-expose-headers', EXPOSED],
      ['vary', 'Origin'],
    ],
  }
}

/** What a page of an allowed origin may send. */
function preflight(requestId: string, methods: string): HttpResponse {
  return {
    status: 204,
    headers: [
      ['x-request-id', requestId],
      ['access-control-allow-methods', methods],
      [
        'access-control-allow-headers',
        'content-type, x-workspace-id, x-request-id, idempotency-key, if-match, if-none-match, last-event-id',
      ],
      ['access-control-max-age', '600'],
    ],
  }
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

async function jsonText({ contentType, incoming }: MatchedRequest): Promise<string> {
  if (!JSON_TYPE.test(contentType))
    throw new PatchbayError('wrong_content_type', { params: { type: 'application/json' } })
  return incoming.body.text(MAX_JSON_BYTES)
}

function originCheck(publicUrl: string): (origin: string, host: string) => boolean {
  const own = new URL(publicUrl).origin
  return (origin, host) => origin === own || origin === `http://${host}` || origin === `https://${host}`
}
