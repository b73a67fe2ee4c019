import { signalWithin } from '../../../lib/async/signal-within.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { PatchbayError } from '../../../lib/errors.ts'
import type { PhoneNumber } from '../../../lib/phone-number.ts'
import type { Logger } from '../../../process/log.ts'
import { CallPace } from '../call-pace.ts'
import {
  type Carrier,
  type CarrierCallState,
  CarrierFault,
  type CarrierNumbers,
  type DialEvents,
  type DialOrder,
  type IncomingCall,
} from '../carrier.ts'
import { type CarrierEndpoint, type CarrierReply, type CarrierRequest, type CarrierWeb, publicUrlsOf } from '../web.ts'
import { StreamCalls } from './calls.ts'
import type { CarrierNews, StreamDoor, StreamProvider } from './provider.ts'
import { passOf } from './reception.ts'
import { ApiFault } from './rest.ts'

const COMMAND_TIMEOUT_MS = 10_000

/** Calls of a carrier whose media are streams: what all of them have in common, around what a provider says for itself. */
export class StreamCarrier implements Carrier {
  readonly web: CarrierWeb
  readonly numbers?: CarrierNumbers
  readonly turn?: (signal: AbortSignal) => Promise<void>
  readonly #provider: StreamProvider
  readonly #log: Logger
  readonly #door: CarrierEndpoint | undefined
  readonly #streamDoor: StreamDoor
  readonly #calls: StreamCalls

