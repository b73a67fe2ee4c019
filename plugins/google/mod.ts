import { definePlugin } from '../../runtime/plugin/contract.ts'
import { inProcess } from '../../runtime/plugin-sdk/realtime/realtime-provider.ts'
import { endpointOf, httpOf } from './endpoint.ts'

/** Gemini's language models, speech-to-speech models and voices. The speech libraries load with the first session that needs them. */
export default definePlugin({
  llm: async (host, options) => (await import('./llm.ts')).makeLlm(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  realtime: async (host, options) => inProcess((await import('./live.ts')).geminiLive(endpointOf(host), options)),
  check: async (host, { signal }) => {
    const response = await httpOf(host).fetch('/v1beta/models?pageSize=1', { signal })
    await response.body?.cancel()
  },
})
