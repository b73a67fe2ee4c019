import { definePlugin } from '../../runtime/plugin/contract.ts'
import { httpOf } from './endpoint.ts'

/** Gemini's language models and voices. The speech libraries load with the first session that needs them. */
export default definePlugin({
  llm: async (host, options) => (await import('./llm.ts')).makeLlm(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  check: async (host, { signal }) => {
    const response = await httpOf(host).fetch('/v1beta/models?pageSize=1', { signal })
    await response.body?.cancel()
  },
})
