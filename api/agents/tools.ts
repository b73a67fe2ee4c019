import { type Static, Type } from 'typebox'
import { parsePhoneNumber } from '../../runtime/phone-number.ts'
import type { SecretBox } from '../../runtime/secret-box.ts'
import type { ArgumentChecks } from '../../runtime/tools/argument-check.ts'
import { DEFAULT_TOOL_TIMEOUT_MS, HTTP_METHODS, MAX_TOOL_TIMEOUT_MS, type Tool } from '../../runtime/tools/tool.ts'
import { type Fault, ValidationError } from '../schema.ts'

/** The tools of an agent: their shape, their faults, and the secrets in them, which are kept sealed and never shown. */

/** Stands for a stored header value, in answers and, to keep it, in changes. */
const MASK = '********'

const Http = Type.Object({
  method: Type.Optional(Type.Enum([...HTTP_METHODS])),
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'http or https. `{{name}}` behind the host stands for an argument, else for a dynamic variable.',
  }),
  headers: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 4_000 }), {
      maxProperties: 32,
      description: `Values are stored encrypted and shown as ${MASK}; sent as ${MASK}, one keeps its value.`,
    }),
  ),
  body: Type.Optional(
    Type.Unknown({
      description: 'JSON whose strings may hold `{{name}}`; absent: the arguments, where a body is sent.',
    }),
  ),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: MAX_TOOL_TIMEOUT_MS })),
})

const ToolInput = Type.Object({
  type: Type.Enum(['http', 'client', 'transfer', 'hang_up', 'send_dtmf', 'knowledge']),
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$', description: 'What the language model calls it.' }),
  description: Type.String({ minLength: 1, maxLength: 2_000, description: 'When to use it, for the language model.' }),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of an object: the arguments of `http` and `client`.',
    }),
  ),
  http: Type.Optional(Http),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: MAX_TOOL_TIMEOUT_MS,
      description: 'How long the page of `client` may take.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Where `transfer` leads: a number, an extension of the trunk (`204`) or a SIP URI (`sip:204@pbx.example.com`).',
    }),
  ),
  mode: Type.Optional(
    Type.Enum(['blind', 'warm'], {
      description:
        'How `transfer` leads there; `warm`: the person is told who calls and why, and takes the call or refuses it. Default: `blind`.',
    }),
  ),
})

export const Tools = Type.Array(ToolInput, { maxItems: 64 })
export type ToolsInput = Static<typeof Tools>

export const toolExample: ToolsInput[number] = {
  type: 'http',
  name: 'order_status',
  description: 'Looks up where an order is.',
  parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
  http: {
    method: 'GET',
    url: 'https://api.example.com/orders/{{order_id}}',
    headers: { authorization: MASK },
    timeout_ms: DEFAULT_TOOL_TIMEOUT_MS,
  },
}

