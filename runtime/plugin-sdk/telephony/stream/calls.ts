import { boundary } from '../../../lib/async/boundary.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Logger } from '../../../process/log.ts'
import type { DialEvents, DialOrder, IncomingCall } from '../carrier.ts'
import { HangUps } from '../hang-ups.ts'
import type { StreamDialect } from './dialect.ts'
import { DialledCall } from './dialled.ts'
import { type Answers, ReceivedCall } from './received.ts'
import { StreamReception } from './reception.ts'
import { refusesForGood } from './rest.ts'

interface StreamCallsOptions {
  dialect: StreamDialect
  clock: Clock
  log: Logger
  /** Ends a call at the carrier; one that is over is no error. */
  end(carrierId: string, signal: AbortSignal): Promise<void>
}

/** The calls of one carrier whose media are streams: dialled and received, from the first word of them to the last. */
export class StreamCalls {
  readonly reception: StreamReception
  readonly #options: StreamCallsOptions
  readonly #hangUps: HangUps
  /** By our id, until they are over. */
  readonly #dialled = new Map<string, DialledCall>()
  /** By the carrier's. */
  readonly #received = new Map<string, ReceivedCall>()
  #onCall: ((call: IncomingCall) => void) | undefined

  constructor(options: StreamCallsOptions) {
    this.#options = options
    this.reception = new StreamReception(options.dialect, options.log)
    this.#hangUps = new HangUps({ log: options.log, isFinal: refusesForGood })
  }

  /** As Carrier's `receive`. */
  receive(onCall: (call: IncomingCall) => void, signal: AbortSignal): void {
    this.#onCall = onCall
    signal.addEventListener(
      'abort',
      boundary('carrier', () => {
        this.#onCall = undefined
      }),
    )
  }

  /** An order, before the carrier is asked: its token goes along. */
  dial(order: DialOrder, events: DialEvents): DialledCall {
    const { dialect, clock } = this.#options
    const call = new DialledCall({
      dialect,
      order,
      events,
      clock,
      reception: this.reception,
      complete: (carrierId) => this.#complete(carrierId),
      over: () => this.#dialled.delete(order.callId),
    })
    this.#dialled.set(order.callId, call)
    return call
  }

  dialled(callId: string): DialledCall | undefined {
    return this.#dialled.get(callId)
  }

  received(carrierId: string): ReceivedCall | undefined {
    return this.#received.get(carrierId)
  }

  /** The call of either direction, by our id. */
  find(callId: string): DialledCall | ReceivedCall | undefined {
    const dialled = this.#dialled.get(callId)
    if (dialled !== undefined) return dialled
    for (const call of this.#received.values()) if (call.callId === callId) return call
    return undefined
  }

  /** A call comes in. A repeated request gets the same `document`. */
  comesIn(sid: string, from: string, to: string, answers: Answers, isCommanded: boolean): ReceivedCall {
    const known = this.#received.get(sid)
    if (known !== undefined) return known
    const { dialect, clock } = this.#options
    const call = new ReceivedCall({
      dialect,
      sid,
      from,
      to,
      clock,
      reception: this.reception,
      answers,
      isCommanded,
      complete: () => this.#complete(sid),
      over: () => this.#received.delete(sid),
    })
    this.#received.set(sid, call)
    if (this.#onCall === undefined) call.reject('no_capacity')
    else this.#onCall(call)
    return call
  }

  /** As Carrier's `hangup`. */
  async hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void> {
    const call = this.find(callId)
    const sid = (call instanceof DialledCall ? call.abandon() : call?.sid) ?? carrierId
    if (sid !== undefined) await this.#end(sid, signal)
  }

  /** The carrier's id of the call; undefined when unknown. */
  carrierIdOf(callId: string, carrierId: string | undefined): string | undefined {
    return this.find(callId)?.sid ?? carrierId
  }

  /** Ends what is still open when the process stops. */
  async close(): Promise<void> {
    for (const call of [...this.#dialled.values()]) call.abandon()
    for (const call of [...this.#received.values()]) call.end()
    await this.#hangUps.close()
  }

  #complete(carrierId: string): void {
    // What is in vain is logged there.
    this.#end(carrierId).catch(() => {})
  }

  #end(carrierId: string, signal?: AbortSignal): Promise<void> {
    return this.#hangUps.end(carrierId, (within) => this.#options.end(carrierId, within), signal)
  }
}
