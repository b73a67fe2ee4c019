import { llm } from '@livekit/agents'
import * as openai from '@livekit/agents-plugin-openai'
import { OpenAI } from 'openai'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { endpointOf } from './endpoint.ts'

/** OpenAI's chat completions: LiveKit's class behind the plugin's own handles, with errors worded for an operator. */
export function makeLlm(host: PluginHost, { model, temperature, settings }: SpeechOptions): openai.LLM {
  const { base, key, provider } = endpointOf(host)
  const client = new OpenAI({
    apiKey: key,
    baseURL: base,
    maxRetries: 0,
    fetch: (url, init) => host.net.fetch(url instanceof Request ? url.url : url, init),
  })
  const { reasoningEffort, maxCompletionTokens } = settings
  const made = new OpenAILLM({
    client,
    apiKey: key,
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(typeof reasoningEffort === 'string' ? { reasoningEffort: reasoningEffort as never } : {}),
    ...(typeof maxCompletionTokens === 'number' ? { maxCompletionTokens } : {}),
  })
  return judgeErrors(made, provider)
}

/** LiveKit's class sends the empty list of an agent without tools, which OpenAI, Azure and vLLM refuse. */
class OpenAILLM extends openai.LLM {
  override chat(options: Parameters<openai.LLM['chat']>[0]): ReturnType<openai.LLM['chat']> {
    const { toolCtx, ...rest } = options
    const isEmpty = toolCtx === undefined || llm.sortedToolEntries(llm.toToolContext(toolCtx)).length === 0
    return super.chat(isEmpty ? rest : options)
  }
}
