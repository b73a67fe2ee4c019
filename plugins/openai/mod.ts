import { definePlugin } from '../../runtime/plugin/contract.ts'
import { inProcess } from '../../runtime/plugin-sdk/realtime/realtime-provider.ts'
import { endpointOf } from './endpoint.ts'

/** OpenAI and servers that speak its protocol. The speech libraries load with the first session that needs them. */
export default definePlugin({
  llm: async (host, options) => (await import('./llm.ts')).makeLlm(host, options),
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  realtime: async (host, options) =>
    inProcess((await import('./realtime.ts')).openaiRealtime(endpointOf(host), options)),
  embedding: async (host, options) => (await import('./embedding.ts')).makeEmbedding(host, options),
  check: async (host, { signal }) => {
    const response = await endpointOf(host).http.fetch('/models', { signal })
    await response.body?.cancel()
  },
})
