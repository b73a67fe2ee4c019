import { MASK } from '../../api/agents/tool-headers.ts'
import { withHeaders } from './kinds.ts'
import { type LockEntry, valueDigest } from './lock-file.ts'
import type { Fields } from './managed-file.ts'

/** Headers of tools name their secrets: `Bearer ${CRM_KEY}`. */
const SECRET = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

interface Given {
  env: Readonly<Record<string, string | undefined>>
  /** The tools on the instance; none where there is no such agent yet. */
  instance: Fields
  headers: LockEntry['headers']
  /** Send every value anew, also where the file says the same as before. */
  all: boolean
}

/** The tools with their secrets, or with the mask that keeps the one that is stored; and the names that have no value. */
export function withSecrets(
  fields: Fields,
  { env, instance, headers, all }: Given,
): { tools: unknown[]; missing: string[] } {
  const missing: string[] = []
  const stored = new Map<string, string>()
  withHeaders(instance, (value, of, tool) => {
    stored.set(of, originOf(tool))
    return value
  })
  const tools = withHeaders(fields, (value, of, tool) => {
    const isKept = !all && headers[of] === valueDigest(value) && stored.get(of) === originOf(tool)
    if (isKept) return MASK
    return value.replace(SECRET, (_, name: string) => {
      const secret = env[name]
      if (secret === undefined || secret === '') missing.push(`${name} is not set: the header of "${of}" needs it`)
      return secret ?? ''
    })
  })
  return { tools, missing }
}

/** A name for the secret of a header: RECEPTION_ORDER_STATUS_AUTHORIZATION. */
export const secretName = (...parts: string[]): string =>
  parts
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')

/** Where the headers of a tool go: a stored value is not sent elsewhere. */
function originOf(tool: Record<string, unknown>): string {
  const http = tool.http as { url?: unknown } | undefined
  const url = String(http?.url ?? tool.url ?? '')
  return URL.canParse(url) ? new URL(url).origin : url
}
