import { definePlugin } from '../../runtime/plugin/contract.ts'
import { providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { DEEPGRAM, endpointOf } from './endpoint.ts'

/** Deepgram's ears and voices. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  check: async (host, { signal }) => {
    const { base, headers } = endpointOf(host)
    const response = await providerHttp(host, DEEPGRAM, base, headers).fetch('/v1/auth/token', { signal })
    await response.body?.cancel()
  },
})
