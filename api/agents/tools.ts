import { type Static, Type } from 'typebox'
import { BEGIN_PROCEDURE } from '../../runtime/call/types/procedure.ts'
import type { SecretBox } from '../../runtime/lib/secret-box.ts'
import { formatDestination, readDestination } from '../../runtime/plugin-sdk/telephony/destination.ts'
import type { ArgumentChecks } from '../../runtime/tools/argument-check.ts'
import { faultOfParameters } from '../../runtime/tools/parameters-fault.ts'
import { DEFAULT_TOOL_TIMEOUT_MS, HTTP_METHODS, MAX_TOOL_TIMEOUT_MS, type Tool } from '../../runtime/tools/tool.ts'
import { type Fault, ValidationError } from '../schema.ts'
import { type HandoffAgents, handoffOf, nameOfHandoff, WEBHOOK } from './handoff-agents.ts'
import { MASK, maskedHeaders, sealedHeaders, storedHeaders } from './tool-headers.ts'

/** The tools of an agent: their shape, their faults, and the secrets in them, which are kept sealed and never shown. */

const Headers = Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 4_000 }), {
  maxProperties: 32,
  description: `Values are stored encrypted and shown as ${MASK}; sent as ${MASK}, one keeps its value.`,
})

const Http = Type.Object({
  method: Type.Optional(Type.Enum([...HTTP_METHODS])),
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'http or https. `{{name}}` behind the host stands for an argument that `parameters` names, else for a dynamic variable.',
  }),
  headers: Type.Optional(Headers),
  body: Type.Optional(
    Type.Unknown({
      description: 'JSON whose strings may hold `{{name}}`; absent: the arguments, where a body is sent.',
    }),
  ),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: MAX_TOOL_TIMEOUT_MS })),
})

export const ToolInput = Type.Object({
  type: Type.Enum(['http', 'client', 'transfer', 'handoff', 'hang_up', 'send_dtmf', 'knowledge', 'mcp']),
  name: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      description:
        'What the language model calls it. Of `mcp`: stands before names of its tools that others have; default: from its host.',
    }),
  ),
  description: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'When to use it, for the language model. Needed by all but `mcp`, whose tools describe themselves.',
    }),
  ),
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
      description: 'How long the page of `client`, or the server of `mcp`, may take.',
    }),
  ),
  secrets: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      maxItems: 16,
      description:
        'Secret values of `collect` that `http` and `client` get where they, or their arguments, say `{{name}}`.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Where `transfer` leads: a number, an extension of the trunk (`204`) or a SIP URI (`sip:204@pbx.example.com`). Of `handoff`: the agent_id of the next agent, or `webhook`: `url` is asked.',
    }),
  ),
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        'Of `mcp`: a server of the Model Context Protocol by streamable HTTP. Of `handoff` to `webhook`: answers a POST with `{"agent_id": "…"}`.',
    }),
  ),
  plugin: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Of `mcp`, in place of `url`: an installed plugin that has tools.',
    }),
  ),
  headers: Type.Optional(Headers),
  allow: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 128,
      description: 'The tools of an `mcp` server the agent may use; default: all it lists.',
    }),
  ),
  when: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_000, description: 'When `handoff` is used, for the language model.' }),
  ),
  carries: Type.Optional(
    Type.Enum(['all', 'summary', 'none'], {
      description:
        'What the next agent knows of the conversation before: all of it, a summary that the agent before makes, or the reason alone. Default: `all`.',
    }),
  ),
  says: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'What is said before `handoff` where the language model says nothing; `{{name}}` is filled in.',
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
type ToolsInput = Static<typeof Tools>

/** The tools described to the language model, and the faults of servers that should list more. */
export const AgentToolsBody = Type.Object({
  tools: Type.Array(
    Type.Object({
      type: Type.Enum([...ToolInput.properties.type.enum, 'procedure']),
      name: Type.String(),
      description: Type.String(),
      parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the arguments.' }),
    }),
  ),
  faults: Type.Array(Type.String()),
})

export const agentToolsExample: Static<typeof AgentToolsBody> = {
  tools: [
    {
      type: 'mcp',
      name: 'find_booking',
      description: 'Finds a booking by its number.',
      parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    },
  ],
  faults: ['MCP server "crm": no answer within 5000 ms'],
}

const NO_PARAMETERS = { type: 'object', properties: {} }
/**
 * The tools as they are stored: checked, header values sealed. `before` are those stored now, whose values a mask keeps.
 * Throws ValidationError with every fault.
 */