  /** @param door absent in processes that only look calls up and end them */
  constructor(provider: StreamProvider, log: Logger, door: CarrierEndpoint | undefined, clock: Clock = systemClock) {
    this.#provider = provider
    this.#log = log
    this.#door = door
    const isSigned = provider.verifyStream !== undefined
    this.#streamDoor = streamDoorOf(door?.nodeUrl ?? '', isSigned)
    this.#calls = new StreamCalls({
      ...{ dialect: provider.dialect, clock, log },
      end: (carrierId, signal) => provider.end(carrierId, signal),
    })
    const { callsPerSecond, numbers } = provider
    if (numbers !== undefined) this.numbers = numbers
    if (callsPerSecond !== undefined) {
      const pace = new CallPace(callsPerSecond, clock)
      this.turn = (signal) => pace.turn(signal)
    }
    this.web = {
      handle: (request) => this.#handle(request),
      stream: (request) => {
        provider.verifyStream?.(request, publicUrlsOf(door, request.target).map(webSocketUrl))
        const pass = isSigned ? undefined : (request.query.get('pass') ?? '')
        if (pass !== undefined && !this.#calls.reception.knows(pass)) throw new PatchbayError('forged_request')
        return (socket) => this.#calls.reception.open(socket, { pass, address: request.address })
      },
    }
  }

  async receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void> {
    this.#calls.receive(onCall, signal)
  }

  async dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> {
    if (this.#door === undefined) throw new CarrierFault('calls are dialled by api nodes alone')
    const call = this.#calls.dial(order, events)
    try {
      call.named(await this.#provider.create(order, call.token, this.#streamDoor, signal))
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error
      if (this.#provider.blamesNumber?.(error)) return call.fail('invalid_number', error.message)
      // Refused: there is no call. After any other failure there may be one; it is ended when it appears.
      if (error.status !== undefined && error.status < 500) call.forget()
      throw error
    }
  }

  hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void> {
    return this.#calls.hangup(callId, signal, carrierId)
  }

  async lookup(callId: string, signal: AbortSignal, carrierId?: string): Promise<CarrierCallState> {
    const known = this.#calls.carrierIdOf(callId, carrierId)
    if (known !== undefined) return this.#provider.state(known, signal)
    return this.#calls.find(callId) === undefined ? 'unknown' : 'live'
  }

  async transfer(callId: string, to: string, signal: AbortSignal): Promise<void> {
    const call = this.#calls.find(callId)
    const { sid: carrierId, leg } = call ?? {}
    if (call === undefined || carrierId === undefined || leg === undefined) {
      throw new CarrierFault('the call is not connected')
    }
    const undo = call.transferring()
    try {
      await this.#provider.transfer(
        { carrierId, to: to as PhoneNumber, from: call.ourNumber },
        this.#streamDoor,
        signal,
      )
    } catch (error) {
      undo()
      throw error
    }
    leg.hangUp('transferred')
  }

  close(): Promise<void> {
    return this.#calls.close()
  }

  async #handle(request: CarrierRequest): Promise<CarrierReply> {
    const provider = this.#provider
    await provider.verify(request, publicUrlsOf(this.#door, request.target))
    const news = await newsIn(provider, request)
    const document = news === undefined ? undefined : await this.#heard(news)
    if (document === undefined) return provider.taken
    return { status: 200, contentType: provider.documentType ?? 'text/xml', body: document }
  }

  /** Does what follows from the news. Resolves with the document the carrier waits for. */
  async #heard(news: CarrierNews): Promise<string | undefined> {
    switch (news.type) {
      case 'incoming':
        return this.#comesIn(news)
      case 'progress':
        this.#progressed(news)
        return undefined
      case 'classified':
        this.#calls.dialled(news.callId)?.classified(news.by)
        return undefined
      case 'picked_up':
        return this.#pickedUp(news)
      case 'streamless':
        return this.#resumed(news.callId)
      case 'asks':
        return news.document
    }
  }

  #progressed({ callId, news }: Extract<CarrierNews, { type: 'progress' }>): void {
    const dialled = this.#calls.dialled(callId)
    if (dialled !== undefined) dialled.told(news)
    else if (news.over !== undefined) this.#calls.received(news.carrierId)?.end()
  }

  #comesIn({ carrierId, from, to }: Extract<CarrierNews, { type: 'incoming' }>): Promise<string> | undefined {
    const provider = this.#provider
    const isNew = this.#calls.received(carrierId) === undefined
    const answers = {
      join: (callId: string, token: string) => provider.join({ callId, token }, this.#streamDoor),
      reject: provider.reject.bind(provider),
    }
    const call = this.#calls.comesIn(carrierId, from, to, answers, provider.command !== undefined)
    if (provider.command === undefined) return call.document
    // The call waits for a command of ours, not for the reply to its request; which may come again.
    if (isNew) {
      call.document
        .then((document) => provider.command?.(carrierId, document, signalWithin(COMMAND_TIMEOUT_MS)))
        .catch((err) => {
          this.#log.warn({ err, carrierId }, 'The carrier rejected the answer to a call')
          call.end()
        })
    }
    return undefined
  }

  #pickedUp({ callId, carrierId }: Extract<CarrierNews, { type: 'picked_up' }>): string | Promise<string> {
    const { token } = this.#calls.dialled(callId) ?? {}
    // Its name may be what was missing to end it.
    this.#calls.dialled(callId)?.named(carrierId)
    const live = token !== undefined && this.#calls.dialled(callId) !== undefined
    return live ? this.#provider.join({ callId, token }, this.#streamDoor) : this.#provider.reject('rejected')
  }

  #resumed(callId: string): string | Promise<string> {
    const token = this.#calls.find(callId)?.reissue()
    if (token !== undefined) return this.#provider.join({ callId, token }, this.#streamDoor)
    return this.#provider.hangup?.() ?? this.#provider.reject('rejected')
  }
}

function webSocketUrl(url: string): string {
  return url.replace(/^http/, 'ws')
}

/** Where the carrier signs the request of a stream, its URL has nothing to show. */
function streamDoorOf(nodeUrl: string, isSigned: boolean): StreamDoor {
  const url = `${webSocketUrl(nodeUrl)}/stream`
  return {
    streamUrl: (token) => (isSigned ? url : `${url}?pass=${passOf(token)}`),
    callbackUrl(event, query) {
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
      return `${nodeUrl}/${event}${search}`
    },
  }
}

/** What the carrier tells; a body that can't be read is the sender's fault. */
async function newsIn(provider: StreamProvider, request: CarrierRequest): Promise<CarrierNews | undefined> {
  try {
    return await provider.read(request)
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new PatchbayError('malformed_body', { cause })
    throw cause
  }
}
