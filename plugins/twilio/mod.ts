import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { twilioProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(twilioProvider(host, options), host.log, options.door),
})
