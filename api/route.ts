import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from '../runtime/lib/errors.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { Membership } from '../store/accounts/identity.ts'
import type { KeyScope, User, WorkspaceRole } from '../store/database/schema.ts'
import type { Tenant } from '../store/database/tenant.ts'
import type { RequesterStanding } from './auth/standing-rights.ts'
import type { RequestBody } from './http/body.ts'
import type { ReceiveFile, UploadedForm } from './http/multipart.ts'
import type { Fault } from './schema.ts'
import type { Services } from './services.ts'

/** The one source of an endpoint: its types, its checks and its page of the OpenAPI document. */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/**
 * Who may call: anyone, a user with the access token cookie, or also an API key (which acts as Developer): each with
 * `read` or `calls`, which keys have by default, or (`jwt_or_scope`) only one that was given the route's scope.
 */
export type Auth = 'none' | 'jwt' | 'jwt_or_key' | 'jwt_or_scope'
/** Least role in the workspace; `none`: the endpoint belongs to no workspace; `operator`: those who run the installation. */
export type RequiredRole = WorkspaceRole | 'none' | 'operator'

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

export interface Param {
  description: string
  /** The parameter is a UUID; anything else names nothing and gets this error. */
  notFound?: ErrorCode
  example?: string
  /** It says who a person is: it is not written into the audit log. */
  isPersonal?: true
}

interface FormFiles {
  [field: string]: { description: string; required: boolean; many: boolean }
}

interface Route<
  Path extends string = string,
  A extends Auth = Auth,
  R extends RequiredRole = RequiredRole,
  Q extends TObject | undefined = TObject | undefined,
  B extends TObject | undefined = TObject | undefined,
  F extends TObject | undefined = TObject | undefined,
  S extends TSchema = TSchema,
> {
  method: Method
  /** With parameters as OpenAPI writes them: `/agents/{agent_id}`. */
  path: Path
  /** Also served with a slash at its end. */
  trailingSlash?: true
  auth: A
  role: R
  /** What an API key must be allowed; default `read` for GET and `calls` for the rest. */
  scope?: KeyScope
  /** Any API key may call it, whatever its scopes. */
  anyScope?: true
  /** In a suspended workspace. Default: reads are served, everything else is refused. */
  whenSuspended?: 'served' | 'refused'
  /** Has a call begin: refused in maintenance. */
  startsCall?: true
  /**
   * Writes go to the audit log: `false` where they are too many and kept elsewhere. A list names the fields of the body
   * whose values are noted; of the others only their names are. A read with a list is noted, too: of what was said or who was called.
   */
  audit?: false | readonly string[]
  /** What it makes is named after a person: the audit log does not say how. */
  madeIsPersonal?: true
  /** An invalid phone number is answered 400 also beside other faults, as where calls are placed; elsewhere only alone. */
  phoneFirst?: true
  /**
   * The handler keeps the answer of an `Idempotency-Key` itself, with what it makes (api/idempotency.ts). Of every other POST that needs a
   * sign-in the request path keeps it (api/http/keyed-answer.ts).
   */
  idempotent?: true
  /** `path`: the workspace is the parameter `workspace_id` and not the header's or the user's current one. */
  workspace?: 'path'
  /**
   * Whether the workspace has what the path names. Where the active one doesn't, the request is handled in another workspace of the user's
   * that does, with the role the user has there.
   */
  isThere?: (params: { readonly [Name in ParamNames<Path>]: string }, tenant: Tenant) => Promise<boolean>
  params?: { [Name in ParamNames<Path>]: Param }
  query?: Q
  /** JSON body. */
  body?: B
  /**
   * What is wrong with a JSON body beside its shape. Asked when its shape is wrong, so that one answer tells all; `body` is
   * what remains without the fields at fault. A handler that is reached asks by itself.
   */
  faults?: (
    body: Partial<B extends TObject ? Static<B> : never>,
    request: Pick<ApiRequest<Path, A, R>, 'params' | 'tenant'>,
    services: Services,
  ) => Promise<readonly Fault[]>
  /** Text fields of a multipart body; read with `request.form`. */
  form?: F
  files?: FormFiles
  /** Request headers the handler reads, in lower case; `all` where others decide which. */
  headers?: readonly string[] | 'all'
  /** The one success. A schema of type `string` with a contentType is sent as it is. */
  success: {
    /** 302: the answer has no body and says where the thing is. */
    status: 200 | 201 | 202 | 302
    schema: S
    contentType?: string
    description?: string
    /** The same body may also come with this status. */
    orStatus?: number
    /** The answer may also come as server-sent events; says which. */
    events?: string
  }
  /** The answer is large: it travels in gzip where the client takes it. Not for answers with secrets beside words of others. */
  isPacked?: true
  /** Errors beyond those of authentication, roles, parameters and validation, which are known. */
  errors?: readonly ErrorCode[]
  tag: string
  summary: string
  description?: string
  /** `body`: the JSON body or, with its files as text, the fields of the form. */
  examples?: { body?: unknown; query?: Record<string, unknown>; success?: unknown }
  handler: (
    request: ApiRequest<Path, A, R, Q, B, F>,
    services: Services,
  ) => Promise<Static<S> | Reply> | Static<S> | Reply
}

