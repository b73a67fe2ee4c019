import { randomUUID } from 'node:crypto'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure, ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import type { ChatRequest, LlmEvent } from '../../runtime/plugin-sdk/speech/chat-request.ts'
import { EventLLM } from '../../runtime/plugin-sdk/speech/event-llm.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'
import { GOOGLE, httpOf, streamPath } from './endpoint.ts'
import { generateBody } from './generate-body.ts'

const DEFAULT_MODEL = 'gemini-3.5-flash-lite'
/** Signatures of calls are kept for the session that made them; the oldest are forgotten. */
const MAX_SIGNATURES = 200

export function makeLlm(host: PluginHost, options: SpeechOptions): EventLLM {
  const { model = DEFAULT_MODEL, temperature, settings } = options
  const http = httpOf(host)
  const { maxOutputTokens, thinkingBudget } = settings as { maxOutputTokens?: number; thinkingBudget?: number }
  const signatures = new Map<string, string>()
  const sign = (callId: string, signature: string): void => {
    signatures.set(callId, signature)
    const [oldest] = signatures.keys()
    if (signatures.size > MAX_SIGNATURES && oldest !== undefined) signatures.delete(oldest)
  }
  const chat = async function* (request: ChatRequest, signal: AbortSignal): AsyncGenerator<LlmEvent> {
    const body = generateBody(request, { model, maxOutputTokens, thinkingBudget }, (id) => signatures.get(id))
    const response = await http.fetch(streamPath(model), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    yield* answer(response, sign)
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

interface GenerateEvent {
  candidates?: { content?: { parts?: Part[] }; finishReason?: string }[]
  usageMetadata?: { promptTokenCount?: number; candidatesTokenCount?: number; thoughtsTokenCount?: number }
  error?: { code?: number; status?: string; message?: string }
}

/** One answer as it streams: ai.google.dev/api/generate-content#method:-models.streamgeneratecontent. */
async function* answer(
  response: Response,
  sign: (callId: string, signature: string) => void,
): AsyncGenerator<LlmEvent> {
  let inputTokens = 0
  let outputTokens = 0
  let over = false
  for await (const { candidates, usageMetadata, error } of jsonEvents<GenerateEvent>(response)) {
    if (error !== undefined) {
      const { code: status, status: code, message } = error
      throw new ProviderError(explainFailure(GOOGLE, { status, code, message }))
    }
    if (usageMetadata !== undefined) {
      const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata
      inputTokens = Math.max(inputTokens, promptTokenCount)
      outputTokens = Math.max(outputTokens, candidatesTokenCount + thoughtsTokenCount)
    }
    const [candidate] = candidates ?? []
    for (const { text, thought, functionCall, thoughtSignature } of candidate?.content?.parts ?? []) {
      if (thought === true) continue
      if (text) yield { type: 'text', text }
      if (functionCall === undefined) continue
      const id = functionCall.id ?? `call_${randomUUID()}`
      if (thoughtSignature !== undefined) sign(id, thoughtSignature)
      yield { type: 'tool_call', id, name: functionCall.name ?? '', arguments: JSON.stringify(functionCall.args ?? {}) }
    }
    over ||= candidate?.finishReason !== undefined
  }
  if (!over) throw new Error('the answer broke off')
  yield { type: 'usage', inputTokens, outputTokens }
}
