import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../../../../../plugins/offline/answer.ts'
import { type Double, type Exchange, json, startDouble } from '../server.ts'

/**
 * Anthropic's Messages API as docs.claude.com/en/api/messages describes it, as far as Patchbay uses it: answers streamed as
 * server-sent events with tool calls and usage, and the list of models. Models and fields: npm @anthropic-ai/sdk 1.14.0.
 */
export interface AnthropicDoubleOptions {
  key: string
  models?: readonly string[]
}

const MODELS = [
  ...[
    'claude-haiku-5-5',
    'claude-sonnet-5-5',
    'claude-opus-5-5',
    'claude-sonnet-5',
    'claude-opus-5',
    'claude-opus-4-8',
  ],
  ...['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-sonnet-4-6', 'claude-opus-4-6'],
]

export function startAnthropicDouble({ key, models = MODELS }: AnthropicDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: (request) => refusalOf(request, key),
    errorBody,
    http: {
      'GET /v1/models': ({ response }) =>
        json(response, 200, {
          data: models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-10-01T00:00:00Z' })),
          has_more: false,
          first_id: models[0],
          last_id: models.at(-1),
        }),
      'POST /v1/messages': (exchange) => messages(exchange, models),
    },
    sockets: {},
  })
}

function refusalOf({ headers }: IncomingMessage, key: string): { status: number; body: object } | undefined {
  if (headers['x-api-key'] !== key) return { status: 401, body: errorBody(401, undefined, 'invalid x-api-key') }
  if (headers['anthropic-version'] === '2023-06-01') return undefined
  return { status: 400, body: errorBody(400, undefined, 'anthropic-version: header is required') }
}

const TYPES: Readonly<Record<number, [type: string, message: string]>> = {
  400: ['invalid_request_error', 'The request is not valid'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'There is an issue with billing or payment information.'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'Not found'],
  429: ['rate_limit_error', 'This request would exceed your organization’s limit of 50 requests per minute.'],
  500: ['api_error', 'Internal server error'],
  503: ['overloaded_error', 'Overloaded'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [type, words] = TYPES[status] ?? ['api_error', 'Internal server error']
  const isQuota = code === 'insufficient_quota'
  const text = isQuota
    ? 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.'
    : (message ?? words)
  return {
    type: 'error',
    error: { type: isQuota ? 'billing_error' : type, message: text },
    request_id: `req_${randomUUID()}`,
  }
}

interface Block {
  type: string
  text?: string
  id?: string
  name?: string
  tool_use_id?: string
  content?: string
}

interface MessagesRequest {
  model?: string
  max_tokens?: number
  stream?: boolean
  system?: string
  temperature?: number
  output_config?: { effort?: string }
  thinking?: { type?: string; budget_tokens?: number }
  cache_control?: { type?: string; ttl?: string }
  messages?: { role: string; content: string | Block[] }[]
  tools?: { name: string; input_schema?: { type?: string } }[]
}

const FIELDS = new Set(
  'model max_tokens messages stream system temperature top_p top_k stop_sequences tools tool_choice thinking metadata service_tier output_config cache_control'.split(
    ' ',
  ),
)

/** What the API refuses of a request, in its own words; undefined when it is taken. */
function faultOf(asked: MessagesRequest): string | undefined {
  const stranger = Object.keys(asked).find((field) => !FIELDS.has(field))
  if (stranger !== undefined) return `${stranger}: Extra inputs are not permitted`
  const { model = '', messages = [], max_tokens, temperature, output_config, tools = [], system } = asked
  if (!(Number(max_tokens) >= 1)) return 'max_tokens: Field required'
  if (messages.length === 0) return 'messages: at least one message is required'
  if (system === '') return 'system: text content blocks must be non-empty'
  const thinks = !/^claude-(haiku-4|sonnet-4|opus-4-[56])/.test(model)
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 1)) return 'temperature: range: 0..1'
  if (temperature !== undefined && temperature !== 1 && thinks)
    return '`temperature` may only be set to 1 for this model.'
  if (output_config?.effort !== undefined && !thinks) return 'This model does not support the effort parameter.'
  const { thinking, cache_control } = asked
  if (cache_control !== undefined && cache_control.type !== 'ephemeral')
    return 'cache_control.type: Input should be ephemeral'
  if (thinking?.type === 'between_tools' && !model.startsWith('claude-sonnet-5-5'))
    return 'thinking.type: between_tools is not supported for this model.'
  if (thinking?.type === 'disabled' && /^claude-(opus-5-5|fable|sonnet-5-5)/.test(model))
    return 'thinking.type: this model cannot be used with thinking disabled.'
  if (thinking !== undefined && !['disabled', 'between_tools', 'adaptive', 'enabled'].includes(thinking.type ?? ''))
    return 'thinking.type: Input should be disabled, between_tools, adaptive or enabled'
  const nameless = tools.find(
    ({ name, input_schema }) => !/^[\w-]{1,128}$/.test(name) || input_schema?.type !== 'object',
  )
  if (nameless !== undefined) return 'tools.0.custom.input_schema.type: Field required'
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role'
  if (messages.at(-1)?.role !== 'user') {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.'
  }
  return faultOfBlocks(messages, tools.length > 0)
}

