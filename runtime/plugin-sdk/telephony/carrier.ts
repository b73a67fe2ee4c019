import type { AnsweredBy, CarrierCallState, DialFailure } from '../../../packages/plugin/telephony.ts'
import type { CarrierFigures, Leg } from '../../call/types/leg.ts'
import type { PhoneNumber } from '../../lib/phone-number.ts'
import type { LineCodecName } from '../../media/codecs/line-codec.ts'
import type { LineFaults } from '../../media/line/line-faults.ts'
import type { Trunk } from './trunk.ts'
import type { NumberType } from './trunk-settings.ts'
import type { CarrierWeb } from './web.ts'
import type { WireMessage } from './wire-message.ts'

export type { AnsweredBy, CarrierCallState, DialFailure } from '../../../packages/plugin/telephony.ts'

/** null: no bound. `*` among the countries: all of them. */
export interface DialBounds {
  readonly countries: readonly string[] | null
  readonly numberTypes: readonly NumberType[] | null
}

/** The destinations a workspace may call: the operator's limit, and the workspace's within it. */
export interface DialRules {
  readonly operator: DialBounds
  readonly workspace: DialBounds
}

/** A carrier, as a telephony plugin makes it: it dials people and hands over their media as legs. One for the process. */
export interface Carrier {
  /**
   * Asks for a call. Resolves when the carrier has accepted the order; its progress goes to `events`. Throws when
   * the order was refused or its fate is unknown: `lookup` says which.
   */
  dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void>
  /**
   * Resolves when the carrier may be asked for one more call; awaited before each `dial`, and before anything is held for
   * the call. Absent: at any time.
   */
  turn?(signal: AbortSignal): Promise<void>
  /**
   * Ends the call in any state. An ended or unknown call is no error. `carrierId` is what the carrier calls
   * it, where another process has dialled it.
   */
  hangup(callId: string, signal: AbortSignal, carrierId?: string): Promise<void>
  /**
   * Has the other side lead itself to another number, and leaves: the leg ends with `transferred`. Throws CarrierFault;
   * TransferRefused where the other side takes no such request: it may be called from here instead.
   */
  transfer?(callId: string, to: string, signal: AbortSignal, by: TransferCase): Promise<void>
  /** `dial` and `transfer` take extensions and SIP URIs, too. */
  readonly takesNames?: boolean
  /**
   * The trunk for a workspace's calls: the one of this name, or its only one; undefined without one. Destinations are
   * judged by that trunk's rules. Absent: calls are billed to an account of the operator.
   */
  trunkOf?(workspaceId: string, name: string | undefined): Promise<Trunk | undefined>
  /** `dial` reaches extensions that register here, over no trunk. */
  readonly hasExtensions?: boolean
  /** What the carrier knows of a call whose api node died. */
  lookup(callId: string, signal: AbortSignal, carrierId?: string): Promise<CarrierCallState>
  /**
   * Offers calls that come in to `onCall` until the signal aborts. Asked of carriers in api nodes alone: elsewhere nothing
   * listens. Absent: this carrier only dials, or its calls come another way.
   */
  receive?(onCall: (call: IncomingCall) => void, signal: AbortSignal): Promise<void>
  /**
   * Makes a call from this process to itself, over sockets of loopback: for tests of agents. Throws CarrierFault. Absent: this carrier
   * reaches nobody without its network.
   */
  loopback?(line: LineFaults & { codec: LineCodecName }, signal: AbortSignal): Promise<LoopbackCall>
  /**
   * This node will stop soon: other nodes take over what brings calls to it, while it still serves those that come. Absent: nothing
   * binds calls to a node.
   */
  leave?(): void
  /** Answers the carrier's HTTP requests and takes its media streams. Absent: it has none. */
  readonly web?: CarrierWeb
  /** Looks at its ports and trunks, and names the faults: for `patchbay doctor`. Asked of carriers in api nodes. */
  diagnose?(signal: AbortSignal): Promise<CarrierFinding[]>
  /**
   * Looks at one trunk as `diagnose` does, and at what it needs of this process. Concurrent callers share one check.
   * Absent: the carrier knows no trunks.
   */
  diagnoseTrunk?(trunkId: string): Promise<TrunkFinding[]>
  /**
   * Calls over a trunk, sends back what it hears for some seconds or until the other side hangs up, and explains what it saw.
   * Never rejects for what becomes of the call. Absent: the carrier has no trunks.
   */
  testCall?(order: DialOrder, signal: AbortSignal): Promise<TestCall>
  /** A trunk's health as seen by this process; undefined: no such trunk. Absent: the carrier has no trunks. */
  trunkState?(trunkId: string): TrunkState | undefined
  /** All trunks of this process and how they do: for the metrics. Absent: it knows no trunks. */
  trunks?(): readonly TrunkFigures[]
  /** What was refused so far, and how often, by reason: for the metrics. */
  readonly refusals?: ReadonlyMap<string, number>
  /**
   * Numbers are the workspaces' own: each means something over trunks of its workspace alone, or nowhere at all. Absent: they are of an
   * account of the operator, who says whose each is.
   */
  readonly ownNumbers?: boolean
  /** Absent: numbers are registered here without calling the carrier, and can't be bought. */
  readonly numbers?: CarrierNumbers
}

