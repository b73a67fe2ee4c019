import { randomUUID } from 'node:crypto'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { ChatRequest, LlmEvent } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { EventLLM } from '../../runtime/plugin-sdk/chat/event-llm.ts'
import { explainFailure, ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'
import { GOOGLE, httpOf, streamPath } from './endpoint.ts'
import { generateBody, type OwnCall } from './generate-body.ts'

const DEFAULT_MODEL = 'gemini-3.5-flash-lite'
/** Ids and signatures of calls are kept for the session that made them; the oldest are forgotten. */
const MAX_OWN_CALLS = 200

export function makeLlm(host: PluginHost, options: SpeechOptions): EventLLM {
  const { model = DEFAULT_MODEL, temperature, settings } = options
  const http = httpOf(host)
  const {
    maxOutputTokens,
    thinkingBudget,
    thinkingLevel,
    storeRequests = false,
  } = settings as {
    maxOutputTokens?: number
    thinkingBudget?: number
    thinkingLevel?: string
    storeRequests?: boolean
  }
  const choice = { model, maxOutputTokens, thinkingBudget, thinkingLevel, storeRequests }
  const ownCalls = new Map<string, OwnCall>()
  const remember = (callId: string, own: OwnCall): void => {
    ownCalls.set(callId, own)
    const [oldest] = ownCalls.keys()
    if (ownCalls.size > MAX_OWN_CALLS && oldest !== undefined) ownCalls.delete(oldest)
  }
  const chat = async function* (request: ChatRequest, signal: AbortSignal): AsyncGenerator<LlmEvent> {
    const body = generateBody(request, choice, (id) => ownCalls.get(id))
    const response = await http.fetch(streamPath(model), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    yield* answer(response, remember)
  }
  return new EventLLM({ provider: 'google', identity: GOOGLE, model, temperature, chat })
}

interface Part {
  text?: string
  /** The model's own thinking: not to be spoken. */
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { id?: string; name?: string; args?: object }
}

/** Sums up to this event; what is not named is none, or not known. */
interface UsageMetadata {
  promptTokenCount?: number
  candidatesTokenCount?: number
  thoughtsTokenCount?: number
  cachedContentTokenCount?: number
}

interface GenerateEvent {
  candidates?: { content?: { parts?: Part[] }; finishReason?: string }[]
  promptFeedback?: { blockReason?: string }
  usageMetadata?: UsageMetadata
  error?: { code?: number; status?: string; message?: string }
}

/** One answer as it streams: ai.google.dev/api/generate-content#method:-models.streamgeneratecontent. */
async function* answer(response: Response, remember: (callId: string, own: OwnCall) => void): AsyncGenerator<LlmEvent> {
  let usage: UsageMetadata = {}
  let finish: string | undefined
  for await (const { candidates, usageMetadata, promptFeedback, error } of jsonEvents<GenerateEvent>(response)) {
    if (error !== undefined) {
      const { code: status, status: code, message } = error
      throw new ProviderError(explainFailure(GOOGLE, { status, code, message }))
    }
    if (promptFeedback?.blockReason !== undefined) {
      const message = `the content filter blocked the request (${promptFeedback.blockReason})`
      throw new ProviderError(explainFailure(GOOGLE, { status: 400, code: 'content_filter', message }))
    }
    usage = { ...usage, ...usageMetadata }
    const [candidate] = candidates ?? []
    for (const { text, thought, functionCall, thoughtSignature } of candidate?.content?.parts ?? []) {
      if (thought === true) {
        yield { type: 'thinking' }
        continue
      }
      if (text) yield { type: 'text', text }
      if (functionCall === undefined) continue
      const id = functionCall.id ?? `call_${randomUUID()}`
      remember(id, { id: functionCall.id, signature: thoughtSignature })
      yield { type: 'tool_call', id, name: functionCall.name ?? '', arguments: JSON.stringify(functionCall.args ?? {}) }
    }
    finish = candidate?.finishReason ?? finish
  }
  if (finish === undefined) throw new Error('the answer broke off')
  yield usageOf(usage)
  if (finish !== 'STOP') yield { type: 'stop', reason: STOPS[finish] ?? 'safety', detail: finish }
}

const STOPS: Readonly<Record<string, 'length' | 'tool_call'>> = {
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  MALFORMED_FUNCTION_CALL: 'tool_call',
  UNEXPECTED_TOOL_CALL: 'tool_call',
  TOO_MANY_TOOL_CALLS: 'tool_call',
  MISSING_THOUGHT_SIGNATURE: 'tool_call',
  MALFORMED_RESPONSE: 'tool_call',
}

function usageOf(usage: UsageMetadata): LlmEvent {
  const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount, cachedContentTokenCount } = usage
  return {
    type: 'usage',
    inputTokens: promptTokenCount,
    outputTokens: candidatesTokenCount + (thoughtsTokenCount ?? 0),
    ...(cachedContentTokenCount === undefined ? {} : { cachedInputTokens: cachedContentTokenCount }),
    ...(thoughtsTokenCount === undefined ? {} : { reasoningTokens: thoughtsTokenCount }),
    raw: usage as Record<string, unknown>,
  }
}
