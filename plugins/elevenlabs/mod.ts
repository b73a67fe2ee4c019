import { definePlugin } from '../../runtime/plugin/contract.ts'
import { providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { ELEVENLABS, endpointOf } from './endpoint.ts'
import { listVoices } from './voices.ts'

/** ElevenLabs' voices and ears. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  check: async (host, { signal }) => {
    const { base, headers } = endpointOf(host)
    const response = await providerHttp(host, ELEVENLABS, base, headers).fetch('/v1/models', { signal })
    await response.body?.cancel()
  },
  voices: (host, { signal }) => listVoices(host, signal),
})
