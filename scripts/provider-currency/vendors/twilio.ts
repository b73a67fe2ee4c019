import { TwilioApi } from '../../../plugins/twilio/api.ts'
import { twilioNumbers } from '../../../plugins/twilio/numbers.ts'
import { twilioProvider } from '../../../plugins/twilio/provider.ts'
import type { PhoneNumber } from '../../../runtime/lib/phone-number.ts'
import { fieldsOf, type Recorded } from '../recorder.ts'
import { elementsOf, useCarrier } from '../use-carrier.ts'
import type { Vendor, WireRequest } from './vendor.ts'

const REST = './package/lib/rest/api/v2010/account'
const VERBS = "import('./package/lib/twiml/VoiceResponse.js')"
const ACCOUNT = `AC${'0'.repeat(32)}`
const NUMBER = '+14155550100' as PhoneNumber
const REGULATORY = { US: { addressSid: `AD${'0'.repeat(32)}`, bundleSid: `BU${'0'.repeat(32)}` } }
/** By the last part of a path, the methods and the types of their fields. */
const JUDGES: readonly (readonly [request: RegExp, type: string])[] = [
  [/^POST .*\/Calls\.json$/, 'CallCreate'],
  [/^POST .*\/Calls\/\w+\.json$/, 'CallUpdate'],
  [/^POST .*\/IncomingPhoneNumbers\.json$/, 'NumberCreate'],
  [/^POST .*\/IncomingPhoneNumbers\/\w+\.json$/, 'NumberUpdate'],
  [/^GET .*\/IncomingPhoneNumbers\.json$/, 'NumberList'],
  [/^GET .*\/Local\.json$/, 'NumberSearch'],
  [/^GET .*\/Calls\/\w+\.json$/, 'CallFetch'],
  [/^DELETE .*\/IncomingPhoneNumbers\/\w+\.json$/, 'NumberRemove'],
]

export const twilio: Vendor = {
  types: {
    CallCreate: `Query<import('${REST}/call.js').CallListInstanceCreateOptions>`,
    CallUpdate: `Query<import('${REST}/call.js').CallContextUpdateOptions>`,
    NumberCreate: `Query<import('${REST}/incomingPhoneNumber.js').IncomingPhoneNumberListInstanceCreateOptions>`,
    NumberUpdate: `Query<import('${REST}/incomingPhoneNumber.js').IncomingPhoneNumberContextUpdateOptions>`,
    NumberList: `Query<import('${REST}/incomingPhoneNumber.js').IncomingPhoneNumberListInstancePageOptions>`,
    NumberSearch: `Query<import('${REST}/availablePhoneNumberCountry/local.js').LocalListInstancePageOptions>`,
    Connect: `Query<${VERBS}.ConnectAttributes>`,
    Stream: `Query<${VERBS}.StreamAttributes>`,
    Parameter: `Query<${VERBS}.ParameterAttributes>`,
    Redirect: `Query<${VERBS}.RedirectAttributes>`,
    Reject: `Query<${VERBS}.RejectAttributes>`,
    Dial: `Query<${VERBS}.DialAttributes>`,
    Hangup: 'Record<string, never>',
    Response: 'Record<string, never>',
  },
  paths: {
    CallCreate: ['lib/rest/api/v2010/account/call.js', '/Accounts/:accountSid/Calls.json'],
    CallUpdate: ['lib/rest/api/v2010/account/call.js', '/Accounts/:accountSid/Calls/:sid.json'],
    CallFetch: ['lib/rest/api/v2010/account/call.js', '/Accounts/:accountSid/Calls/:sid.json'],
    NumberCreate: [
      'lib/rest/api/v2010/account/incomingPhoneNumber.js',
      '/Accounts/:accountSid/IncomingPhoneNumbers.json',
    ],
    NumberList: [
      'lib/rest/api/v2010/account/incomingPhoneNumber.js',
      '/Accounts/:accountSid/IncomingPhoneNumbers.json',
    ],
    NumberUpdate: [
      'lib/rest/api/v2010/account/incomingPhoneNumber.js',
      '/Accounts/:accountSid/IncomingPhoneNumbers/:sid.json',
    ],
    NumberRemove: [
      'lib/rest/api/v2010/account/incomingPhoneNumber.js',
      '/Accounts/:accountSid/IncomingPhoneNumbers/:sid.json',
    ],
    NumberSearch: [
      'lib/rest/api/v2010/account/availablePhoneNumberCountry/local.js',
      '/Accounts/:accountSid/AvailablePhoneNumbers/:countryCode/Local.json',
    ],
  },
  unjudged: ['messages of media streams: the SDK holds no protocol of them'],
  async requests(_provides, recorder) {
    const host = recorder.host({ TWILIO_ACCOUNT_SID: ACCOUNT, TWILIO_AUTH_TOKEN: 'secret' }, answerOf)
    const door = { publicUrl: 'https://voice.example.com/telephony/twilio', nodeUrl: 'https://voice.example.com/n1' }
    const provider = twilioProvider(host, { door, settings: {}, trunks: undefined as never })
    let documents: string[] = []
    const asked = await recorder.recordAll(async () => {
      documents = await useCarrier(provider)
      const { signal } = new AbortController()
      const numbers = twilioNumbers(new TwilioApi(host), door.publicUrl, REGULATORY)
      await numbers.purchase?.({ country: 'US', areaCode: '415' }, signal)
      await numbers.purchase?.({ country: 'DE', areaCode: '30' }, signal)
      await numbers.register?.(NUMBER, undefined, signal, 'ws_1')
      for (const bought of [true, false]) await numbers.release?.(NUMBER, signal, { bought, before: null })
    })
    const ordered = asked.map(({ body }) => (body as { Twiml?: string } | undefined)?.Twiml ?? '')
    return [...asked.map(requestOf), ...[...documents, ...ordered].flatMap(verbsOf)]
  },
}

function requestOf({ method, path, query, body }: Recorded): WireRequest {
  const about = `${method} ${path}`
  const [, type] = JUDGES.find(([request]) => request.test(about)) ?? []
  if (type === undefined) throw new Error(`${about} is judged by nothing`)
  const fields = method === 'GET' ? fieldsOf(query) : ((body ?? {}) as object)
  return { type, about, value: argumentsOf(fields), path }
}

/** The SDK writes each argument with a capital. */
function argumentsOf(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`${name.charAt(0).toLowerCase()}${name.slice(1)}`, value]),
  )
}

function verbsOf(document: string): WireRequest[] {
  return elementsOf(document).map(({ name, attributes }) => ({ type: name, about: `<${name}>`, value: attributes }))
}

/** As much as the plugin reads. */
function answerOf({ path }: Recorded): object {
  const number = { sid: 'PN1', phone_number: NUMBER, friendly_name: '', voice_url: '', status_callback: '' }
  if (path.includes('AvailablePhoneNumbers')) return { available_phone_numbers: [{ phone_number: NUMBER }] }
  if (path.endsWith('IncomingPhoneNumbers.json')) return { ...number, incoming_phone_numbers: [number] }
  return { sid: 'CA1', status: 'in-progress' }
}
