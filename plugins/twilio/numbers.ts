import { type PhoneNumber, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { CarrierFault, type CarrierNumbers, type NumberDelivery } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { type TwilioApi, TwilioFault } from './api.ts'

/** Begins the friendly name of numbers that were bought here: only those are given back. */
const BOUGHT = 'Patchbay '
/** Our webhook's path on Twilio's numbers, independent of the public URL at that time. */
const OUR_VOICE_PATH = '/telephony/twilio/voice'
/** Countries whose numbers Twilio can search by area code; elsewhere it is the beginning of the number. */
const AREA_CODES = new Set(['US', 'CA'])

/** A number of the account, in the API's own names. */
interface OwnedNumber {
  sid: string
  phone_number: string
  friendly_name: string
  voice_url: string
  voice_method: string | null
  status_callback: string | null
  status_callback_method: string | null
  trunk_sid: string | null
  voice_application_sid: string | null
}

const NUMBERS = 'IncomingPhoneNumbers'

/** What an account has to show for numbers of a country: https://www.twilio.com/docs/errors/21631, /21649. */
export type Regulatory = Readonly<Record<string, { addressSid?: string; bundleSid?: string }>>
const SHOWN_WITH = new Map([
  [21_631, 'addressSid'],
  [21_649, 'bundleSid'],
])

/** @param publicUrl where Twilio brings incoming calls; undefined in a process that has no door */
export function twilioNumbers(
  api: TwilioApi,
  publicUrl: string | undefined,
  regulatory: Regulatory = {},
): CarrierNumbers {
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
    const asked = { phoneNumber: number, pageSize: 1 }
    const found = await api.ask<{ incoming_phone_numbers: OwnedNumber[] }>('GET', NUMBERS, asked, signal)
    return found.incoming_phone_numbers[0]
  }
  return {
    async purchase({ country, areaCode }, signal) {
      const byArea = AREA_CODES.has(country) ? { areaCode } : { contains: `${areaCode}*` }
      const { available_phone_numbers: offers } = await api.ask<{
        available_phone_numbers: { phone_number: string }[]
      }>(
        'GET',
        `AvailablePhoneNumbers/${country}/Local`,
        { pageSize: 1, voiceEnabled: true, ...(areaCode === undefined ? {} : byArea) },
        signal,
      )
      const offered = offers[0]?.phone_number
      if (offered === undefined) {
        const area = areaCode === undefined ? '' : ` with area code ${areaCode}`
        throw new CarrierFault(`no number of ${country}${area} is for sale`)
      }
      const order = { phoneNumber: offered, friendlyName: `${BOUGHT}${offered}`, ...delivery(), ...regulatory[country] }
      const { phone_number: bought } = await api
        .ask<OwnedNumber>('POST', NUMBERS, order, signal)
        .catch((error) => refuseUnregulated(error, country))
      const number = parsePhoneNumber(bought)
      if (number === undefined) throw new CarrierFault(`it sold "${bought}", which is no phone number`)
      return number
    },
    async register(number, trunk, signal) {
      if (trunk !== undefined) throw new CarrierFault(`it has no trunk "${trunk}"; leave the trunk out`)
      const owned = await find(number, signal)
      if (owned === undefined) throw new CarrierFault(`the account does not own ${number}`)
      refuseServedElsewhere(owned)
      const wanted = delivery()
      if (owned.voice_url === wanted.voiceUrl && owned.status_callback === wanted.statusCallback) return undefined
      await api.ask('POST', `${NUMBERS}/${owned.sid}`, wanted, signal)
      return owned.voice_url.endsWith(OUR_VOICE_PATH) ? undefined : deliveryOf(owned)
    },
    async release(number, signal, { bought, before }) {
      const owned = await find(number, signal)
      if (owned === undefined) return
      const path = `${NUMBERS}/${owned.sid}`
      if (bought ?? owned.friendly_name.startsWith(BOUGHT)) await api.ask('DELETE', path, {}, signal)
      // A number whose calls were redirected meanwhile stays as it is.
      else if (owned.voice_url.endsWith(OUR_VOICE_PATH)) await api.ask('POST', path, { ...NOWHERE, ...before }, signal)
    },
  }
}

/** Twilio leaves the voice URL aside while an application or a SIP trunk is set: our calls would never come. */
function refuseServedElsewhere({ phone_number, trunk_sid, voice_application_sid }: OwnedNumber): void {
  const [what, sid] = trunk_sid ? ['SIP trunk', trunk_sid] : ['TwiML application', voice_application_sid]
  if (!sid) return
  throw new CarrierFault(
    `calls to ${phone_number} go to the ${what} ${sid}, and Twilio ignores other addresses meanwhile; remove it from the number in the Twilio console and register the number again`,
  )
}

/** Says which option the purchase lacks. */
function refuseUnregulated(error: unknown, country: string): never {
  const option = error instanceof TwilioFault && error.code !== undefined ? SHOWN_WITH.get(error.code) : undefined
  if (option === undefined) throw error
  const message = `${(error as Error).message}; the operator sets regulatory.${country}.${option} in the options of the plugin "twilio" in config/plugins.json`
  throw new CarrierFault(message, { cause: error })
}

const NOWHERE = { voiceUrl: '', statusCallback: '' }

function deliveryOf(number: OwnedNumber): NumberDelivery {
  const all = {
    voiceUrl: number.voice_url,
    voiceMethod: number.voice_method,
    statusCallback: number.status_callback,
    statusCallbackMethod: number.status_callback_method,
  }
  return Object.fromEntries(
    Object.entries(all)
      .map(([name, value]) => [name, value ?? ''])
      .filter(([, value]) => value !== ''),
  )
}
