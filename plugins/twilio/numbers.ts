import type { IncomingPhoneNumberInstance } from 'twilio/lib/rest/api/v2010/account/incomingPhoneNumber.js'
import { type PhoneNumber, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { CarrierFault, type CarrierNumbers, type NumberDelivery } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { TwilioApi } from './api.ts'

/** Begins the friendly name of numbers that were bought here: only those are given back. */
const BOUGHT = 'Patchbay '
/** Our webhook's path on Twilio's numbers, independent of the public URL at that time. */
const OUR_VOICE_PATH = '/telephony/twilio/voice'
/** Countries whose numbers Twilio can search by area code; elsewhere it is the beginning of the number. */
const AREA_CODES = new Set(['US', 'CA'])

/** @param publicUrl where Twilio brings incoming calls; undefined in a process that has no door */
export function twilioNumbers(api: TwilioApi, publicUrl: string | undefined): CarrierNumbers {
  const delivery = () => {
    if (publicUrl === undefined) throw new CarrierFault('calls can be delivered to api nodes alone')
    return {
      voiceUrl: `${publicUrl}/voice`,
      voiceMethod: 'POST',
      statusCallback: `${publicUrl}/status`,
      statusCallbackMethod: 'POST',
    }
  }
  const find = async (number: PhoneNumber, signal: AbortSignal) => {
    const found = await api.ask(signal, (client) => client.incomingPhoneNumbers.list({ phoneNumber: number, limit: 1 }))
    return found[0]
  }
  return {
    async purchase({ country, areaCode }, signal) {
      const offers = await api.ask(signal, (client) =>
        client.availablePhoneNumbers(country).local.list({
          limit: 1,
          voiceEnabled: true,
          ...(areaCode === undefined
            ? {}
            : AREA_CODES.has(country)
              ? { areaCode: Number(areaCode) }
              : { contains: `${areaCode}*` }),
        }),
      )
      const offered = offers[0]?.phoneNumber
      if (offered === undefined) {
        const area = areaCode === undefined ? '' : ` with area code ${areaCode}`
        throw new CarrierFault(`no number of ${country}${area} is for sale`)
      }
      const bought = await api.ask(signal, (client) =>
        client.incomingPhoneNumbers.create({
          phoneNumber: offered,
          friendlyName: `${BOUGHT}${offered}`,
          ...delivery(),
        }),
      )
      const number = parsePhoneNumber(bought.phoneNumber)
      if (number === undefined) throw new CarrierFault(`it sold "${bought.phoneNumber}", which is no phone number`)
      return number
    },
    async register(number, trunk, signal) {
      if (trunk !== undefined) throw new CarrierFault(`it has no trunk "${trunk}"; leave the trunk out`)
      const owned = await find(number, signal)
      if (owned === undefined) throw new CarrierFault(`the account does not own ${number}`)
      refuseServedElsewhere(owned)
      const wanted = delivery()
      if (owned.voiceUrl === wanted.voiceUrl && owned.statusCallback === wanted.statusCallback) return undefined
      await api.ask(signal, (client) => client.incomingPhoneNumbers(owned.sid).update(wanted))
      return owned.voiceUrl.endsWith(OUR_VOICE_PATH) ? undefined : deliveryOf(owned)
    },
    async release(number, signal, { bought, before }) {
      const owned = await find(number, signal)
      if (owned === undefined) return
      await api.ask(signal, async (client) => {
        const resource = client.incomingPhoneNumbers(owned.sid)
        if (bought ?? owned.friendlyName.startsWith(BOUGHT)) await resource.remove()
        // A number whose calls were redirected meanwhile stays as it is.
        else if (owned.voiceUrl.endsWith(OUR_VOICE_PATH)) await resource.update({ ...NOWHERE, ...before })
      })
    },
  }
}

/** Twilio leaves the voice URL aside while an application or a SIP trunk is set: our calls would never come. */
function refuseServedElsewhere({ phoneNumber, trunkSid, voiceApplicationSid }: IncomingPhoneNumberInstance): void {
  const [what, sid] = trunkSid ? ['SIP trunk', trunkSid] : ['TwiML application', voiceApplicationSid]
  if (!sid) return
  throw new CarrierFault(
    `calls to ${phoneNumber} go to the ${what} ${sid}, and Twilio ignores other addresses meanwhile; remove it from the number in the Twilio console and register the number again`,
  )
}

const NOWHERE = { voiceUrl: '', statusCallback: '' }

function deliveryOf(number: IncomingPhoneNumberInstance): NumberDelivery {
  const { voiceUrl, voiceMethod, statusCallback, statusCallbackMethod } = number
  const all = { voiceUrl, voiceMethod, statusCallback, statusCallbackMethod }
  return Object.fromEntries(
    Object.entries(all)
      .map(([name, value]) => [name, value ?? ''])
      .filter(([, value]) => value !== ''),
  )
}
