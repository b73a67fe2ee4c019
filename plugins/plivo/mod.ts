import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { plivoProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(plivoProvider(host), host.log, options.door),
})
