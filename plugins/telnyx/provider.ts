import { systemClock } from '../../runtime/lib/clock.ts'
import { parseCleanJson } from '../../runtime/lib/text.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { CarrierNews, StreamDoor, StreamProvider } from '../../runtime/plugin-sdk/telephony/stream/provider.ts'
import { JsonApi, originOf, unless } from '../../runtime/plugin-sdk/telephony/stream/rest.ts'
import { telnyxDialect } from './dialect.ts'
import { answeredBy, type CallPayload, dialNews } from './outcome.ts'
import { publicKeyOf, requireSignature } from './signature.ts'
import { readState, writeState } from './state.ts'

/** Of a call that is over: nothing is left to be done to it. */
const OVER = new Set<number | undefined>([404, 410, 422])

/** Telnyx refuses to ring for less. */
const MIN_RING_S = 5

/** The application as it is named now: the key may change while calls run. */
function applicationOf(host: PluginHost): { connectionId: string; publicKey: ReturnType<typeof publicKeyOf> } {
  const connectionId = host.env.get('TELNYX_CONNECTION_ID') ?? ''
  if (connectionId === '') throw new Error('TELNYX_CONNECTION_ID must be set to the id of the Voice API application')
  return { connectionId, publicKey: publicKeyOf(host.env.get('TELNYX_PUBLIC_KEY') ?? '') }
}

/** Throws when the application is not named. */
export function telnyxApi(host: PluginHost): JsonApi {
  applicationOf(host)
  return new JsonApi(host, {
    baseUrl: `${originOf(host.env.get('TELNYX_API_URL'), 'https://api.telnyx.com')}/v2`,
    get authorization() {
      return `Bearer ${host.env.get('TELNYX_API_KEY')}`
    },
    wordsOf: (body) => {
      const { errors } = (body ?? {}) as { errors?: { title?: string; detail?: string; code?: string }[] }
      const [first] = errors ?? []
      return first && `${first.detail ?? first.title}${first.code === undefined ? '' : ` (${first.code})`}`
    },
  })
}

/** Calls of a Telnyx Voice API application. A stream that breaks off ends the call. Telnyx signs no upgrade. */
export function telnyxProvider(host: PluginHost): StreamProvider {
  const api = telnyxApi(host)
  return {
    dialect: telnyxDialect,
    taken: { status: 200 },
    verify(request) {
      const shown = {
        signature: request.header('telnyx-signature-ed25519'),
        timestamp: request.header('telnyx-timestamp'),
      }
      requireSignature(applicationOf(host).publicKey, shown, request.body, systemClock.nowMs())
    },
    read(request) {
      const { data } = parseCleanJson(request.body) as { data?: { event_type?: string; payload?: CallPayload } }
      return newsOf(data?.event_type ?? '', data?.payload ?? {})
    },
    join: ({ callId, token }, door) => JSON.stringify({ action: 'answer', ...streamOf(callId, token, door) }),
    reject: (as) => JSON.stringify({ action: 'reject', cause: as === 'busy' ? 'USER_BUSY' : 'CALL_REJECTED' }),
    async command(callControlId, document, signal) {
      const { action, ...body } = JSON.parse(document) as { action: string }
      await api.ask('POST', `/calls/${callControlId}/actions/${action}`, body, signal)
    },
    async create({ callId, to, from, ringTimeoutMs, detectMachine }, token, door, signal) {
      const order = {
        ...{
          connection_id: applicationOf(host).connectionId,
          to,
          from,
          timeout_secs: Math.max(MIN_RING_S, Math.ceil(ringTimeoutMs / 1000)),
        },
        webhook_url: door.callbackUrl('event'),
        // The same id again is the same order.
        command_id: callId,
        ...streamOf(callId, token, door),
        ...(detectMachine ? { answering_machine_detection: 'detect' } : {}),
      }
      const answer = (await api.ask('POST', '/calls', order, signal)) as { data?: CallPayload } | undefined
      return answer?.data?.call_control_id ?? ''
    },
    async end(callControlId, signal) {
      const asked = api.ask('POST', `/calls/${callControlId}/actions/hangup`, {}, signal)
      await unless(({ status }) => OVER.has(status), asked, undefined)
    },
    async state(callControlId, signal) {
      const asked = api.ask('GET', `/calls/${callControlId}`, undefined, signal)
      const answer = await unless(({ status }) => status === 404, asked, 'unknown' as const)
      if (answer === 'unknown') return answer
      return (answer as { data?: { is_alive?: boolean } } | undefined)?.data?.is_alive === true ? 'live' : 'ended'
    },
    async transfer({ carrierId, to, from }, _door, signal) {
      await api.ask('POST', `/calls/${carrierId}/actions/transfer`, { to, from }, signal)
    },
  }
}

function newsOf(event: string, payload: CallPayload): CarrierNews | undefined {
  const { call_control_id: carrierId = '', client_state = '', direction, from = '', to = '' } = payload
  if (direction === 'incoming' && event === 'call.initiated') return { type: 'incoming', carrierId, from, to }
  const { callId } = readState(client_state)
  if (event.startsWith('call.machine')) return { type: 'classified', callId, by: answeredBy(payload) }
  return { type: 'progress', callId, news: dialNews(event, payload) }
}

function streamOf(callId: string, token: string, { streamUrl }: StreamDoor): Record<string, unknown> {
  return {
    client_state: writeState({ callId, token }),
    stream_url: streamUrl(token),
    stream_track: 'inbound_track',
    // Without it the caller's sound comes in whatever codec the call has.
    stream_codec: 'PCMU',
    preferred_codecs: 'PCMU,PCMA',
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: 'PCMU',
  }
}