const NO_PARAMETERS = { type: 'object', properties: {} }
/** An extension, too short to be a number somewhere else, or a SIP URI. */
const NAME_OR_URI =
  /^(?:[0-9*#]{1,6}|[A-Za-z][A-Za-z0-9._-]{0,62}|sips?:[A-Za-z0-9._~!*+$&=%-]{1,64}@[A-Za-z0-9.[\]:-]{1,120})$/

const MAX_SCHEMA_CHARACTERS = 20_000
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** They are the connection's own, or say how long and how packed the body is. */
const OWN_HEADERS = new Set(
  'host connection content-length transfer-encoding upgrade te trailer expect proxy-authorization accept-encoding'.split(
    ' ',
  ),
)

/** Whose the sealed headers are. */
export const labelOfTools = (workspaceId: string): string => `tool headers of ${workspaceId}`

/**
 * The tools as they are stored: checked, header values sealed. `before` are those stored now, whose values a mask keeps.
 * Throws ValidationError with every fault.
 */
export async function storedTools(
  input: ToolsInput,
  before: readonly unknown[],
  { box, workspaceId, checks }: { box: SecretBox; workspaceId: string; checks: ArgumentChecks },
): Promise<Tool[]> {
  const faults: Fault[] = []
  const parametersFaults = await Promise.all(
    input.map(({ type, parameters = NO_PARAMETERS }) =>
      type === 'http' || type === 'client'
        ? (faultOfParameters(parameters) ?? checks.faultOfSchema(workspaceId, parameters))
        : undefined,
    ),
  )
  const names = new Set<string>()
  const tools = input.map((tool, i): Tool => {
    const fault = (field: (string | number)[], msg: string, type: Fault['type'] = 'value_error'): void => {
      faults.push({ loc: ['body', 'tools', String(i), ...field.map(String)], msg, type })
    }
    const { type, name, description } = tool
    if (names.has(name)) fault(['name'], 'is used by another tool of the agent')
    names.add(name)
    if (type === 'transfer') {
      if (tool.to === undefined) fault(['to'], 'Field required', 'missing')
      const to = parsePhoneNumber(tool.to ?? '') ?? (NAME_OR_URI.test(tool.to ?? '') ? tool.to : undefined)
      if (tool.to !== undefined && to === undefined) fault(['to'], 'Invalid phone number format')
      return { type, name, description, to: to ?? '', mode: tool.mode ?? 'blind' }
    }
    if (type !== 'http' && type !== 'client') return { type, name, description }
    const { parameters = NO_PARAMETERS } = tool
    const wrong = parametersFaults[i]
    if (wrong !== undefined) fault(['parameters'], wrong)
    if (type === 'client') {
      return { type, name, description, parameters, timeoutMs: tool.timeout_ms ?? DEFAULT_TOOL_TIMEOUT_MS }
    }
    if (tool.http === undefined) fault(['http'], 'Field required', 'missing')
    const { method = 'GET', url = '', body, timeout_ms: timeoutMs = DEFAULT_TOOL_TIMEOUT_MS } = tool.http ?? {}
    const unfit = tool.http && faultOfUrl(url)
    if (unfit) fault(['http', 'url'], unfit)
    const stored = storedHttp(before, name)
    const headers: Record<string, string> = {}
    for (const [header, value] of Object.entries(tool.http?.headers ?? {})) {
      const at = ['http', 'headers', header]
      if (!HEADER_NAME.test(header) || OWN_HEADERS.has(header.toLowerCase())) fault(at, 'is no header a tool may set')
      else if (/[\r\n\0]/.test(value)) fault(at, 'must be one line')
      else if (value !== MASK) headers[header] = box.seal(value, labelOfTools(workspaceId))
      else {
        const kept = Object.entries(stored?.headers ?? {}).find(([one]) => one.toLowerCase() === header.toLowerCase())
        if (kept === undefined) fault(at, 'has no stored value to keep')
        // Else whoever may change the address could have the secret sent to themselves.
        else if (originOf(stored?.url) !== originOf(url)) fault(at, 'must be given again, as the address changed')
        else headers[header] = kept[1]
      }
    }
    return {
      type,
      name,
      description,
      parameters,
      http: { method, url, headers, timeoutMs, ...(body !== undefined && { body }) },
    }
  })
  if (faults.length > 0) throw new ValidationError(faults)
  return tools
}

/** A stored tool with its secrets opened. A header that can't be opened is left out. */
export function openTool(tool: Tool, box: SecretBox, workspaceId: string): Tool {
  if (tool.type !== 'http') return tool
  const headers = Object.entries(tool.http.headers).flatMap(([name, sealed]) => {
    const value = box.open(sealed, labelOfTools(workspaceId))
    return value === undefined ? [] : [[name, value]]
  })
  return { ...tool, http: { ...tool.http, headers: Object.fromEntries(headers) } }
}

/** Stored tools as callers see them. */
export function toolsBody(stored: readonly unknown[]): ToolsInput {
  return (stored as readonly Tool[]).map((tool) => {
    if (tool.type === 'client') {
      const { timeoutMs, ...page } = tool
      return { ...page, timeout_ms: timeoutMs }
    }
    if (tool.type !== 'http') return tool
    const { headers, timeoutMs, ...http } = tool.http
    const masked = Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]))
    return { ...tool, http: { ...http, headers: masked, timeout_ms: timeoutMs } }
  })
}

function storedHttp(before: readonly unknown[], name: string) {
  const found = (before as readonly Tool[]).find((tool) => tool.name === name)
  return found?.type === 'http' ? found.http : undefined
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).origin
}

function faultOfUrl(url: string): string | undefined {
  const [, host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (host === undefined) return 'must begin with http:// or https://'
  if (host.includes('{{')) return 'must name its host itself: no placeholder before the path'
  if (!URL.canParse(url.replace(/\{\{.*?\}\}/g, 'x'))) return 'is no URL'
  if (host.includes('@')) return 'must not hold a user or password; use a header'
  return undefined
}

function faultOfParameters(schema: Record<string, unknown>): string | undefined {
  if (schema.type !== 'object') return 'must be a JSON Schema with "type": "object"'
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) return `must be under ${MAX_SCHEMA_CHARACTERS} characters`
  const { properties = {} } = schema
  const plain = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!plain(properties) || !Object.values(properties as object).every(plain))
    return 'has properties that are no schemas'
  return undefined
}
