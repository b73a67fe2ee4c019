import { definePlugin } from '../../runtime/plugin/contract.ts'
import { providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { ASSEMBLYAI, endpointOf } from './endpoint.ts'

/** AssemblyAI's ears. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, options) => (await import('./stt.ts')).makeStt(host, options),
  check: async (host, { signal }) => {
    const { base, headers } = endpointOf(host)
    // An unused token costs nothing.
    const response = await providerHttp(host, ASSEMBLYAI, base, headers).fetch('/v3/token?expires_in_seconds=1', {
      signal,
    })
    await response.body?.cancel()
  },
})
