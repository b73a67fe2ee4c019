import { createHash } from 'node:crypto'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type AuditRow, lastChangeOf } from '../../store/accounts/audit-log.ts'
import { alone } from '../../store/database/alone.ts'
import type { Store } from '../../store/database/database.ts'
import type { AnyRoute } from '../route.ts'
import { withHeader } from './reply.ts'
import type { HttpResponse } from './server.ts'

/**
 * Conditions of requests (RFC 9110, 13): a single resource has an `ETag`, the digest of its body; `If-None-Match` saves reading it again,
 * and `If-Match` changes it only as it was read.
 */

type Shape = Pick<AnyRoute, 'method' | 'auth' | 'success'>

/** Whether the route reads one resource, and no list. */
export function hasTag({ method, auth, success }: Shape): boolean {
  const { type, properties } = success.schema as { type?: string; properties?: object }
  const isObject = type === 'object' && properties !== undefined && !Object.hasOwn(properties, 'items')
  return method === 'GET' && auth !== 'none' && isObject && success.contentType === undefined && !success.events
}

/** Whether `If-Match` counts. */
export function takesMatch({ method, auth }: Pick<AnyRoute, 'method' | 'auth'>): boolean {
  return auth !== 'none' && (method === 'PUT' || method === 'PATCH' || method === 'DELETE')
}

/** The tag of an answer's body; undefined where it has none. */
function etagOf({ body }: HttpResponse): string | undefined {
  if (typeof body !== 'string') return undefined
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
}

/** Whether a list of tags, or `*`, names this one. A weak tag is taken for the strong one, which proxies make of it when they compress. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((text) => {
    const one = text.trim()
    return one === '*' || one.replace(/^W\//, '') === tag
  })
}

/** The answer with its tag; without its body where its reader has it already. */
export function tagged(response: HttpResponse, ifNoneMatch: string): HttpResponse {
  const tag = etagOf(response)
  if (tag === undefined || response.status !== 200) return response
  if (ifNoneMatch === '' || !namesTag(ifNoneMatch, tag)) return withHeader(response, 'etag', tag)
  const headers = response.headers.filter(([name]) => name !== 'content-type')
  return { status: 304, headers: [...headers, ['etag', tag]] }
}

/** Who did what, as the error says it: the names of the fields that were sent, and never their values. */
function changeOf({ at, actor_name: by, detail }: AuditRow): Record<string, string> {
  const fields = Array.isArray(detail.fields) ? detail.fields.join(', ') : ''
  const instant = at.toISOString()
  const last_change = `: ${by} ${fields === '' ? 'changed it' : `sent ${fields}`} at ${instant}`
  return { by, fields, at: instant, last_change }
}

/** Each holds a connection while it works with another. */
const changing = new AdmissionGate({ kind: 'conditional_change', places: 4, mostOfOne: 2, maxWaiting: 200 })

interface ConditionalChange {
  store: Store
  /** Whose checks and changes take turns. */
  owner: string
  /** Undefined: the resource is of none. */
  workspaceId: string | undefined
  path: string
  ifMatch: string
}

/**
 * Makes a change where the resource is still as `ifMatch` says. Checks and changes of one resource come one after the other, on all
 * nodes. Throws `precondition_failed`.
 * @param read the resource as its reader sees it; undefined: nobody can read it
 */
export async function whileMatching(
  { store, owner, workspaceId, path, ifMatch }: ConditionalChange,
  read: (() => Promise<HttpResponse>) | undefined,
  change: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const leave = await changing.enter({ workspaceId: owner })
  try {
    return await alone(store, `change of ${owner} ${path}`, async () => {
      const tag = read && etagOf(await read())
      if (tag === undefined ? ifMatch.trim() !== '*' : !namesTag(ifMatch, tag)) {
        const last = await lastChangeOf(store, { workspaceId, resource: path })
        throw new PatchbayError('precondition_failed', {
          ...(tag === undefined ? {} : { headers: { etag: tag } }),
          ...(last === undefined ? {} : { params: changeOf(last) }),
        })
      }
      return change()
    })
  } finally {
    leave()
  }
}
