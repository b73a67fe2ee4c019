import * as openai from '@livekit/agents-plugin-openai'
import { OpenAI } from 'openai'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { judgeErrors } from '../../runtime/speech/api-error.ts'
import { endpointOf } from './endpoint.ts'

/** OpenAI's chat completions: LiveKit's class behind the plugin's own handles, its failures told in an operator's words. */
export function makeLlm(host: PluginHost, { model, temperature, settings }: SpeechOptions): openai.LLM {
  const { base, key, provider } = endpointOf(host)
  const client = new OpenAI({
    apiKey: key,
    baseURL: base,
    maxRetries: 0,
    fetch: (url, init) => host.net.fetch(url instanceof Request ? url.url : url, init),
  })
  const { reasoningEffort, maxCompletionTokens } = settings
  const llm = new openai.LLM({
    client,
    apiKey: key,
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(typeof reasoningEffort === 'string' ? { reasoningEffort: reasoningEffort as never } : {}),
    ...(typeof maxCompletionTokens === 'number' ? { maxCompletionTokens } : {}),
  })
  return judgeErrors(llm, provider)
}
