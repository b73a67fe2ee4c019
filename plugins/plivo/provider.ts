import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { CarrierNews, StreamProvider } from '../../runtime/plugin-sdk/telephony/stream/provider.ts'
import { JsonApi, originOf, unless } from '../../runtime/plugin-sdk/telephony/stream/rest.ts'
import type { CarrierRequest } from '../../runtime/plugin-sdk/telephony/web.ts'
import { plivoDialect } from './dialect.ts'
import { answeredBy, dialNews } from './outcome.ts'
import { requireSignature } from './signature.ts'
import { connect, dial, reject } from './xml.ts'

/** The account as it is named now: the key may change while calls run. */
function accountOf(host: PluginHost): { authId: string; authToken: string } {
  const authId = host.env.get('PLIVO_AUTH_ID') ?? ''
  if (authId === '') throw new Error('PLIVO_AUTH_ID must be set to the auth id of the account')
  return { authId, authToken: host.env.get('PLIVO_AUTH_TOKEN') ?? '' }
}

/** Throws when the account is not named. */
export function plivoApi(host: PluginHost): JsonApi {
  accountOf(host)
  return new JsonApi(host, {
    get baseUrl() {
      return `${originOf(host.env.get('PLIVO_API_URL'), 'https://api.plivo.com')}/v1/Account/${accountOf(host).authId}`
    },
    get authorization() {
      const { authId, authToken } = accountOf(host)
      return `Basic ${Buffer.from(`${authId}:${authToken}`).toString('base64')}`
    },
    wordsOf: (body) => {
      const { error } = (body ?? {}) as { error?: unknown }
      return typeof error === 'string' ? error : undefined
    },
  })
}

/** Calls of a Plivo account. Streams that break off end the call: Plivo does not open them again, and signs none. */
export function plivoProvider(host: PluginHost): StreamProvider {
  const api = plivoApi(host)
  return {
    dialect: plivoDialect,
    taken: { status: 204 },
    verify(request, urls) {
      const shown = {
        signatures: request.header('x-plivo-signature-v3'),
        nonce: request.header('x-plivo-signature-v3-nonce'),
      }
      requireSignature(accountOf(host).authToken, shown, urls, formOf(request))
    },
    read: (request) => newsOf(request.event, request.query, formOf(request)),
    join: ({ token }, { streamUrl }) => connect(streamUrl(token), token),
    reject,
    async create({ callId, to, from, ringTimeoutMs, detectMachine }, _token, door, signal) {
      const callbackUrl = (event: string) => door.callbackUrl(event, { call: callId })
      const order = {
        ...{ from: from.slice(1), to: to.slice(1), ring_timeout: Math.ceil(ringTimeoutMs / 1000) },
        ...{ answer_url: callbackUrl('answer'), answer_method: 'POST' },
        ...{ ring_url: callbackUrl('status'), ring_method: 'POST' },
        ...{ hangup_url: callbackUrl('status'), hangup_method: 'POST' },
        ...(detectMachine
          ? { machine_detection: 'true', machine_detection_url: callbackUrl('amd'), machine_detection_method: 'POST' }
          : {}),
      }
      await api.ask('POST', '/Call/', order, signal)
      // Its callbacks say what it is called.
      return ''
    },
    async end(callUuid, signal) {
      const asked = api.ask('DELETE', `/Call/${callUuid}/`, undefined, signal)
      await unless(({ status }) => status === 404, asked, undefined)
    },
    async state(callUuid, signal) {
      const live = api.ask('GET', `/Call/${callUuid}/?status=live`, undefined, signal).then(() => 'live' as const)
      return unless(({ status }) => status === 404, live, 'ended' as const)
    },
    async transfer({ carrierId, to, from }, door, signal) {
      const order = { legs: 'aleg', aleg_url: door.callbackUrl('transfer', { to, from }), aleg_method: 'POST' }
      await api.ask('POST', `/Call/${carrierId}/`, order, signal)
    },
  }
}

function formOf({ body }: CarrierRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body))
}

function newsOf(
  event: string,
  query: URLSearchParams,
  form: Readonly<Record<string, string>>,
): CarrierNews | undefined {
  const callId = query.get('call') ?? ''
  const { CallUUID: carrierId = '', From = '', To = '' } = form
  switch (event) {
    case 'voice':
      return { type: 'incoming', carrierId, from: e164(From), to: e164(To) }
    case 'answer':
      return { type: 'picked_up', callId, carrierId }
    case 'status':
      return { type: 'progress', callId, news: dialNews(form) }
    case 'amd':
      return { type: 'classified', callId, by: answeredBy(form) }
    case 'transfer':
      return { type: 'asks', document: dial(query.get('to') ?? '', query.get('from') ?? '') }
    default:
      return undefined
  }
}

/** Plivo writes numbers without their plus. */
function e164(number: string): string {
  return /^\d+$/.test(number) ? `+${number}` : number
}