export interface ApiRequest<
  Path extends string = string,
  A extends Auth = Auth,
  R extends RequiredRole = RequiredRole,
  Q extends TObject | undefined = TObject | undefined,
  B extends TObject | undefined = TObject | undefined,
  F extends TObject | undefined = TObject | undefined,
> {
  /** The request's x-request-id. */
  readonly id: string
  readonly params: { readonly [Name in ParamNames<Path>]: string }
  readonly query: Q extends TObject ? Static<Q> : undefined
  readonly body: B extends TObject ? Static<B> : undefined
  /** Undefined when an API key called. */
  readonly user: A extends 'jwt' ? User : User | undefined
  readonly tenant: R extends 'none' | 'operator' ? undefined : Tenant
  /** What the caller is in the workspace. */
  readonly role: R extends 'none' | 'operator' ? undefined : WorkspaceRole
  /**
   * Works in another workspace of the user's than the active one, from now on: it is asked whether it is suspended, and what is done
   * is written to its audit log. Throws `workspace_suspended`.
   */
  enter(membership: Membership): Tenant
  readonly cookies: string
  /** A header listed in the route's `headers`, in lower case; empty when absent. */
  header(name: string): string
  /** Reads the multipart body: each file goes to `receive` as it arrives, the text fields come back checked. */
  form(receive: ReceiveFile): Promise<UploadedForm<F extends TObject ? Static<F> : Record<string, never>>>
  readonly rawBody: RequestBody
  /** Path and query as they were asked for, still encoded. */
  readonly target: string
  /** The header `Idempotency-Key` of an `idempotent` route; empty when absent. */
  readonly idempotencyKey: string
  /** Marks the answer as one that was given before. */
  answeredBefore(): void
  /** The API key that called. */
  readonly key: { readonly id: string; readonly name: string } | undefined
  /** The session of the caller's access token, where it names one. */
  readonly sessionId: string | undefined
  /** What a long answer needs to stay authorized; undefined without sign-in. */
  readonly standing: A extends 'none' ? undefined : RequesterStanding | undefined
  readonly signal: AbortSignal
  /** Where a write comes from, as far as trusted proxies say. */
  readonly clientAddress: string
  /** A write from this machine, without a forwarding proxy. */
  readonly isLocal: boolean
  readonly log: Logger
}

/** An answer with headers, another content type or a stream. */
export class Reply {
  readonly headers: readonly (readonly [string, string])[]
  readonly body: unknown
  readonly stream: AsyncIterable<string | Uint8Array> | undefined
  readonly status: number | undefined

  constructor(answer: {
    body?: unknown
    stream?: AsyncIterable<string | Uint8Array>
    headers?: readonly (readonly [string, string])[]
    /** Default: the route's success. */
    status?: number
  }) {
    this.body = answer.body
    this.stream = answer.stream
    this.headers = answer.headers ?? []
    this.status = answer.status
  }
}

/** Types the handler from the definition; changes nothing. */
export function defineRoute<
  const Path extends string,
  A extends Auth,
  R extends RequiredRole,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  F extends TObject | undefined = undefined,
  S extends TSchema = TSchema,
>(route: Route<Path, A, R, Q, B, F, S>): AnyRoute {
  return route as unknown as AnyRoute
}

/** A route whose handler takes what its own definition promises; only request.ts calls it. */
export type AnyRoute = Route<string, Auth, RequiredRole>

/** What an API key must be allowed to call the route; undefined where none may. */
export function scopeOf({ auth, method, scope }: Pick<AnyRoute, 'auth' | 'method' | 'scope'>): KeyScope | undefined {
  if (auth !== 'jwt_or_key' && auth !== 'jwt_or_scope') return undefined
  return scope ?? (method === 'GET' ? 'read' : 'calls')
}

/** Whether a suspended workspace is refused by the route. */
export function refusesSuspended({ role, method, whenSuspended }: AnyRoute): boolean {
  return isOfWorkspace({ role }) && (whenSuspended ?? (method === 'GET' ? 'served' : 'refused')) === 'refused'
}

/** Whether the endpoint works in a workspace. */
export function isOfWorkspace({ role }: Pick<AnyRoute, 'role'>): boolean {
  return role !== 'none' && role !== 'operator'
}

/** Whether the audit log has who called it: writes, and reads that say so. */
export function isAudited({ method, auth, audit }: Pick<AnyRoute, 'method' | 'auth' | 'audit'>): boolean {
  return auth !== 'none' && audit !== false && (method !== 'GET' || audit !== undefined)
}

/** Whether `Idempotency-Key` counts. Without a sign-in there is no owner whose answer could be kept. */
export function takesKey({ method, auth }: Pick<AnyRoute, 'method' | 'auth'>): boolean {
  return method === 'POST' && auth !== 'none'
}

/** A GET that does something: a link or picture of another page must not make a browser that is logged in ask for it. */
export function hasEffect({ method, auth, scope }: Pick<AnyRoute, 'method' | 'auth' | 'scope'>): boolean {
  return method === 'GET' && scopeOf({ auth, method, scope }) === 'calls'
}