export async function storedTools(
  input: ToolsInput,
  before: readonly unknown[],
  {
    box,
    workspaceId,
    checks,
    agents,
    toolPlugins,
  }: {
    box: SecretBox
    workspaceId: string
    checks: ArgumentChecks
    agents: HandoffAgents
    /** The plugins that have tools, by their names. */
    toolPlugins: ReadonlyMap<string, unknown>
  },
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
    const { type } = tool
    const { name = defaultName(tool, agents), description = tool.when ?? '' } = tool
    if (name === '') fault(['name'], 'Field required', 'missing')
    if (description === '' && type !== 'mcp') {
      fault([type === 'handoff' ? 'when' : 'description'], 'Field required', 'missing')
    }
    if (names.has(name)) fault(['name'], 'is used by another tool of the agent')
    if (name === BEGIN_PROCEDURE) fault(['name'], 'is the tool that begins procedures')
    names.add(name)
    if (type === 'transfer') {
      if (tool.to === undefined) fault(['to'], 'Field required', 'missing')
      const to = tool.to === undefined ? undefined : readDestination(tool.to)
      if (tool.to !== undefined && to === undefined) fault(['to'], 'Invalid phone number format')
      return { type, name, description, to: to ? formatDestination(to) : '', mode: tool.mode ?? 'blind' }
    }
    const sealed = (given: Readonly<Record<string, string>> | undefined, url: string, at: string[]) =>
      sealedHeaders({ given, url, box, workspaceId }, storedHeaders(before, type, name), (header, msg) =>
        fault([...at, 'headers', header], msg),
      )
    if (type === 'mcp') {
      const { url = '', allow, timeout_ms: timeoutMs = DEFAULT_TOOL_TIMEOUT_MS } = tool
      const allowed = allow === undefined ? {} : { allow }
      if (tool.plugin !== undefined) {
        const { plugin } = tool
        if (!toolPlugins.has(plugin))
          fault(
            ['plugin'],
            `is none of the plugins that have tools: ${[...toolPlugins.keys()].sort().join(', ') || 'there are none'}`,
          )
        if (tool.url !== undefined) fault(['url'], 'must be left out where `plugin` is given')
        if (tool.headers !== undefined) fault(['headers'], 'must be left out where `plugin` is given')
        return { type, name, description, plugin, url: `plugin:${plugin}`, headers: {}, timeoutMs, ...allowed }
      }
      const unfit = tool.url === undefined ? 'Field required' : faultOfUrl(url)
      if (unfit !== undefined) fault(['url'], unfit, tool.url === undefined ? 'missing' : 'value_error')
      else if (url.includes('{{')) fault(['url'], 'must be the same for every call: no placeholder')
      const headers = sealed(tool.headers, url, [])
      return { type, name, description, url, headers, timeoutMs, ...allowed }
    }
    if (type === 'handoff') {
      const { fault: unfit, ...handoff } = handoffOf(tool, agents)
      if (unfit !== undefined) fault([unfit.field], unfit.msg, unfit.type)
      if (handoff.to !== WEBHOOK) return { type, name, description, ...handoff }
      const { url = '', timeout_ms: timeoutMs = DEFAULT_TOOL_TIMEOUT_MS } = tool
      const wrong = tool.url === undefined ? 'Field required' : faultOfUrl(url)
      if (wrong !== undefined) fault(['url'], wrong, tool.url === undefined ? 'missing' : 'value_error')
      return {
        type,
        name,
        description,
        ...handoff,
        url,
        headers: sealed(tool.headers, url, []),
        timeoutMs,
      }
    }
    if (type !== 'http' && type !== 'client') return { type, name, description }
    const { parameters = NO_PARAMETERS } = tool
    const wrong = parametersFaults[i]
    if (wrong !== undefined) fault(['parameters'], wrong)
    if (type === 'client') {
      const timeoutMs = tool.timeout_ms ?? DEFAULT_TOOL_TIMEOUT_MS
      return { type, name, description, parameters, timeoutMs, ...secretsOf(tool) }
    }
    if (tool.http === undefined) fault(['http'], 'Field required', 'missing')
    const { method = 'GET', url = '', body, timeout_ms: timeoutMs = DEFAULT_TOOL_TIMEOUT_MS } = tool.http ?? {}
    const unfit = tool.http && faultOfUrl(url)
    if (unfit) fault(['http', 'url'], unfit)
    const headers = sealed(tool.http?.headers, url, ['http'])
    return {
      type,
      name,
      description,
      parameters,
      ...secretsOf(tool),
      http: { method, url, headers, timeoutMs, ...(body !== undefined && { body }) },
    }
  })
  if (faults.length > 0) throw new ValidationError(faults)
  return tools
}

const secretsOf = ({ secrets = [] }: Static<typeof ToolInput>): { secrets?: string[] } =>
  secrets.length === 0 ? {} : { secrets }

/** Stored tools as callers see them. */
export function toolsBody(stored: readonly unknown[]): ToolsInput {
  return (stored as readonly Tool[]).map((tool) => {
    if (tool.type === 'client') {
      const { timeoutMs, ...page } = tool
      return { ...page, timeout_ms: timeoutMs }
    }
    if (tool.type === 'mcp') {
      const { headers, timeoutMs, url, ...source } = tool
      if (source.plugin !== undefined) return { ...source, timeout_ms: timeoutMs }
      const server = { ...source, url }
      return { ...server, headers: maskedHeaders(headers), timeout_ms: timeoutMs }
    }
    if (tool.type === 'handoff') {
      const { description: when, headers, timeoutMs, ...handoff } = tool
      if (headers === undefined) return { ...handoff, when }
      return { ...handoff, when, headers: maskedHeaders(headers), timeout_ms: timeoutMs }
    }
    if (tool.type !== 'http') return tool
    const { headers, timeoutMs, ...http } = tool.http
    return { ...tool, http: { ...http, headers: maskedHeaders(headers), timeout_ms: timeoutMs } }
  })
}

function defaultName({ type, to, url, plugin }: Static<typeof ToolInput>, agents: HandoffAgents): string {
  if (type === 'mcp') return plugin === undefined ? nameOfServer(url) : nameOf(plugin)
  return type === 'handoff' ? nameOfHandoff(to, agents) : ''
}

/** `https://crm.example.com/mcp` is `crm_example_com`. */
function nameOfServer(url = ''): string {
  return nameOf(URL.canParse(url) ? new URL(url).hostname : 'server')
}

function nameOf(source: string): string {
  const name = source.replace(/[^A-Za-z0-9]+/g, '_').slice(0, 60)
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`
}

function faultOfUrl(url: string): string | undefined {
  const [, host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (host === undefined) return 'must begin with http:// or https://'
  if (host.includes('{{')) return 'must name its host itself: no placeholder before the path'
  if (!URL.canParse(url.replace(/\{\{[^{}]*\}\}/g, 'x'))) return 'is no URL'
  if (host.includes('@')) return 'must not hold a user or password; use a header'
  return undefined
}
