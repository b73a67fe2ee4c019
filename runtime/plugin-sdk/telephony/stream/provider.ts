import type { CarrierNews, StreamDoor } from '../../../../packages/plugin/telephony.ts'
import type { PhoneNumber } from '../../../lib/phone-number.ts'
import type { CarrierCallState, CarrierNumbers, DialOrder } from '../carrier.ts'
import type { CarrierReply, CarrierRequest } from '../web.ts'
import type { StreamDialect } from './dialect.ts'
import type { Rejection } from './received.ts'
import type { ApiFault } from './rest.ts'

export type { CarrierNews, StreamDoor } from '../../../../packages/plugin/telephony.ts'

type Awaitable<T> = T | Promise<T>

/**
 * The carrier-specific part of a streaming carrier: its formats, signatures, names and requests. The
 * engine (carrier.ts) does the rest.
 */
export interface StreamProvider {
  readonly dialect: StreamDialect
  /** Calls a second the carrier dials at once; more are spaced out here. Absent: as many as come. */
  readonly callsPerSecond?: number
  readonly numbers?: CarrierNumbers
  /** What its documents are. Absent: `text/xml`. */
  readonly documentType?: string
  /** The reply to a request that asks for nothing. */
  readonly taken: CarrierReply

  /** Throws `forged_request` unless the carrier sent the request to one of these addresses. */
  verify(request: CarrierRequest, urls: readonly string[]): Awaitable<void>
  /**
   * As `verify`, for the request that opens a stream. Absent: the carrier signs none, and what its URL shows, which is of a
   * call that waits for its stream, lets it in.
   */
  verifyStream?(request: Pick<CarrierRequest, 'header'>, urls: readonly string[]): void
  /** What a verified request says; undefined: nothing the engine needs. */
  read(request: CarrierRequest): Awaitable<CarrierNews | undefined>

  /** The instruction to connect a call to our stream, with the token. */
  join(call: { callId: string; token: string }, door: StreamDoor): Awaitable<string>
  /** Refuses a ringing or unknown call. */
  reject(as: Rejection): Awaitable<string>
  /** Ends a call that was answered. Absent: the carrier never asks for one that is `streamless`. */
  hangup?(): Awaitable<string>
  /**
   * Has the carrier do what a document of `join` or `reject` says. Absent: documents are the replies to its requests.
   */
  command?(carrierId: string, document: string, signal: AbortSignal): Promise<void>

  /**
   * Orders a call. Resolves with what the carrier calls it, empty where it says so later. Throws ApiFault; with a status
   * under 500, there is no such call.
   */
  create(order: DialOrder, token: string, door: StreamDoor, signal: AbortSignal): Promise<string>
  /** Was the order refused because of the number that was to be dialled? */
  blamesNumber?(fault: ApiFault): boolean
  /** Ends a call; one that is over is no error. */
  end(carrierId: string, signal: AbortSignal): Promise<void>
  state(carrierId: string, signal: AbortSignal): Promise<CarrierCallState>
  /** Leads a connected call to another number, with ours as the caller. */
  transfer(
    call: { carrierId: string; to: PhoneNumber; from: string },
    door: StreamDoor,
    signal: AbortSignal,
  ): Promise<void>
}
