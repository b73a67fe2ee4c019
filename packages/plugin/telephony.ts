/**
 * A carrier whose calls are ordered over HTTP and whose media are a WebSocket of JSON messages. Patchbay holds the sockets and the calls;
 * the plugin says how this carrier writes, signs and names things. It is made once for each process and keeps nothing of a call.
 */

/** A request of the carrier. Untrusted until `verify` has taken it. */
export interface CarrierRequest {
  readonly method: string
  /** The last part of the path: what happened. */
  readonly event: string
  /** Path and query as they were asked for, still encoded. */
  readonly target: string
  readonly query: URLSearchParams
  /** Value of a header named in lower case; empty when absent. */
  header(name: string): string
  readonly body: string
}

/**
 * `rejected`: a person refused the call. `hung_up`: somebody or something picked up and hung up before the media came. `blocked`:
 * a network refused it in the callee's place. `canceled`: we hung up before anyone answered. `carrier`: the carrier itself failed.
 */
export type DialFailure =
  | 'busy'
  | 'no_answer'
  | 'rejected'
  | 'hung_up'
  | 'blocked'
  | 'invalid_number'
  | 'canceled'
  | 'carrier'

export type AnsweredBy = 'human' | 'machine' | 'fax' | 'unknown'

export type CarrierCallState = 'live' | 'ended' | 'unknown'

/** How the carrier says that a call ended. */
export interface DialledEnd {
  readonly failure: DialFailure
  readonly detail?: string
  /** It had been picked up. */
  readonly answered: boolean
}

/** What a carrier tells of a call it was asked for. */
export interface DialNews {
  /** Empty where this message doesn't name it. */
  readonly carrierId: string
  readonly ringing?: boolean
  /** The carrier has sent the call on its way; it never says that a phone rings. */
  readonly sent?: boolean
  /** The call is over. */
  readonly over?: DialledEnd
}

/** What a request of the carrier says. */
export type CarrierNews =
  /** A call to one of our numbers. Numbers are E.164 where known. */
  | { readonly type: 'incoming'; readonly carrierId: string; readonly from: string; readonly to: string }
  /** What becomes of a call we dialled, by our id; or of one that came in, which has none, or none that is known. */
  | { readonly type: 'progress'; readonly callId: string; readonly news: DialNews }
  /** Who picked up a call we dialled. */
  | { readonly type: 'classified'; readonly callId: string; readonly by: AnsweredBy }
  /** A call we dialled was picked up, and the carrier asks what to do with it. */
  | { readonly type: 'picked_up'; readonly callId: string; readonly carrierId: string }
  /** The stream of a call is over and the call isn't: the carrier asks what to do with it. */
  | { readonly type: 'streamless'; readonly callId: string }
  /** The carrier asks for a document that was named to it before. */
  | { readonly type: 'asks'; readonly document: string }

/** Where what belongs to a call of this node reaches it. */
export interface StreamDoor {
  /** Where the stream of the call with this token goes. */
  streamUrl(token: string): string
  callbackUrl(event: string, query?: Readonly<Record<string, string>>): string
}

/**
 * How the messages of a carrier's media streams look: JSON texts, audio in base64. Where a value stands is written as the members that
 * lead to it, with dots between them: `start.customParameters.token`.
 */
export interface StreamShape {
  readonly format: { readonly encoding: 'pcmu' | 'pcma' | 'pcm_s16le'; readonly sampleRateHz: number }
  /** True when closing the stream ends the call; else the carrier must be asked to. */
  readonly closingEndsCall: boolean
  /** False: marks dropped by `clear` never come back. */
  readonly clearReturnsMarks: boolean
  /** What the carrier sends. Messages of other names are left out. */
  readonly reads: {
    /** Where the name of a message stands. */
    readonly name: string
    readonly start: {
      readonly named: string
      /** Absent: streams have no id. */
      readonly streamId?: string
      readonly carrierId: string
      /** The text there may hold more than the token, or be the base64 of such a text. */
      readonly token: string
      /** What the caller's sound comes in, as the carrier names it: PCMU or PCMA. Absent: it comes in `format`. */
      readonly encoding?: string
    }
    readonly media: {
      readonly named: string
      readonly payload: string
      /** Milliseconds from the start of the stream. */
      readonly atMs?: string
      /** What is `outbound` there is the agent's own sound. */
      readonly track?: string
    }
    readonly dtmf?: { readonly named: string; readonly digit: string }
    /** A mark came back: what was sent before it was played. */
    readonly mark: { readonly named: string; readonly name: string }
    /** The call is over or was led elsewhere. */
    readonly stop?: { readonly named: string }
  }
  /** What it is sent: objects in whose texts `{streamId}`, `{payload}` and `{name}` stand for those. */
  readonly writes: {
    readonly media: Readonly<Record<string, unknown>>
    readonly mark: Readonly<Record<string, unknown>>
    readonly clear: Readonly<Record<string, unknown>>
  }
}

/** A call that is ordered. */
export interface CarrierOrder {
  /** Ours: callbacks name it. */
  readonly callId: string
  /** E.164. */
  readonly from: string
  readonly to: string
  readonly ringTimeoutMs: number
  /** The carrier is to say who answers, if it can. */
  readonly detectMachine: boolean
}

type Awaitable<T> = T | Promise<T>

export interface Telephony {
  readonly stream: StreamShape
  /** The headers that `verify` and `read` look at, in lower case. */
  readonly headers: readonly string[]
  /** What `join`, `reject` and `hangup` write. */
  readonly documentType: 'text/xml' | 'application/json'
  /** Calls a second the carrier dials at once; more are spaced out. Absent: as many as come. */
  readonly callsPerSecond?: number

  /** Whether the carrier sent the request, to one of these addresses: by its signature. */
  verify(request: CarrierRequest, urls: readonly string[]): Awaitable<boolean>
  /** What a verified request says; undefined: nothing that counts here. Throws SyntaxError for a body that can't be read. */
  read(request: CarrierRequest): Awaitable<CarrierNews | undefined>

  /** The instruction to connect a call to our stream, whose first message shows the token. */
  join(call: { readonly callId: string; readonly token: string }, door: StreamDoor): Awaitable<string>
  /** Refuses a call that rings, or one that nobody knows. */
  reject(as: 'busy' | 'rejected'): Awaitable<string>
  /** Ends a call that was answered. Absent: as `reject`. */
  hangup?(): Awaitable<string>
  /** Has the carrier do what a document of `join` or `reject` says. Absent: documents are the replies to its requests. */
  command?(carrierId: string, document: string, signal: AbortSignal): Promise<void>

  /**
   * Orders a call. Resolves with what the carrier calls it, empty where it says so later, or with why the number can't be called. Throws
   * ProviderError; after one with a status under 500 there is no such call.
   */
  create(
    order: CarrierOrder,
    token: string,
    door: StreamDoor,
    signal: AbortSignal,
  ): Promise<string | { readonly invalidNumber: string }>
  /** Ends a call; one that is over is no error. */
  end(carrierId: string, signal: AbortSignal): Promise<void>
  state(carrierId: string, signal: AbortSignal): Promise<CarrierCallState>
  /** Leads a connected call to another number, with ours as the caller. Absent: the carrier can't. */
  transfer?(
    call: { readonly carrierId: string; readonly to: string; readonly from: string },
    door: StreamDoor,
    signal: AbortSignal,
  ): Promise<void>
}
