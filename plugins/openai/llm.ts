import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { ChatRequest, LlmEvent } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { EventLLM } from '../../runtime/plugin-sdk/chat/event-llm.ts'
import { ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import { chatAnswer } from './chat-answer.ts'
import { AS_OPENAI, chatBody, type Manner, type ModelChoice, otherManner } from './chat-body.ts'
import { endpointOf } from './endpoint.ts'

const DEFAULT_MODEL = 'gpt-6-luna'
/** Forms in which one request is put before the server's refusal stands. */
const MAX_MANNERS = 5

/** OpenAI's chat completions, and those of every server that speaks its protocol. */
export function makeLlm(host: PluginHost, { model = DEFAULT_MODEL, temperature, settings }: SpeechOptions): EventLLM {
  const { http, provider, isOpenAI } = endpointOf(host)
  const { reasoningEffort, maxCompletionTokens } = settings
  const choice: ModelChoice = {
    model,
    isOpenAI,
    reasoningEffort: typeof reasoningEffort === 'string' ? reasoningEffort : undefined,
    maxCompletionTokens: typeof maxCompletionTokens === 'number' ? maxCompletionTokens : undefined,
  }
  /** Kept for the session: a server refuses what it refused before. */
  let manner: Manner = AS_OPENAI
  const chat = async function* (request: ChatRequest, signal: AbortSignal): AsyncGenerator<LlmEvent> {
    for (let tries = 1; ; tries++) {
      const body = chatBody(request, choice, manner)
      try {
        const response = await http.fetch('/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal,
        })
        return yield* chatAnswer(response, model, provider)
      } catch (error) {
        const next = isOpenAI || tries >= MAX_MANNERS ? undefined : mannerAfter(error, body, manner)
        if (next === undefined) throw error
        manner = next
      }
    }
  }
  return new EventLLM({ provider: 'openai', identity: provider, model, temperature, chat })
}

function mannerAfter(error: unknown, body: Record<string, unknown>, manner: Manner): Manner | undefined {
  // llama.cpp answers 500 to a conversation its template doesn't take.
  if (!(error instanceof ProviderError) || !['bad_request', 'transient'].includes(error.failure.fault)) return undefined
  return otherManner(error.words, body, manner)
}
