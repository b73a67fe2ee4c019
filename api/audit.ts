import { cleanJson } from '../runtime/lib/text.ts'
import { countLostRows } from '../runtime/process/metrics/lost-rows.ts'
import { type AuditEntry, writeAudit } from '../store/accounts/audit-log.ts'
import { isRefusal } from '../store/database/write-rows.ts'
import type { HandledRequest } from './http/handled-request.ts'
import { type AnyRoute, type Param, Reply } from './route.ts'
import type { Services } from './services.ts'

/** Notes who did what, once it is done. What was sent is noted by name; values only where a route says they are no secret. */

/** Never rejects: what was done is done, and its answer is owed. A failure is in the process's own log. */
export async function audit(
  services: Services,
  request: HandledRequest,
  route: AnyRoute,
  result: unknown,
): Promise<void> {
  try {
    await writeAudit(services.store.pool, cleanJson(entryOf(request, route, result)))
  } catch (err) {
    countLostRows('audit_log', isRefusal(err) ? 'refused' : 'unreachable')
    request.log.error(
      { err, action: `${route.method} ${route.path}` },
      'An action could not be written to the audit log',
    )
  }
}

function entryOf(request: HandledRequest, route: AnyRoute, result: unknown): AuditEntry {
  const { user, key, workspaceId = null } = request
  const body = (request.body ?? {}) as Record<string, unknown>
  const noted = route.audit === undefined || route.audit === false ? [] : route.audit
  const made = route.success.status === 201 && !route.madeIsPersonal ? idOf(result) : undefined
  const [path = '', query = ''] = request.target.split('?')
  const filters = route.method === 'GET' ? [...new Set(new URLSearchParams(query).keys())] : []
  const at = withoutPersons(path.replace(/\/$/, ''), route)
  return {
    workspaceId,
    actor: key
      ? { kind: 'key', id: key.id, name: key.name }
      : { kind: 'user', id: user?.id ?? null, name: user?.email ?? '' },
    action: `${route.method} ${route.path}`,
    resource: made === undefined ? at : `${at}/${made}`,
    detail: {
      ...(filters.length === 0 ? {} : { filters }),
      ...(Object.keys(body).length === 0 ? {} : { fields: Object.keys(body) }),
      ...Object.fromEntries(
        noted.filter((name) => body[name] !== undefined).map((name) => [name, withoutPath(body[name])]),
      ),
    },
    address: request.clientAddress,
    requestId: request.id,
  }
}

/** The path, with the names of its parameters in place of those that say who a person is. */
function withoutPersons(path: string, { path: pattern, params = {} }: AnyRoute): string {
  const named = pattern.replace(/\/$/, '').split('/')
  const isPersonal = (segment: string | undefined) => {
    const [, name] = /^\{(\w+)\}$/.exec(segment ?? '') ?? []
    return name !== undefined && (params as Record<string, Param | undefined>)[name]?.isPersonal === true
  }
  return path
    .split('/')
    .map((segment, i) => (isPersonal(named[i]) ? named[i] : segment))
    .join('/')
}

/** Of a URL its origin: receivers have tokens in paths and queries. */
function withoutPath(value: unknown): unknown {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value) ? new URL(value).origin : value
}

/** What was made says its own id first. */
function idOf(result: unknown): string | undefined {
  const body = result instanceof Reply ? result.body : result
  const first = typeof body === 'object' && body !== null ? Object.values(body)[0] : undefined
  return typeof first === 'string' ? first : undefined
}
