import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { ChatRequest, LlmEvent } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { EventLLM } from '../../runtime/plugin-sdk/chat/event-llm.ts'
import { explainFailure, ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import type { ProviderHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'
import { ANTHROPIC, httpOf } from './endpoint.ts'
import { type ModelChoice, messagesBody } from './messages-body.ts'

const DEFAULT_MODEL = 'claude-haiku-5-5'
/** An answer to be spoken is short; the API wants a limit. */
const DEFAULT_MAX_TOKENS = 1_024

export function makeLlm(host: PluginHost, options: SpeechOptions): EventLLM {
  const { model = DEFAULT_MODEL, temperature, settings } = options
  const http = httpOf(host)
  const choice: ModelChoice = {
    model,
    maxTokens: Number(settings.maxTokens ?? DEFAULT_MAX_TOKENS),
    effort: typeof settings.effort === 'string' ? settings.effort : undefined,
  }
  const chat = (request: ChatRequest, signal: AbortSignal) => answer(http, messagesBody(request, choice), signal)
  return new EventLLM({ provider: 'anthropic', identity: ANTHROPIC, model, temperature, chat })
}

interface Usage {
  input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  cache_read_input_tokens?: number | null
  output_tokens?: number | null
  output_tokens_details?: { thinking_tokens?: number } | null
}

interface StreamEvent {
  type: string
  index?: number
  message?: { usage?: Usage }
  content_block?: { type: string; id?: string; name?: string }
  delta?: { type?: string; text?: string; partial_json?: string; stop_reason?: string | null }
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
  let usage: Usage = {}
  let stopReason = ''
  let over = false
  // Later events have the whole sums, and leave out what doesn't change.
  const count = (told: Usage | undefined): void => {
    const known = Object.entries(told ?? {}).filter(([, value]) => value !== null && value !== undefined)
    usage = { ...usage, ...Object.fromEntries(known) }
  }
  for await (const event of jsonEvents<StreamEvent>(response)) {
    const { type, index = 0, content_block, delta } = event
    if (type === 'message_start') count(event.message?.usage)
    else if (type === 'message_delta') {
      count(event.usage)
      stopReason = delta?.stop_reason ?? stopReason
    } else if (type === 'content_block_start' && content_block?.type === 'tool_use') {
      calls.set(index, { id: content_block.id ?? '', name: content_block.name ?? '', json: '' })
    } else if (type === 'content_block_delta') {
      if (delta?.type === 'text_delta') yield { type: 'text', text: delta.text ?? '' }
      else if (delta?.type === 'thinking_delta' || delta?.type === 'signature_delta') yield { type: 'thinking' }
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
  yield usageOf(usage)
  const reason = STOPS[stopReason]
  if (reason !== undefined) yield { type: 'stop', reason, detail: stopReason }
}

const STOPS: Readonly<Record<string, 'length' | 'refusal'>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  refusal: 'refusal',
}

function usageOf(usage: Usage): LlmEvent {
  const { input_tokens, cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage
  const thinking = usage.output_tokens_details?.thinking_tokens
  return {
    type: 'usage',
    inputTokens: (input_tokens ?? 0) + (written ?? 0) + (read ?? 0),
    outputTokens: usage.output_tokens ?? 0,
    ...(read === undefined || read === null ? {} : { cachedInputTokens: read }),
    ...(written === undefined || written === null ? {} : { cacheWriteTokens: written }),
    ...(thinking === undefined ? {} : { reasoningTokens: thinking }),
    raw: usage as Record<string, unknown>,
  }
}
