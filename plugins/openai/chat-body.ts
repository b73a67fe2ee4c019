import { createHash } from 'node:crypto'
import type { ChatRequest, Message } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { chatTurns } from '../../runtime/plugin-sdk/chat/chat-turns.ts'

export interface ModelChoice {
  model: string
  isOpenAI: boolean
  reasoningEffort: string | undefined
  maxCompletionTokens: number | undefined
}

/** How a server takes conversations; found out by what it refuses. */
export interface Manner {
  /** Fields it refused. */
  readonly without: ReadonlySet<string>
  /** Instructions at the beginning alone and turns that alternate, as many chat templates want them. */
  readonly alternating: boolean
  /** Instructions go into the first turn: the template knows no others. */
  readonly noSystem: boolean
  /** Ids of tool calls as Mistral's servers want them: nine letters and digits. */
  readonly shortIds: boolean
}

export const AS_OPENAI: Manner = { without: new Set(), alternating: false, noSystem: false, shortIds: false }

/** What a model of OpenAI's takes as reasoning_effort, the quickest first. Others refuse the field. */
const EFFORTS: readonly (readonly [models: RegExp, efforts: readonly string[]])[] = [
  [/^gpt-5(\.[01])?-chat/, []],
  [/^gpt-5(-mini|-nano)?(-\d{4}-.*)?$/, ['minimal', 'low', 'medium', 'high']],
  [/^gpt-(5\.\d|[6-9])/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
  [/^o\d/, ['low', 'medium', 'high']],
]

/** The effort to ask for: the operator's where the model takes it, else the quickest it has. */
function effortFor({ model, isOpenAI, reasoningEffort }: ModelChoice): string | undefined {
  const efforts = EFFORTS.find(([models]) => models.test(model))?.[1]
  // Of models of other servers the operator knows more.
  if (efforts === undefined) return isOpenAI ? undefined : reasoningEffort
  return reasoningEffort !== undefined && efforts.includes(reasoningEffort) ? reasoningEffort : efforts[0]
}

/** Tools with an effort above none are for the Responses API alone since gpt-5.4. */
const TOOLS_WITHOUT_THOUGHT = /^gpt-(5\.[4-9]|[6-9])/

/** The body of a request for a streamed chat completion: platform.openai.com/docs/api-reference/chat/create. */
export function chatBody(request: ChatRequest, choice: ModelChoice, manner: Manner): Record<string, unknown> {
  const { model, isOpenAI, maxCompletionTokens } = choice
  const { tools, temperature } = request
  const thinks = effortFor(choice)
  const effort = tools.length > 0 && TOOLS_WITHOUT_THOUGHT.test(model) && thinks !== undefined ? 'none' : thinks
  const reasons = effort !== undefined && effort !== 'none'
  const isReasoner = /^(gpt-[5-9]|o\d)/.test(model)
  const limit = isOpenAI || isReasoner ? 'max_completion_tokens' : 'max_tokens'
  const body: Record<string, unknown> = {
    model,
    messages: messagesOf(request, manner),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
        }),
    // Models that reason, and gpt-5 in any case, take the default alone.
    ...(temperature === undefined || reasons || /^(gpt-5(-|$)|gpt-5\.\d-chat|o\d)/.test(model) ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(maxCompletionTokens === undefined ? {} : { [limit]: maxCompletionTokens }),
    // Requests that begin alike go to where their beginning is cached.
    ...(isOpenAI ? { prompt_cache_key: cacheKeyOf(request) } : {}),
  }
  for (const field of manner.without) delete body[field]
  return body
}

/** Fields a server may do without. */
const OPTIONAL = [
  ...['stream_options', 'prompt_cache_key', 'reasoning_effort', 'temperature', 'max_completion_tokens'],
  ...['max_tokens'],
]

