import type { AuditEntry } from '../../data/types.ts'

/** What an entry of the audit log is about. */
export interface Audited {
  /** What people call it; undefined: nothing but its id. */
  readonly name?: string
  readonly id: string
  /** Its page; undefined: it has none, or it is gone. */
  readonly path?: string
}

/** Pages by the paths of the API. */
const PAGES: Readonly<Record<string, string>> = {
  '/agents': '/agents/',
  '/calls': '/calls/',
  '/calls/outbound_call': '/calls/',
  '/api/v/campaign': '/campaigns/',
  '/batch': '/batches/',
  '/batch/upload': '/batches/',
  '/trunks': '/numbers/trunks/',
  '/webhooks': '/developers/webhooks/',
  '/tests/runs': '/tests/runs/',
}
const NAMES = ['name', 'agent_name', 'email', 'phone_number', 'url', 'host'] as const

/**
 * Reads the path an entry names against the pattern of its action: the first id is what it is about. Undefined: it is about no single
 * thing. @param nameOf what things are called now, by their ids
 */
export function auditedOf(
  { action, resource, detail }: Pick<AuditEntry, 'action' | 'resource' | 'detail'>,
  nameOf: (id: string) => string | undefined = () => undefined,
): Audited | undefined {
  const [method = '', pattern = ''] = action.split(' ')
  const named = pattern.split('/').filter(Boolean)
  const parts = resource.split('/').filter(Boolean)
  const at = parts.findIndex((_, i) => named[i] === undefined || named[i].startsWith('{'))
  const said = NAMES.map((field) => detail[field]).find((value) => typeof value === 'string' && value !== '')
  if (at < 0 || parts[at] === named[at]) return typeof said === 'string' ? { name: said, id: said } : undefined
  const id = decoded(parts[at] ?? '')
  const page = PAGES[`/${parts.slice(0, at).join('/')}`]
  const isGone = method === 'DELETE' && named.at(-1)?.startsWith('{') === true && at === named.length - 1
  const name = typeof said === 'string' ? said : nameOf(id)
  return {
    ...(name === undefined ? {} : { name }),
    id,
    ...(page === undefined || isGone ? {} : { path: `${page}${parts[at]}` }),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
