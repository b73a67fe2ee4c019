import { type SecretBox, UnopenedSecret } from '../../runtime/lib/secret-box.ts'
import type { Tool } from '../../runtime/tools/tool.ts'

/** The headers of tools: they hold keys, are kept sealed and never shown. */

/** Stands for a stored header value, in answers and, to keep it, in changes. */
export const MASK = '********'

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** They are the connection's own, or say how long and how packed the body is. */
const OWN_HEADERS = new Set(
  'host connection content-length transfer-encoding upgrade te trailer expect proxy-authorization accept-encoding'.split(
    ' ',
  ),
)

type Headers = Readonly<Record<string, string>>

/** Whose the sealed headers are. */
export const labelOfTools = (workspaceId: string): string => `tool headers of ${workspaceId}`

export const maskedHeaders = (headers: Headers) => Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]))

/** The sealed headers of a stored tool, and where they are sent. */
export function storedHeaders(before: readonly unknown[], type: string, name: string) {
  const found = (before as readonly Tool[]).find((tool) => tool.type === type && tool.name === name)
  if (found?.type === 'http') return found.http
  if (found?.type === 'handoff' && found.url !== undefined) return { url: found.url, headers: found.headers ?? {} }
  return found?.type === 'mcp' ? found : undefined
}

/** The headers as they are stored. `fault` is called with each invalid one. */
export function sealedHeaders(
  {
    given = {},
    url,
    box,
    workspaceId,
  }: { given: Headers | undefined; url: string; box: SecretBox; workspaceId: string },
  stored: { url: string; headers: Headers } | undefined,
  fault: (header: string, msg: string) => void,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [header, value] of Object.entries(given)) {
    if (!HEADER_NAME.test(header) || OWN_HEADERS.has(header.toLowerCase())) fault(header, 'is no header a tool may set')
    else if (/[\r\n\0]/.test(value)) fault(header, 'must be one line')
    else if (value !== MASK) headers[header] = box.seal(value, labelOfTools(workspaceId))
    else {
      const kept = Object.entries(stored?.headers ?? {}).find(([one]) => one.toLowerCase() === header.toLowerCase())
      if (kept === undefined) fault(header, 'has no stored value to keep')
      // Otherwise a user who may change the address could have the secret sent to themselves.
      else if (originOf(stored?.url) !== originOf(url)) fault(header, 'must be given again, as the address changed')
      else headers[header] = kept[1]
    }
  }
  return headers
}

/** The headers with their secrets. Throws UnopenedSecret: without one of them the request would be another. */
export function openHeaders(sealed: Headers, box: SecretBox, workspaceId: string): Record<string, string> {
  const opened = Object.entries(sealed).map(([name, text]) => {
    const value = box.open(text, labelOfTools(workspaceId))
    if (value === undefined) throw new UnopenedSecret(`the header ${JSON.stringify(name)}`)
    return [name, value]
  })
  return Object.fromEntries(opened)
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).origin
}
