import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure, ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import type { ProviderHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import type { ChatRequest, LlmEvent } from '../../runtime/plugin-sdk/speech/chat-request.ts'
import { EventLLM } from '../../runtime/plugin-sdk/speech/event-llm.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'
import { ANTHROPIC, httpOf } from './endpoint.ts'
import { type ModelChoice, messagesBody } from './messages-body.ts'

const DEFAULT_MODEL = 'claude-haiku-4-5'
/** An answer to be spoken is short; the API wants a limit. */
const DEFAULT_MAX_TOKENS = 1_024

export function makeLlm(host: PluginHost, options: SpeechOptions): EventLLM {
  const { model = DEFAULT_MODEL, temperature, settings } = options
  const http = httpOf(host)
  const choice: ModelChoice = {
    model,
    maxTokens: Number(settings.maxTokens ?? DEFAULT_MAX_TOKENS),
    effort: String(settings.effort ?? 'low'),
  }
  const chat = (request: ChatRequest, signal: AbortSignal) => answer(http, messagesBody(request, choice), signal)
  return new EventLLM({ provider: 'anthropic', identity: ANTHROPIC, model, temperature, chat })
}

interface Usage {
  input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  cache_read_input_tokens?: number | null
  output_tokens?: number | null
}

interface StreamEvent {
  type: string
  index?: number
  message?: { usage?: Usage }
  content_block?: { type: string; id?: string; name?: string }
  delta?: { type?: string; text?: string; partial_json?: string }
  usage?: Usage
  error?: { type?: string; message?: string }
}

/** Errors that come once the answer has begun, by the status they would have had: docs.claude.com/en/api/errors. */
const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** One answer of the Messages API, as it streams: docs.claude.com/en/docs/build-with-claude/streaming. */
async function* answer(http: ProviderHttp, body: object, signal: AbortSignal): AsyncGenerator<LlmEvent> {
  const response = await http.fetch('/v1/messages', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  const calls = new Map<number, { id: string; name: string; json: string }>()
  let inputTokens = 0
  let outputTokens = 0
  let over = false
  const count = (usage: Usage | undefined): void => {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage ?? {}
    const read = (input_tokens ?? 0) + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0)
    inputTokens = Math.max(inputTokens, read)
    outputTokens = Math.max(outputTokens, output_tokens ?? 0)
  }
  for await (const event of jsonEvents<StreamEvent>(response)) {
    const { type, index = 0, content_block, delta } = event
    if (type === 'message_start') count(event.message?.usage)
    else if (type === 'message_delta') count(event.usage)
    else if (type === 'content_block_start' && content_block?.type === 'tool_use') {
      calls.set(index, { id: content_block.id ?? '', name: content_block.name ?? '', json: '' })
    } else if (type === 'content_block_delta') {
      if (delta?.type === 'text_delta') yield { type: 'text', text: delta.text ?? '' }
      const call = calls.get(index)
      if (delta?.type === 'input_json_delta' && call) call.json += delta.partial_json ?? ''
    } else if (type === 'content_block_stop') {
      const call = calls.get(index)
      calls.delete(index)
      if (call) yield { type: 'tool_call', id: call.id, name: call.name, arguments: call.json || '{}' }
    } else if (type === 'message_stop') over = true
    else if (type === 'error') {
      const { type: code = '', message } = event.error ?? {}
      throw new ProviderError(explainFailure(ANTHROPIC, { status: STATUS_OF[code], code, message }))
    }
  }
  if (!over) throw new Error('the answer broke off')
  yield { type: 'usage', inputTokens, outputTokens }
}
