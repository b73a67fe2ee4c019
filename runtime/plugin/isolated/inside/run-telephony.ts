import type { CarrierRequest, StreamDoor, Telephony } from '../../../../packages/plugin/telephony.ts'
import { callStateOf, carrierNewsOf, documentOf, orderedOf } from '../../../../packages/plugin/telephony-values.ts'
import type { SentDoor, SentRequest, TelephonyAct } from '../messages.ts'

/** Carries out one call of a carrier's method; what it gives, checked. Throws what the plugin throws. Runs in Deno, too. */
export async function runTelephony(carrier: Telephony, act: TelephonyAct, signal: AbortSignal): Promise<unknown> {
  switch (act.name) {
    case 'verify':
      return (await carrier.verify(requestOf(act.request), act.urls)) === true
    case 'read':
      return readOf(carrier, requestOf(act.request))
    case 'join':
      return documentOf(await carrier.join(act.call, doorOf(act.door)))
    case 'reject':
      return documentOf(await carrier.reject(act.as))
    case 'hangup':
      return documentOf(await (carrier.hangup?.() ?? carrier.reject('rejected')))
    case 'command':
      return carrier.command?.(act.carrierId, act.document, signal)
    case 'create':
      return orderedOf(await carrier.create(act.order, act.token, doorOf(act.door), signal))
    case 'end':
      return carrier.end(act.carrierId, signal)
    case 'state':
      return callStateOf(await carrier.state(act.carrierId, signal))
    case 'transfer':
      return carrier.transfer?.(act.call, doorOf(act.door), signal)
  }
}

/** `news`, or that the body can't be read, which is the sender's fault. */
async function readOf(carrier: Telephony, request: CarrierRequest): Promise<unknown> {
  try {
    return { news: carrierNewsOf(await carrier.read(request)) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { isMalformed: true }
  }
}

function requestOf({ query, headers, ...rest }: SentRequest): CarrierRequest {
  return { ...rest, query: new URLSearchParams(query), header: (name) => headers[name] ?? '' }
}

function doorOf({ streamUrl, callbacks }: SentDoor): StreamDoor {
  return {
    streamUrl: () => streamUrl,
    callbackUrl(event, query) {
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
      return `${callbacks}${event}${search}`
    },
  }
}
