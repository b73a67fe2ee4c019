import { definePlugin } from '../../runtime/plugin/contract.ts'
import { StreamCarrier } from '../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { checkCarrier } from '../../runtime/plugin-sdk/telephony/stream/check.ts'
import { TwilioApi } from './api.ts'
import { twilioProvider } from './provider.ts'

export default definePlugin({
  telephony: (host, options) => new StreamCarrier(twilioProvider(host, options), host.log, options.door),
  // https://www.twilio.com/docs/iam/api/account: GET /2010-04-01/Accounts/{Sid}.json
  check: (host, { signal }) =>
    checkCarrier('Twilio', 'TWILIO_AUTH_TOKEN', async () => new TwilioApi(host).check(signal)),
})
