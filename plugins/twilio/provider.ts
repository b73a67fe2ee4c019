import type { CarrierOptions, PluginHost } from '../../runtime/plugin/contract.ts'
import type { CarrierNews, StreamDoor, StreamProvider } from '../../runtime/plugin-sdk/telephony/stream/provider.ts'
import { type ApiFault, unless } from '../../runtime/plugin-sdk/telephony/stream/rest.ts'
import type { CarrierRequest } from '../../runtime/plugin-sdk/telephony/web.ts'
import { TwilioApi, TwilioFault } from './api.ts'
import { twilioDialect } from './dialect.ts'
import { type Regulatory, twilioNumbers } from './numbers.ts'
import { answeredBy, blamesNumber, dialNews, stateOf } from './outcome.ts'
import { requireSignature } from './signature.ts'
import { connect, dial, hangup, reject } from './twiml.ts'

/** What Twilio allows an account that was not raised; beyond it, calls wait at Twilio and ring late. */
const CALLS_PER_SECOND = 1
/** Twilio's own bound. */
const MAX_RING_S = 600
/** `Unable to update record`: the call is over. */
const NOT_IN_PROGRESS = 21_220

/** Calls of a Twilio account. */
export function twilioProvider(host: PluginHost, { door, settings }: CarrierOptions): StreamProvider {
  const api = new TwilioApi(host)
  const { callsPerSecond, machineDetection, regulatory } = settings
  const join = ({ callId, token }: { callId: string; token: string }, { streamUrl, callbackUrl }: StreamDoor) =>
    connect(streamUrl(token), token, callbackUrl('resume', { call: callId }))
  return {
    dialect: twilioDialect,
    callsPerSecond: typeof callsPerSecond === 'number' ? callsPerSecond : CALLS_PER_SECOND,
    // As plugin.json has it, which was checked.
    numbers: twilioNumbers(api, door?.publicUrl, regulatory as Regulatory | undefined),
    taken: { status: 204 },
    verify(request, urls) {
      requireSignature(api.authToken, request.header('x-twilio-signature'), urls, formOf(request))
    },
    verifyStream(request, urls) {
      // Twilio signs the address it was given, some of its regions with a slash behind it.
      const signed = [...urls, ...urls.map((url) => `${url}/`)]
      requireSignature(api.authToken, request.header('x-twilio-signature'), signed, {})
    },
    read: (request) => newsOf(request.event, request.query.get('call') ?? '', formOf(request)),
    join,
    reject,
    hangup,
    async create({ callId, to, from, ringTimeoutMs, detectMachine }, token, door, signal) {
      const callbackUrl = (event: string) => door.callbackUrl(event, { call: callId })
      const order = {
        ...{ to, from, twiml: join({ callId, token }, door) },
        timeout: Math.min(Math.ceil(ringTimeoutMs / 1000), MAX_RING_S),
        statusCallback: callbackUrl('status'),
        statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
        ...(detectMachine && machineDetection !== false
          ? { machineDetection: 'Enable', asyncAmd: 'true', asyncAmdStatusCallback: callbackUrl('amd') }
          : {}),
      }
      return (await api.ask<{ sid: string }>('POST', 'Calls', order, signal)).sid
    },
    blamesNumber: (fault) => fault instanceof TwilioFault && blamesNumber(fault.code),
    async end(sid, signal) {
      const asked = api.ask('POST', `Calls/${encodeURIComponent(sid)}`, { status: 'completed' }, signal)
      await unless(isOver, asked, undefined)
    },
    async state(sid, signal) {
      const asked = api.ask<{ status: string }>('GET', `Calls/${encodeURIComponent(sid)}`, {}, signal)
      const call = await unless(({ status }) => status === 404, asked, undefined)
      return call === undefined ? 'unknown' : stateOf(call.status)
    },
    async transfer({ carrierId, to, from }, _door, signal) {
      await api.ask('POST', `Calls/${encodeURIComponent(carrierId)}`, { twiml: dial(to, from) }, signal)
    },
  }
}

function isOver(fault: ApiFault): boolean {
  return fault.status === 404 || (fault instanceof TwilioFault && fault.code === NOT_IN_PROGRESS)
}

function formOf({ body }: CarrierRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body))
}

function newsOf(event: string, callId: string, form: Readonly<Record<string, string>>): CarrierNews | undefined {
  const { CallSid: carrierId = '', From: from = '', To: to = '', AnsweredBy = '' } = form
  switch (event) {
    case 'voice':
      return { type: 'incoming', carrierId, from, to }
    case 'status':
      return { type: 'progress', callId, news: dialNews(form) }
    case 'amd':
      return { type: 'classified', callId, by: answeredBy(AnsweredBy) }
    case 'resume':
      return { type: 'streamless', callId }
    default:
      return undefined
  }
}