function faultOfBlocks(messages: NonNullable<MessagesRequest['messages']>, hasTools: boolean): string | undefined {
  const blocksOf = (at: number) => {
    const content = messages[at]?.content ?? []
    return typeof content === 'string' ? [{ type: 'text', text: content } as Block] : content
  }
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user' && role !== 'assistant') return `messages.${at}.role: Input should be 'user' or 'assistant'`
    const blocks = blocksOf(at)
    if (blocks.length === 0) return `messages.${at}: all messages must have non-empty content`
    if (blocks.some(({ type, text = '' }) => type === 'text' && text.trim() === '')) {
      return `messages: text content blocks must contain non-whitespace text`
    }
    const calls = blocks.flatMap(({ type, id = '' }) => (type === 'tool_use' ? [id] : []))
    const results = blocks.flatMap(({ type, tool_use_id = '' }) => (type === 'tool_result' ? [tool_use_id] : []))
    if (!hasTools && calls.length + results.length > 0) {
      return 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
    }
    if (calls.some((id) => !/^[\w-]+$/.test(id))) {
      return `messages.${at}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
    }
    const answered = new Set(blocksOf(at + 1).map(({ tool_use_id }) => tool_use_id))
    const open = calls.find((id) => !answered.has(id))
    if (open !== undefined) {
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}.`
    }
    const called = new Set(blocksOf(at - 1).map(({ id }) => id))
    if (results.some((id) => !called.has(id))) {
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks.`
    }
    if (results.length > 0 && blocks.findLastIndex(({ type }) => type === 'tool_result') >= results.length) {
      return `messages.${at}: \`tool_result\` blocks must come first in the message.`
    }
  }
  return undefined
}

async function messages({ request, response, body, fault }: Exchange, models: readonly string[]): Promise<void> {
  const asked = JSON.parse(String(body)) as MessagesRequest
  const { model = '', tools = [] } = asked
  if (!models.includes(model)) return json(response, 404, errorBody(404, undefined, `model: ${model}`))
  const refused = faultOf(asked)
  if (refused !== undefined) return json(response, 400, errorBody(400, undefined, refused))
  const turns = (asked.messages ?? []).map(({ role, content }) => ({
    role: role as 'user' | 'assistant',
    text: typeof content === 'string' ? content : content.map(({ text = '' }) => text).join(' '),
  }))
  const last = asked.messages?.at(-1)?.content
  const result = typeof last === 'string' ? undefined : last?.find(({ type }) => type === 'tool_result')
  const tool = result === undefined && /use the tool/i.test(turns.at(-1)?.text ?? '') ? tools[0] : undefined
  const reply = result ? `The tool said: ${result.content}` : answer({ sources: [asked.system ?? ''], turns })
  const input_tokens = Math.ceil(String(body).length / 4)
  const output_tokens = Math.ceil(reply.length / 4) + 1
  const usage = { input_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  if (asked.stream !== true) {
    return json(response, 400, errorBody(400, undefined, 'The double streams only'))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  let sent = 0
  const event = (type: string, fields: object = {}) => {
    if (fault?.kind === 'disconnect' && sent >= fault.after) return void request.socket.destroy()
    if (fault?.kind === 'malformed' && sent > 0 && sent <= fault.count)
      response.write('event: ping\ndata: {"type": "pi\n\n')
    sent++
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  }
  const id = `msg_${randomUUID()}`
  event('message_start', {
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  })
  const content_block = tool
    ? { type: 'tool_use', id: `toolu_${randomUUID()}`, name: tool.name, input: {} }
    : { type: 'text', text: '' }
  event('content_block_start', { index: 0, content_block })
  event('ping')
  const parts = tool ? ['', '{"city"', ': "Par', 'is"}'] : (reply.match(/\s*\S+/g) ?? [])
  for (const part of parts) {
    if (response.destroyed) return
    const delta = tool ? { type: 'input_json_delta', partial_json: part } : { type: 'text_delta', text: part }
    event('content_block_delta', { index: 0, delta })
    await sleep(1)
  }
  event('content_block_stop', { index: 0 })
  const stop_reason = tool ? 'tool_use' : 'end_turn'
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } })
  event('message_stop')
  response.end()
}
