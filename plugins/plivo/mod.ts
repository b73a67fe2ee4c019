import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { checkCarrier } from '../../runtime/plugin-sdk/telephony/stream/check.ts'
import { plivoApi, plivoProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(plivoProvider(host), host.log, options.door),
  // Fetches the account: GET /v1/Account/{auth_id}/
  check: (host, { signal }) =>
    checkCarrier('Plivo', 'PLIVO_AUTH_TOKEN', async () => plivoApi(host).ask('GET', '/', undefined, signal)),
})