/** Both ends of one call. */
export interface LoopbackCall {
  /** The end that was called: it rings until `answer`. */
  readonly called: Leg
  /** The end that calls, once the other has answered. Rejects with CarrierFault where it never does. */
  readonly calling: Promise<Leg>
  /** Hangs up where that was not done yet, and closes what it opened. */
  close(): Promise<void>
}

/** A trunk since this process began. */
export interface TrunkState {
  /** What it last said to REGISTER or OPTIONS; 0: nothing. Undefined: it was not asked, or another node asks it. */
  contact: { status: number; reason: string; atMs: number } | undefined
  activeCalls: number
  /** Outbound calls, and those that were answered. */
  attempts: number
  answered: number
  /** Answered of all attempts, 0–1; mean length of a call; mean time from dialling to ringing. Undefined before the first. */
  asr: number | undefined
  acdS: number | undefined
  pddMs: number | undefined
  /** Calls that an address or trunk could not take, and that the next one was asked for. */
  failovers: number
  /** Outbound calls by the status of their last answer; 0: there was none. */
  byStatus: ReadonlyMap<number, number>
}

/** A trunk among others. */
export interface TrunkFigures {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
  readonly state: TrunkState
}

/** Something a carrier found out about itself; where it isn't `ok`, with its cure. */
export interface CarrierFinding {
  ok: boolean
  text: string
}

/** What is looked at, in this order. */
export const TRUNK_CHECKS = ['listens', 'address', 'connection', 'answers', 'seen_as', 'credentials', 'media'] as const

/** One check of a trunk. */
export interface TrunkFinding extends CarrierFinding {
  check: (typeof TRUNK_CHECKS)[number]
}

/** What a test call shows, in this order. */
export const CALL_CHECKS = [
  'call',
  'codec',
  'encryption',
  'addresses',
  'sound_in',
  'sound_out',
  'keys',
  'hold',
  'session_timer',
  'transfer',
  'end',
] as const

/** One thing that a test call showed. */
export interface CallFinding extends CarrierFinding {
  check: (typeof CALL_CHECKS)[number]
}

/** A call without an agent: who answers hears themselves. */
export interface TestCall {
  readonly findings: readonly CallFinding[]
  /** What both sides said in signalling, oldest first. */
  readonly messages: readonly WireMessage[]
}

/** What a carrier does with phone numbers. Each throws CarrierFault with the carrier's own words. */
export interface CarrierNumbers {
  /** Buys a number and has its calls delivered here. */
  purchase?(wanted: { country: string; areaCode?: string }, signal: AbortSignal): Promise<PhoneNumber>
  /**
   * Has the calls of a number we own delivered here, over this trunk of the workspace where the carrier has several. Resolves with
   * where they went before, for `release`; undefined: nowhere that is to be remembered.
   */
  register?(
    number: PhoneNumber,
    trunk: string | undefined,
    signal: AbortSignal,
    workspaceId: string,
  ): Promise<NumberDelivery | undefined>
  /** Gives back a number that was bought here; has the calls of another delivered where they went before. */
  release?(number: PhoneNumber, signal: AbortSignal, kept: KeptNumber): Promise<void>
}

/** Where a carrier brings the calls of a number, in words of its own. */
export type NumberDelivery = Readonly<Record<string, string>>

