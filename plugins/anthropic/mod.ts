import { definePlugin } from '../../runtime/plugin/contract.ts'
import { httpOf } from './endpoint.ts'

/** Anthropic's language models. The speech libraries load with the first session that needs them. */
export default definePlugin({
  llm: async (host, options) => (await import('./llm.ts')).makeLlm(host, options),
  check: async (host, { signal }) => {
    const response = await httpOf(host).fetch('/v1/models?limit=1', { signal })
    await response.body?.cancel()
  },
})
