import { definePlugin } from '../../runtime/plugin/contract.ts'
import { SipCarrier } from './carrier.ts'

/** Phone calls over SIP: see docs/telephony.md. */
export default definePlugin({
  telephony: (host, { trunks, settings }) => new SipCarrier(host, trunks, settings),
})