/** What is known of a number that is given up. */
export interface KeptNumber {
  /** When it was bought; null: not recorded here, the carrier may know. */
  readonly bought: boolean | null
  /** What `register` resolved with. */
  readonly before: NumberDelivery | null
}

/** A carrier said no, or failed. The message is the carrier's own, without secrets: callers read it. */
export class CarrierFault extends Error {
  override readonly name = 'CarrierFault'
}

/** The other side takes no transfers; nothing was done. */
export class TransferRefused extends CarrierFault {}

/** A call to one of our numbers. Exactly one of `accept` and `reject` is called, once. */
export interface IncomingCall {
  /** As it was dialled; E.164 where the carrier could tell. */
  readonly to: string
  /** E.164, or a local extension's name (`204`). Undefined: withheld. */
  readonly from: string | undefined
  /** What else is known of the caller, as dynamic variables; `trunk` is the one the call counts for. Absent: nothing. */
  variables?(trunk: string | undefined): Readonly<Record<string, string>>
  /** Ids of the trunks it may have come over; undefined where the carrier knows no trunks. */
  readonly trunks?: readonly string[]
  /** The caller is this extension of ours, and may call its workspace's extensions. Absent: an outside caller. */
  readonly extension?: { readonly workspaceId: string; readonly name: string }
  /** Aborts when the caller hangs up before the call was accepted. */
  readonly signal: AbortSignal
  /**
   * The carrier's id of a call that is answered by a command. The carrier may announce it twice, to another node or after its end; it is
   * one call for a day. Absent: a repeated announcement means that the answer to the first was lost.
   */
  readonly announcedAs?: string
  /** It was announced before: nothing is said to the carrier. */
  ignore?(): void
  /**
   * Takes the call: it rings until the leg's `answer`. `callId` is ours, `trunk` the one of `trunks` whose number was
   * dialled. Undefined: the carrier refused it after all, such as for the trunk's own limits, and has said so. `rules`: what the
   * operator and the workspace allow; wherever the caller has the call led is judged by them.
   */
  accept(as: { callId: string; trunk?: string; rules: DialRules }): Leg | undefined | Promise<Leg | undefined>
  reject(why: IncomingRefusal): void
}

/** `foreign_trunk`: the number was dialled over another trunk than its own, as far as the caller has shown. */
export type IncomingRefusal = 'unknown_number' | 'foreign_trunk' | 'no_agent' | 'no_capacity' | 'forbidden' | 'failed'

/** Whose call is led elsewhere: what the target is judged by. */
export interface TransferCase {
  readonly workspaceId: string
  /** Our number in the call, and the trunk it was registered with. */
  readonly from: string
  readonly trunk?: string
  /** Set by the core, which has judged the target by them. */
  readonly rules?: DialRules
}

export interface DialOrder {
  /** Ours. The carrier gets it along, so that it can be asked about it later. */
  callId: string
  workspaceId: string
  /** Name of the trunk that `from` was registered with. */
  trunk?: string
  /** E.164; to an extension, the name of another one, too. */
  from: string
  /** E.164; where the carrier says that it `takesNames`, an extension or a SIP URI, too. */
  to: string
  /** `to` is an extension that registers here: no other destination is called, even one of the same name. */
  toExtension?: boolean
  /** Set by the core, which has judged `to` by them: wherever else the call is led is judged by them as well. */
  rules?: DialRules
  /** The number a diverted call was originally for, where known. */
  onBehalfOf?: string
  /** How long it may ring. */
  ringTimeoutMs: number
  /** Who answers decides what the agent does: the carrier is to say, if it can. */
  detectMachine?: boolean
}

/** What becomes of an order: `ringing` any number of times, then one of `answered` and `failed`, then nothing. */
export interface DialEvents {
  /** What the carrier calls this call: kept, so that it can be asked about it when this process is gone. */
  accepted?(carrierId: string): void
  ringing(): void
  /** The callee picked up. The leg is live; its session starts it. */
  answered(leg: Leg, by: AnsweredBy): void
  failed(failure: DialFailure, detail?: string): void
  /** What the carrier knows of the call, before it is answered or when it fails; afterwards the leg tells it. */
  carrier?(figures: CarrierFigures): void
  /** The carrier's own word on who answered, which may come long after `answered`. */
  classified?(by: AnsweredBy): void
}