/** How to ask again what was refused in these words; undefined where the manner is not the reason. */
export function otherManner(
  words: string,
  body: Readonly<Record<string, unknown>>,
  manner: Manner,
): Manner | undefined {
  const field = OPTIONAL.find((name) => name in body && new RegExp(`\\b${name}\\b`).test(words))
  if (field !== undefined) return { ...manner, without: new Set([...manner.without, field]) }
  if (!manner.shortIds && /tool call id .*(length of 9|a-z, ?A-Z, ?0-9)/i.test(words))
    return { ...manner, shortIds: true }
  const knowsNoSystem =
    /system role (?:is )?not supported|does not support .{0,20}system|only user, assistant(?: and|,) tool|roles are supported, got system/i
  if (!manner.noSystem && knowsNoSystem.test(words)) return { ...manner, alternating: true, noSystem: true }
  const wantsTurns =
    /roles? must alternate|system (?:message|role|prompt).{0,40}(?:must|at the (?:beginning|start)|not supported|first)|unexpected role|after the optional system message|expected last role|last message must/i
  if (!manner.alternating && wantsTurns.test(words)) return { ...manner, alternating: true }
  return undefined
}

function cacheKeyOf({ messages, tools }: ChatRequest): string {
  const [first] = messages
  const instructions = first?.role === 'system' ? first.content : ''
  const hash = createHash('sha256').update(instructions)
  for (const { name } of tools) hash.update(`\n${name}`)
  return `patchbay-${hash.digest('hex').slice(0, 24)}`
}

function messagesOf(request: ChatRequest, manner: Manner): object[] {
  const idOf = (id: string) => (manner.shortIds ? createHash('sha256').update(id).digest('hex').slice(0, 9) : id)
  return manner.alternating ? alternating(request, idOf, manner.noSystem) : asTheyAre(request.messages, idOf)
}

const callOf = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})

/** Each call with its result right behind it; calls without a result are left out, as results without a call are. */
function asTheyAre(messages: readonly Message[], idOf: (id: string) => string): object[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool_result' ? [[message.id, message.content] as const] : [])),
  )
  const out: object[] = []
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message
    if (message.role === 'tool_result') continue
    if (message.role !== 'tool_call') {
      if (message.content.trim() !== '' || message.role === 'user') {
        out.push({ role: message.role, content: message.content })
      }
      continue
    }
    const calls = [message]
    for (let next = messages[at + 1]; next?.role === 'tool_call'; next = messages[++at + 1]) calls.push(next)
    const answered = calls.filter(({ id }) => results.has(id))
    if (answered.length === 0) continue
    const tool_calls = answered.map(({ id, name, arguments: text }) => callOf(idOf(id), name, whole(text)))
    // What was said beside a call belongs to the same message.
    const last = out.at(-1) as { role?: string; content?: string; tool_calls?: unknown } | undefined
    if (last?.role === 'assistant' && last.tool_calls === undefined) last.tool_calls = tool_calls
    else out.push({ role: 'assistant', content: null, tool_calls })
    for (const { id } of answered) out.push({ role: 'tool', tool_call_id: idOf(id), content: results.get(id) ?? '' })
  }
  return out.length === 0 ? [{ role: 'user', content: '' }] : out
}

function alternating(request: ChatRequest, idOf: (id: string) => string, noSystem: boolean): object[] {
  const { system, turns } = chatTurns(request)
  const out: object[] = system === '' || noSystem ? [] : [{ role: 'system', content: system }]
  if (noSystem && system !== '') turns[0]?.parts.unshift({ type: 'text', text: `${system}\n` })
  for (const { role, parts } of turns) {
    const content = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const tool_calls = parts.flatMap((part) =>
      part.type === 'call' ? [callOf(idOf(part.id), part.name, JSON.stringify(part.input))] : [],
    )
    for (const part of parts) {
      if (part.type === 'result') out.push({ role: 'tool', tool_call_id: idOf(part.id), content: part.text })
    }
    if (tool_calls.length > 0) out.push({ role, content: content || null, tool_calls })
    else if (content !== '') out.push({ role, content })
  }
  return out
}

/** Servers parse the arguments of past calls, and refuse the whole request for one that is no JSON. */
function whole(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}'
  } catch {
    return '{}'
  }
}
