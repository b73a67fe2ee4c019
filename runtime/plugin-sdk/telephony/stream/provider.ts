import type { PhoneNumber } from '../../../lib/phone-number.ts'
import type { AnsweredBy, CarrierCallState, CarrierNumbers, DialOrder } from '../carrier.ts'
import type { CarrierReply, CarrierRequest } from '../web.ts'
import type { StreamDialect } from './dialect.ts'
import type { DialNews } from './dialled.ts'
import type { Rejection } from './received.ts'
import type { ApiFault } from './rest.ts'

/** Where what belongs to a call of this node reaches it. */
export interface StreamDoor {
  /** Where the stream of the call with this token goes. */
  streamUrl(token: string): string
  callbackUrl(event: string, query?: Readonly<Record<string, string>>): string
}

/** What a request of the carrier says. */
export type CarrierNews =
  /** A call to one of our numbers. Numbers are E.164 where known. */
  | { type: 'incoming'; carrierId: string; from: string; to: string }
  /** What becomes of a call we dialled, by our id; or of one that came in, which has none, or none that is known. */
  | { type: 'progress'; callId: string; news: DialNews }
  /** Who picked up a call we dialled. */
  | { type: 'classified'; callId: string; by: AnsweredBy }
  /** A call we dialled was picked up, and the carrier asks what to do with it. */
  | { type: 'picked_up'; callId: string; carrierId: string }
  /** The stream of a call is over and the call isn't: the carrier asks what to do with it. */
  | { type: 'streamless'; callId: string }
  /** The carrier asks for a document that was named to it before. */
  | { type: 'asks'; document: string }

/**
 * The carrier-specific part of a streaming carrier: its formats, signatures, names and requests. The
 * engine (carrier.ts) does the rest.
 */
export interface StreamProvider {
  readonly dialect: StreamDialect
  /** Calls a second the carrier dials at once; more are spaced out here. Absent: as many as come. */
  readonly callsPerSecond?: number
  readonly numbers?: CarrierNumbers
  /** The reply to a request that asks for nothing. */
  readonly taken: CarrierReply

  /** Throws `forged_request` unless the carrier sent the request to one of these addresses. */
  verify(request: CarrierRequest, urls: readonly string[]): void
  /**
   * As `verify`, for the request that opens a stream. Absent: the carrier signs none, and what its URL shows, which is of a
   * call that waits for its stream, lets it in.
   */
  verifyStream?(request: Pick<CarrierRequest, 'header'>, urls: readonly string[]): void
  /** What a verified request says; undefined: nothing the engine needs. */
  read(request: CarrierRequest): CarrierNews | undefined

  /** The instruction to connect a call to our stream, with the token. */
  join(call: { callId: string; token: string }, door: StreamDoor): string
  /** Refuses a ringing or unknown call. */
  reject(as: Rejection): string
  /** Ends a call that was answered. Absent: the carrier never asks for one that is `streamless`. */
  hangup?(): string
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
