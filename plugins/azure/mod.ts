import { definePlugin } from '../../runtime/plugin/contract.ts'
import { endpointOf } from './endpoint.ts'
import { listVoices } from './voices.ts'

/** Azure's ears and voices. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  check: async (host, { signal }) => {
    const response = await endpointOf(host).speak.fetch('/cognitiveservices/voices/list', { signal })
    await response.body?.cancel()
  },
  voices: (host, { signal }) => listVoices(host, signal),
})
