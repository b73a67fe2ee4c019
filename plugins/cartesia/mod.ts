import { definePlugin } from '../../runtime/plugin/contract.ts'
import { providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { CARTESIA, endpointOf, SPEAK_VERSION } from './endpoint.ts'

/** Cartesia's voices and ears. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  tts: async (host, options) => (await import('./tts.ts')).makeTts(host, options),
  check: async (host, { signal }) => {
    const { base, headers } = endpointOf(host)
    const http = providerHttp(host, CARTESIA, base, headers(SPEAK_VERSION))
    const response = await http.fetch('/voices?limit=1', { signal })
    await response.body?.cancel()
  },
})
