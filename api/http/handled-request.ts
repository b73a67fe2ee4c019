import { createHash, type Hash } from 'node:crypto'
import { clientAddress, isLoopback } from '../../runtime/lib/client-address.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Membership } from '../../store/accounts/identity.ts'
import type { User, WorkspaceRole } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import type { Caller } from '../auth/authenticate.ts'
import type { RequesterStanding } from '../auth/standing-rights.ts'
import { MAX_JSON_BYTES, readForm } from '../input.ts'
import { type ApiRequest, refusesSuspended, scopeOf } from '../route.ts'
import type { Fault } from '../schema.ts'
import type { Services } from '../services.ts'
import type { MatchedRequest } from './matched-request.ts'
import { type ReceiveFile, readMultipart } from './multipart.ts'
import type { Incoming } from './server.ts'

const URLENCODED = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

async function readUrlencoded({
  body,
}: Incoming): Promise<{ fields: Record<string, string>; files: Record<string, number> }> {
  const text = (await body.bytes(MAX_JSON_BYTES)).toString('utf8')
  return { fields: Object.fromEntries(new URLSearchParams(text)), files: {} }
}

const NEVER = new AbortController().signal

/** Receives files, and notes what was received. */
const hashing =
  (receive: ReceiveFile, digest: Hash): ReceiveFile =>
  (file) => {
    digest.update(JSON.stringify([file.field, file.filename]))
    return receive({ ...file, content: noted(file.content, digest) })
  }

async function* noted(content: AsyncIterable<Buffer>, digest: Hash): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    digest.update(piece)
    yield piece
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
  /** The answer was given before. */
  isReplay = false
  /** SHA-256 of the form that was read, whatever its boundary. */
  formDigest: Buffer | undefined
  readonly #matched: MatchedRequest
  readonly #services: Services
  /** The workspace that the request named beside the active one. */
  #entered: Tenant | undefined

  constructor(
    matched: MatchedRequest,
    caller: Caller,
    tenant: Tenant | undefined,
    role: WorkspaceRole | undefined,
    services: Services,
  ) {
    this.id = matched.requestId
    this.params = matched.params
    this.user = caller.user
    this.tenant = tenant
    this.role = role
    this.key = caller.key
    this.sessionId = caller.sessionId
    this.#issuedAtS = caller.issuedAtS
    this.#matched = matched
    this.#services = services
  }

  enter({ workspaceId, isSuspended }: Membership): Tenant {
    if (isSuspended && refusesSuspended(this.#matched.route)) throw new PatchbayError('workspace_suspended')
    this.#entered = this.#services.store.tenant(workspaceId)
    return this.#entered
  }

  /** The workspace it was done in or to. */
  get workspaceId(): string | undefined {
    return (this.#entered ?? this.tenant)?.workspaceId ?? this.params.workspace_id
  }

  /** What an answer that takes long needs to go on; undefined where nobody signs in. */
  get standing(): RequesterStanding | undefined {
    const { route } = this.#matched
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
    return this.#matched.cookies
  }

  get rawBody() {
    return this.#matched.incoming.body
  }

  get target() {
    const { path, query } = this.#matched.incoming
    return query === '' ? path : `${path}?${query}`
  }

  get idempotencyKey() {
    return this.#matched.idempotencyKey
  }

  answeredBefore(): void {
    this.isReplay = true
  }

  /** A request whose answer is kept for its key is carried through, whether its client is still there or not. */
  get signal() {
    const { incoming, route, idempotencyKey } = this.#matched
    return idempotencyKey === '' || route.idempotent ? incoming.signal : NEVER
  }

  get clientAddress() {
    const { incoming, forwardedFor } = this.#matched
    return clientAddress(incoming.remoteAddress, forwardedFor, this.#services.isTrustedProxy)
  }

  get isLocal() {
    const { incoming, forwardedFor } = this.#matched
    return forwardedFor === '' && isLoopback(incoming.remoteAddress)
  }

  get log() {
    return this.#matched.log.child({ requestId: this.id })
  }

  header(name: string) {
    return this.#matched.header(name)
  }

  async form(receive: Parameters<ApiRequest['form']>[0]) {
    const { contentType, incoming } = this.#matched
    const { form: schema, files } = this.#matched.route
    const digest = createHash('sha256')
    const form =
      files === undefined && URLENCODED.test(contentType)
        ? await readUrlencoded(incoming)
        : await readMultipart(
            { contentType, body: incoming.body, signal: incoming.signal },
            { maxFileBytes: this.#services.config.maxUploadBytes },
            hashing(receive, digest),
          )
    const missing = Object.entries(this.#matched.route.files ?? {})
      .filter(([field, { required }]) => required && !form.files[field])
      .map(([field]): Fault => ({ loc: ['form', field], msg: 'Field required', type: 'missing' }))
    const fields = readForm(this.#matched, form.fields, missing)
    this.formDigest = digest.update(JSON.stringify(Object.entries(form.fields).sort())).digest()
    const known = schema?.properties ?? {}
    const others = Object.fromEntries(Object.entries(form.fields).filter(([name]) => !Object.hasOwn(known, name)))
    return { ...form, fields, others }
  }
}
