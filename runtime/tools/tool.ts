import type { ToolSpec } from '../call/types/agent-spec.ts'

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export const DEFAULT_TOOL_TIMEOUT_MS = 5_000
export const MAX_TOOL_TIMEOUT_MS = 15_000

/** The request of an HTTP tool. `{{name}}` stands for an argument its schema names, else for a variable of the call. */
export interface HttpRequest {
  method: (typeof HTTP_METHODS)[number]
  url: string
  /** Stored sealed, for they hold keys. */
  headers: Record<string, string>
  /** JSON, its strings templates; absent: the arguments, where the method has a body. */
  body?: unknown
  timeoutMs: number
}

interface Named {
  name: string
  description: string
}

interface MayTakeSecrets {
  /** The secret values that are filled into its request, by the names they are collected by. */
  secrets?: string[]
}

/** A server of the Model Context Protocol, or a plugin, which lists tools of its own. */
export interface McpSource extends Named {
  type: 'mcp'
  /** Of a plugin `plugin:<name>`. */
  url: string
  plugin?: string
  /** Stored sealed. */
  headers: Record<string, string>
  /** The tools the agent may use, by their server's names; absent: all. */
  allow?: string[]
  timeoutMs: number
}

/** Hands the caller to another agent; `description` says when. */
export interface HandoffTool extends Named {
  type: 'handoff'
  /** An agent of the workspace; `webhook`: the address `url` is asked for one. */
  to: string
  url?: string
  /** Stored sealed. */
  headers?: Record<string, string>
  timeoutMs?: number
  carries: 'all' | 'summary' | 'none'
  /** Said before, where the model says nothing. */
  says?: string
}

/** A tool of an agent, or where it finds some. */
export type Tool = OwnTool | McpSource

/** A tool the agent's maker described. */
export type OwnTool =
  /** A function of the page that the caller has open. */
  | (Named & MayTakeSecrets & { type: 'client'; parameters: Record<string, unknown>; timeoutMs: number })
  | (Named & MayTakeSecrets & { type: 'http'; parameters: Record<string, unknown>; http: HttpRequest })
  | (Named & { type: 'transfer'; to: string; mode?: 'blind' | 'warm' })
  | HandoffTool
  | (Named & { type: 'hang_up' | 'send_dtmf' | 'knowledge' })

const object = (properties: Record<string, unknown>): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

const PARAMETERS = {
  transfer: object({}),
  hang_up: object({}),
  send_dtmf: object({ keys: { type: 'string', description: 'Keys to press: 0-9, *, #', pattern: '^[0-9*#]{1,32}$' } }),
  knowledge: object({ query: { type: 'string', description: 'What to look up' } }),
} as const

const WARM_TRANSFER = object({
  summary: {
    type: 'string',
    maxLength: 600,
    description: 'Who calls and why, in one or two sentences: it is said to the person before the call is handed over.',
  },
})

const REASON = {
  type: 'string',
  maxLength: 500,
  description: 'Why, in one sentence: what the caller wants, and what was found out. The next agent reads it.',
}
const SUMMARY = {
  type: 'string',
  maxLength: 4_000,
  description: 'What was talked about so far, in a few sentences: the next agent knows nothing else of it.',
}
const HANDOFF = object({ reason: REASON })
const HANDOFF_WITH_SUMMARY = object({ reason: REASON, summary: SUMMARY })

/** JSON Schema of the arguments. */
export function parametersOf(tool: OwnTool): Record<string, unknown> {
  if (tool.type === 'handoff') return tool.carries === 'summary' ? HANDOFF_WITH_SUMMARY : HANDOFF
  if (tool.type === 'http' || tool.type === 'client') return tool.parameters
  return tool.type === 'transfer' && tool.mode === 'warm' ? WARM_TRANSFER : PARAMETERS[tool.type]
}

export const isOwnTool = (tool: Tool): tool is OwnTool => tool.type !== 'mcp'

/** The tool's description for the language model. */
export function toolSpec(tool: OwnTool): ToolSpec {
  const { name, description, type: kind } = tool
  const spec = { name, description, parameters: parametersOf(tool), kind }
  if (tool.type !== 'handoff') return spec
  const when = `Hands the caller to another agent, who goes on with them at once. Use it when: ${description}`
  return { ...spec, description: when, ...(tool.says === undefined ? {} : { says: tool.says }) }
}
