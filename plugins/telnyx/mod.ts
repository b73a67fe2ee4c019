import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { telnyxProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(telnyxProvider(host), host.log, options.door),
})
