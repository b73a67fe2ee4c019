import { systemClock } from '../../runtime/clock.ts'
import type { PhoneNumber } from '../../runtime/phone-number.ts'
import type { CarrierOptions, PluginHost } from '../../runtime/plugin/contract.ts'
import {
  type Carrier,
  type CarrierCallState,
  CarrierFault,
  type DialEvents,
  type DialOrder,
  type IncomingCall,
} from '../../runtime/telephony/carrier.ts'
import { StreamCalls } from '../../runtime/telephony/stream/calls.ts'
import { ApiFault, askJson, type JsonApi } from '../../runtime/telephony/stream/rest.ts'
import {
  type CarrierDoor,
  type CarrierReply,
  type CarrierRequest,
  type CarrierWeb,
  publicUrlsOf,
} from '../../runtime/telephony/web.ts'
import { plivoDialect } from './dialect.ts'
import { answeredBy, dialNews } from './outcome.ts'
import { requireSignature } from './signature.ts'
import { connect, dial, reject } from './xml.ts'

const NO_CONTENT = { status: 204 } as const
/** A callee who answers before Plivo's question is answered hears nothing meanwhile, so the order has to be there. */
const UNKNOWN_CALL = reject('rejected')

/** Calls of a Plivo account. Streams that break off end the call: Plivo does not open them again. */
export class PlivoCarrier implements Carrier {
  readonly web: CarrierWeb
  readonly #host: PluginHost
  readonly #api: JsonApi
  readonly #authToken: string
  readonly #door: CarrierDoor | undefined
  readonly #calls: StreamCalls

