import { systemClock } from '../../runtime/clock.ts'
import type { PhoneNumber } from '../../runtime/phone-number.ts'
import type { CarrierOptions, PluginHost } from '../../runtime/plugin/contract.ts'
import { CallPace } from '../../runtime/telephony/call-pace.ts'
import {
  type Carrier,
  type CarrierCallState,
  CarrierFault,
  type CarrierNumbers,
  type DialEvents,
  type DialOrder,
  type IncomingCall,
} from '../../runtime/telephony/carrier.ts'
import { StreamCalls } from '../../runtime/telephony/stream/calls.ts'
import {
  type CarrierDoor,
  type CarrierReply,
  type CarrierRequest,
  type CarrierWeb,
  publicUrlsOf,
} from '../../runtime/telephony/web.ts'
import { TwilioApi, TwilioFault } from './api.ts'
import { twilioDialect } from './dialect.ts'
import { twilioNumbers } from './numbers.ts'
import { answeredBy, blamesNumber, dialNews, stateOf } from './outcome.ts'
import { requireSignature } from './signature.ts'
import { connect, dial, hangup, reject } from './twiml.ts'

/** What Twilio allows an account that was not raised; beyond it, calls wait at Twilio and ring late. */
const CALLS_PER_SECOND = 1
const NO_CONTENT = { status: 204 } as const
/** Twilio's own bound. */
const MAX_RING_S = 600
/** `Unable to update record`: the call is over. */
const NOT_IN_PROGRESS = 21_220

/** Calls of a Twilio account. */
export class TwilioCarrier implements Carrier {
  readonly numbers: CarrierNumbers
  readonly web: CarrierWeb
  readonly #api: TwilioApi
  readonly #door: CarrierDoor | undefined
  readonly #detects: boolean
  readonly #calls: StreamCalls
  readonly #pace: CallPace

  constructor(host: PluginHost, options: CarrierOptions) {
    this.#api = new TwilioApi(host)
    this.#door = options.door
    const { callsPerSecond } = options.settings
    this.#pace = new CallPace(typeof callsPerSecond === 'number' ? callsPerSecond : CALLS_PER_SECOND, systemClock)
    this.#detects = options.settings.machineDetection !== false
    this.#calls = new StreamCalls({
      dialect: twilioDialect,
      clock: systemClock,
      log: host.log,
      end: (sid, signal) => this.#end(sid, signal),
    })
    this.numbers = twilioNumbers(this.#api, options.door?.publicUrl)
    this.web = {
      handle: (request) => this.#handle(request),
      stream: (request) => {
        // Twilio signs the address it was given, some of its regions with a slash behind it.
        const urls = publicUrlsOf(this.#door, request.target).map((url) => url.replace(/^http/, 'ws'))
        const signed = [...urls, ...urls.map((url) => `${url}/`)]
        requireSignature(this.#api.authToken, request.header('x-twilio-signature'), signed, {})
        return (socket) => this.#calls.reception.open(socket)
      },
    }
  }

  async receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void> {
    this.#calls.receive(onCall, signal)
  }

  turn(signal: AbortSignal): Promise<void> {
    return this.#pace.turn(signal)
  }

  async dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> {
    const door = this.#door
    if (door === undefined) throw new CarrierFault('calls are dialled by api nodes alone')
    const call = this.#calls.dial(order, events)
    const callbackUrl = (event: string) => `${door.nodeUrl}/${event}?call=${order.callId}`
    try {
      const { sid } = await this.#api.ask(signal, (client) =>
        client.calls.create({
          to: order.to,
          from: order.from,
          twiml: this.#join(order.callId, call.token),
          timeout: Math.min(Math.ceil(order.ringTimeoutMs / 1000), MAX_RING_S),
          statusCallback: callbackUrl('status'),
          statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
          ...(order.detectMachine && this.#detects
            ? { machineDetection: 'Enable', asyncAmd: 'true', asyncAmdStatusCallback: callbackUrl('amd') }
            : {}),
        }),
      )
      call.named(sid)
    } catch (error) {
      if (error instanceof TwilioFault && blamesNumber(error.code)) return call.fail('invalid_number', error.message)
      // Refused: there is no call. Whatever else happened, there may be one; it is ended when it shows itself.
      if (error instanceof TwilioFault && error.status !== undefined && error.status < 500) call.forget()
      throw error
    }
  }

  hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void> {
    return this.#calls.hangup(callId, signal, carrierId)
  }

  async lookup(callId: string, signal: AbortSignal, carrierId?: string): Promise<CarrierCallState> {
    const sid = this.#calls.carrierIdOf(callId, carrierId)
    if (sid === undefined) return this.#calls.find(callId) === undefined ? 'unknown' : 'live'
    try {
      const { status } = await this.#api.ask(signal, (client) => client.calls(sid).fetch())
      return stateOf(status)
    } catch (error) {
      if (error instanceof TwilioFault && error.status === 404) return 'unknown'
      throw error
    }
  }

  async transfer(callId: string, to: PhoneNumber, signal: AbortSignal): Promise<void> {
    const call = this.#calls.find(callId)
    const { sid, leg } = call ?? {}
    if (call === undefined || sid === undefined || leg === undefined)
      throw new CarrierFault('the call is not connected')
    const undo = call.transferring()
    try {
      await this.#api.ask(signal, (client) => client.calls(sid).update({ twiml: dial(to, call.ourNumber) }))
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
    const urls = publicUrlsOf(this.#door, request.target)
    requireSignature(this.#api.authToken, request.header('x-twilio-signature'), urls, form)
    const callId = request.query.get('call') ?? ''
    switch (request.event) {
      case 'voice':
        return replyWith(await this.#comesIn(form))
      case 'status':
        if (callId !== '') this.#calls.dialled(callId)?.told(dialNews(form))
        else if (stateOf(form.CallStatus ?? '') === 'ended') this.#calls.received(form.CallSid ?? '')?.end()
        return NO_CONTENT
      case 'amd':
        this.#calls.dialled(callId)?.classified(answeredBy(form.AnsweredBy ?? ''))
        return NO_CONTENT
      case 'resume':
        return replyWith(this.#resume(callId))
      default:
        return NO_CONTENT
    }
  }

  #comesIn({ CallSid = '', From = '', To = '' }: Readonly<Record<string, string>>): Promise<string> {
    const join = (callId: string, token: string) => this.#join(callId, token)
    return this.#calls.comesIn(CallSid, From, To, { join, reject }).document
  }

  /** The stream of a call ended and the call didn't. */
  #resume(callId: string): string {
    const token = this.#calls.find(callId)?.reissue()
    return token === undefined ? hangup() : this.#join(callId, token)
  }

  #join(callId: string, token: string): string {
    const nodeUrl = this.#door?.nodeUrl ?? ''
    return connect(`${nodeUrl.replace(/^http/, 'ws')}/stream`, token, `${nodeUrl}/resume?call=${callId}`)
  }

  async #end(sid: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#api.ask(signal, (client) => client.calls(sid).update({ status: 'completed' }))
    } catch (error) {
      const over = error instanceof TwilioFault && (error.status === 404 || error.code === NOT_IN_PROGRESS)
      if (!over) throw error
    }
  }
}

function replyWith(twiml: string): CarrierReply {
  return { status: 200, contentType: 'text/xml', body: twiml }
}

export function makeCarrier(host: PluginHost, options: CarrierOptions): Carrier {
  return new TwilioCarrier(host, options)
}
