import { definePlugin } from '../../runtime/plugin/contract.ts'

/**
 * Speech and answers with no network: see README.md for what they can and cannot do. The speech libraries load with the
 * first session that needs them.
 */
export default definePlugin({
  llm: async (_host, options) => (await import('./llm.ts')).offlineLlm(options.language),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host.run.spawn, options),
})
