import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { checkCarrier } from '../../runtime/plugin-sdk/telephony/stream/check.ts'
import { telnyxApi, telnyxProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(telnyxProvider(host), host.log, options.door),
  // https://developers.telnyx.com/api-reference/billing/get-user-balance-details.md: GET /v2/balance
  check: (host, { signal }) =>
    checkCarrier('Telnyx', 'TELNYX_API_KEY', async () => telnyxApi(host).ask('GET', '/balance', undefined, signal)),
})
