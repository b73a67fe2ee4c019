import type { KeyObject } from 'node:crypto'
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
import type { CarrierDoor, CarrierReply, CarrierRequest, CarrierWeb } from '../../runtime/telephony/web.ts'
import { telnyxDialect } from './dialect.ts'
import { answeredBy, type CallPayload, dialNews } from './outcome.ts'
import { publicKeyOf, requireSignature } from './signature.ts'
import { readState, writeState } from './state.ts'

const TAKEN = { status: 200 } as const
const ACTION_TIMEOUT_MS = 10_000
/** Of a call that is over: nothing is left to be done to it. */
const OVER = new Set([404, 410, 422])

/** Calls of a Telnyx Voice API application. A stream that breaks off ends the call. */
export class TelnyxCarrier implements Carrier {
  readonly web: CarrierWeb
  readonly #host: PluginHost
  readonly #api: JsonApi
  readonly #publicKey: KeyObject
  readonly #connectionId: string
  readonly #door: CarrierDoor | undefined
  readonly #calls: StreamCalls

  constructor(host: PluginHost, options: CarrierOptions) {
    this.#host = host
    this.#connectionId = host.env.get('TELNYX_CONNECTION_ID') ?? ''
    if (this.#connectionId === '') {
      throw new Error('TELNYX_CONNECTION_ID must be set to the id of the Voice API application')
    }
    this.#publicKey = publicKeyOf(host.env.get('TELNYX_PUBLIC_KEY') ?? '')
    this.#api = {
      baseUrl: `${(host.env.get('TELNYX_API_URL') || 'https://api.telnyx.com').replace(/\/$/, '')}/v2`,
      authorization: `Bearer ${host.env.get('TELNYX_API_KEY')}`,
      wordsOf: (body) => {
        const { errors } = (body ?? {}) as { errors?: { title?: string; detail?: string; code?: string }[] }
        const [first] = errors ?? []
        return first && `${first.detail ?? first.title}${first.code === undefined ? '' : ` (${first.code})`}`
      },
    }
    this.#door = options.door
    this.#calls = new StreamCalls({
      dialect: telnyxDialect,
      clock: systemClock,
      log: host.log,
      end: (callControlId, signal) => this.#end(callControlId, signal),
    })
    // Telnyx signs no upgrade: the one-time token of the call's state is what lets the stream in.
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
    try {
      const answer = await this.#ask(
        'POST',
        '/calls',
        {
          connection_id: this.#connectionId,
          to: order.to,
          from: order.from,
          timeout_secs: Math.ceil(order.ringTimeoutMs / 1000),
          webhook_url: `${this.#door.nodeUrl}/event`,
          // The same id again is the same order.
          command_id: order.callId,
          ...this.#stream(order.callId, call.token),
          ...(order.detectMachine ? { answering_machine_detection: 'detect' } : {}),
        },
        signal,
      )
      call.named((answer as { data?: CallPayload } | undefined)?.data?.call_control_id ?? '')
    } catch (error) {
      if (error instanceof ApiFault && error.status !== undefined && error.status < 500) call.forget()
      throw error
    }
  }

  hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void> {
    return this.#calls.hangup(callId, signal, carrierId)
  }

  async lookup(callId: string, signal: AbortSignal, carrierId?: string): Promise<CarrierCallState> {
    const id = this.#calls.carrierIdOf(callId, carrierId)
    if (id === undefined) return this.#calls.find(callId) === undefined ? 'unknown' : 'live'
    try {
      const answer = (await this.#ask('GET', `/calls/${id}`, undefined, signal)) as { data?: { is_alive?: boolean } }
      return answer.data?.is_alive === true ? 'live' : 'ended'
    } catch (error) {
      if (error instanceof ApiFault && error.status === 404) return 'unknown'
      throw error
    }
  }

  async transfer(callId: string, to: PhoneNumber, signal: AbortSignal): Promise<void> {
    const call = this.#calls.find(callId)
    const { sid, leg } = call ?? {}
    if (call === undefined || sid === undefined || leg === undefined)
      throw new CarrierFault('the call is not connected')
    await this.#ask('POST', `/calls/${sid}/actions/transfer`, { to, from: call.ourNumber }, signal)
    leg.hangUp('transferred')
  }

  async close(): Promise<void> {
    this.#calls.close()
  }

  async #handle(request: CarrierRequest): Promise<CarrierReply> {
    const shown = {
      signature: request.header('telnyx-signature-ed25519'),
      timestamp: request.header('telnyx-timestamp'),
    }
    requireSignature(this.#publicKey, shown, request.body, systemClock.nowMs())
    const { data } = JSON.parse(request.body) as { data?: { event_type?: string; payload?: CallPayload } }
    const { event_type: event = '', payload = {} } = data ?? {}
    const { callId } = readState(payload.client_state ?? '')
    const dialled = this.#calls.dialled(callId)
    if (payload.direction === 'incoming' && event === 'call.initiated') this.#comesIn(payload)
    else if (event.startsWith('call.machine')) dialled?.classified(answeredBy(payload))
    else if (dialled !== undefined) dialled.told(dialNews(event, payload))
    else if (event === 'call.hangup') this.#calls.received(payload.call_control_id ?? '')?.end()
    return TAKEN
  }

  /** A call waits for a command of ours, not for the answer to its webhook. */
  #comesIn({ call_control_id: id = '', from = '', to = '' }: CallPayload): void {
    if (this.#calls.received(id) !== undefined) return
    const call = this.#calls.comesIn(id, from, to, {
      join: (callId, token) => JSON.stringify({ action: 'answer', ...this.#stream(callId, token) }),
      reject: (as) => JSON.stringify({ action: 'reject', cause: as === 'busy' ? 'USER_BUSY' : 'CALL_REJECTED' }),
    })
    call.document
      .then((document) => {
        const { action, ...body } = JSON.parse(document) as { action: string }
        return this.#ask('POST', `/calls/${id}/actions/${action}`, body, AbortSignal.timeout(ACTION_TIMEOUT_MS))
      })
      .catch((err) => {
        this.#host.log.warn({ err, callControlId: id }, 'Telnyx did not take the answer to a call')
        call.end()
      })
  }

  #stream(callId: string, token: string): Record<string, unknown> {
    return {
      client_state: writeState({ callId, token }),
      stream_url: `${this.#door?.nodeUrl.replace(/^http/, 'ws')}/stream`,
      stream_track: 'inbound_track',
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: 'PCMU',
    }
  }

  async #end(callControlId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask('POST', `/calls/${callControlId}/actions/hangup`, {}, signal)
    } catch (error) {
      if (!(error instanceof ApiFault && error.status !== undefined && OVER.has(error.status))) throw error
    }
  }

  #ask(method: 'GET' | 'POST', path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return askJson(this.#host, this.#api, method, path, body, signal)
  }
}

export function makeCarrier(host: PluginHost, options: CarrierOptions): Carrier {
  return new TelnyxCarrier(host, options)
}