  constructor(host: PluginHost, options: CarrierOptions) {
    const authId = host.env.get('PLIVO_AUTH_ID') ?? ''
    if (authId === '') throw new Error('PLIVO_AUTH_ID must be set to the auth id of the account')
    this.#host = host
    this.#authToken = host.env.get('PLIVO_AUTH_TOKEN') ?? ''
    const origin = (host.env.get('PLIVO_API_URL') || 'https://api.plivo.com').replace(/\/$/, '')
    this.#api = {
      baseUrl: `${origin}/v1/Account/${authId}`,
      authorization: `Basic ${Buffer.from(`${authId}:${this.#authToken}`).toString('base64')}`,
      wordsOf: (body) => {
        const { error } = (body ?? {}) as { error?: unknown }
        return typeof error === 'string' ? error : undefined
      },
    }
    this.#door = options.door
    this.#calls = new StreamCalls({
      dialect: plivoDialect,
      clock: systemClock,
      log: host.log,
      end: (callUuid, signal) => this.#end(callUuid, signal),
    })
    // Plivo signs no upgrade: the one-time token of the stream's headers is what lets it in.
    this.web = {
      handle: (request) => this.#handle(request),
      stream: () => (socket) => this.#calls.reception.open(socket),
    }
  }

  async receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void> {
    this.#calls.receive(onCall, signal)
  }

  async dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> {
    if (this.#door === undefined) throw new CarrierFault('calls are dialled by api nodes alone')
    const call = this.#calls.dial(order, events)
    const callbackUrl = (event: string) => `${this.#door?.nodeUrl}/${event}?call=${order.callId}`
    try {
      await this.#ask(
        'POST',
        '/Call/',
        {
          from: order.from.slice(1),
          to: order.to.slice(1),
          answer_url: callbackUrl('answer'),
          answer_method: 'POST',
          ring_url: callbackUrl('status'),
          ring_method: 'POST',
          hangup_url: callbackUrl('status'),
          hangup_method: 'POST',
          ring_timeout: Math.ceil(order.ringTimeoutMs / 1000),
          ...(order.detectMachine
            ? { machine_detection: 'true', machine_detection_url: callbackUrl('amd'), machine_detection_method: 'POST' }
            : {}),
        },
        signal,
      )
    } catch (error) {
      if (error instanceof ApiFault && error.status !== undefined && error.status < 500) call.forget()
      throw error
    }
  }

  hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void> {
    return this.#calls.hangup(callId, signal, carrierId)
  }

  async lookup(callId: string, signal: AbortSignal, carrierId?: string): Promise<CarrierCallState> {
    const callUuid = this.#calls.carrierIdOf(callId, carrierId)
    if (callUuid === undefined) return this.#calls.find(callId) === undefined ? 'unknown' : 'live'
    try {
      await this.#ask('GET', `/Call/${callUuid}/?status=live`, undefined, signal)
      return 'live'
    } catch (error) {
      if (error instanceof ApiFault && error.status === 404) return 'ended'
      throw error
    }
  }

  async transfer(callId: string, to: PhoneNumber, signal: AbortSignal): Promise<void> {
    const call = this.#calls.find(callId)
    const { sid, leg } = call ?? {}
    if (call === undefined || sid === undefined || leg === undefined)
      throw new CarrierFault('the call is not connected')
    const query = new URLSearchParams({ to, from: call.ourNumber })
    const transfer = { legs: 'aleg', aleg_url: `${this.#door?.nodeUrl}/transfer?${query}`, aleg_method: 'POST' }
    const undo = call.transferring()
    try {
      await this.#ask('POST', `/Call/${sid}/`, transfer, signal)
    } catch (error) {
      undo()
      throw error
    }
    leg.hangUp('transferred')
  }

  async close(): Promise<void> {
    this.#calls.close()
  }

  async #handle(request: CarrierRequest): Promise<CarrierReply> {
    const form = Object.fromEntries(new URLSearchParams(request.body))
    const shown = {
      signatures: request.header('x-plivo-signature-v3'),
      nonce: request.header('x-plivo-signature-v3-nonce'),
    }
    requireSignature(this.#authToken, shown, publicUrlsOf(this.#door, request.target), form)
    const { query } = request
    const callId = query.get('call') ?? ''
    switch (request.event) {
      case 'voice':
        return xml(await this.#comesIn(form))
      case 'answer':
        return xml(this.#answered(callId, form))
      case 'status':
        if (callId !== '') this.#calls.dialled(callId)?.told(dialNews(form))
        else if (form.Event === 'Hangup') this.#calls.received(form.CallUUID ?? '')?.end()
        return NO_CONTENT
      case 'amd':
        this.#calls.dialled(callId)?.classified(answeredBy(form))
        return NO_CONTENT
      case 'transfer':
        return xml(dial(query.get('to') ?? '', query.get('from') ?? ''))
      default:
        return NO_CONTENT
    }
  }

  #answered(callId: string, { CallUUID = '' }: Readonly<Record<string, string>>): string {
    const call = this.#calls.dialled(callId)
    if (call === undefined) return UNKNOWN_CALL
    call.named(CallUUID)
    return this.#calls.dialled(callId) === undefined ? UNKNOWN_CALL : connect(this.#streamUrl(), call.token)
  }

  #comesIn({ CallUUID = '', From = '', To = '' }: Readonly<Record<string, string>>): Promise<string> {
    const join = (_callId: string, token: string) => connect(this.#streamUrl(), token)
    return this.#calls.comesIn(CallUUID, e164(From), e164(To), { join, reject }).document
  }

  #streamUrl(): string {
    return `${this.#door?.nodeUrl.replace(/^http/, 'ws')}/stream`
  }

  async #end(callUuid: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask('DELETE', `/Call/${callUuid}/`, undefined, signal)
    } catch (error) {
      if (!(error instanceof ApiFault && error.status === 404)) throw error
    }
  }

  #ask(method: 'GET' | 'POST' | 'DELETE', path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return askJson(this.#host, this.#api, method, path, body, signal)
  }
}

function xml(body: string): CarrierReply {
  return { status: 200, contentType: 'text/xml', body }
}

/** Plivo writes numbers without their plus. */
function e164(number: string): string {
  return /^\d+$/.test(number) ? `+${number}` : number
}

export function makeCarrier(host: PluginHost, options: CarrierOptions): Carrier {
  return new PlivoCarrier(host, options)
}
