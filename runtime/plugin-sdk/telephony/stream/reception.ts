import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { boundary } from '../../../lib/async/boundary.ts'
import { decodeG711, encodeG711 } from '../../../media/codecs/g711.ts'
import type { Logger } from '../../../process/log.ts'
import type { StreamDialect, StreamEvent } from './dialect.ts'
import type { StreamLeg } from './leg.ts'
import type { StreamHandlers, StreamSocket } from './socket.ts'

/** A stream says which call it belongs to within this. */
const START_TIMEOUT_MS = 10_000
/** Streams that haven't said so yet. */
const MAX_STRANGERS = 500
/** Of them, those that a call may have, and those from one address: a carrier's media servers are many calls'. */
const MAX_OF_CALL = 2
const MAX_OF_ADDRESS = 250
/** Maximum malformed messages before the stream is closed. */
const MAX_FAULTS = 20
const POLICY_VIOLATION = 1008
const TRY_AGAIN_LATER = 1013

/** Gives the leg of the call a token was issued for; undefined when the call is over. `carrierId` is the carrier's name of it. */
type Claim = (carrierId: string) => StreamLeg | undefined

/** What a call's stream shows: the token, good for one stream, in its first message; the pass in the URL that we name. */
interface Issued {
  readonly pass: Buffer
  /** Undefined: a stream has shown the token. */
  claim: Claim | undefined
  /** Streams that came with the pass and have not shown the token. */
  waiting: number
}

/**
 * Where a carrier's media streams arrive. A stream shows a pass in its URL before it is opened at all, where the carrier
 * signs no such request, and then a token that was issued for its call and is good for one stream; one without is closed
 * before any audio is looked at.
 */
export class StreamReception {
  readonly #dialect: StreamDialect
  readonly #log: Logger
  readonly #issued = new Map<string, Issued>()
  /** The tokens by the digests of their passes. */
  readonly #passes = new Map<string, string>()
  readonly #waiting = new Map<string, number>()
  #strangers = 0

  constructor(dialect: StreamDialect, log: Logger) {
    this.#dialect = dialect
    this.#log = log
  }

  /** A token for one stream, of letters and digits alone: some carriers hand on nothing else. `withdraw` it once the call is over. */
  issue(claim: Claim): string {
    const token = randomBytes(32).toString('hex')
    const pass = passOf(token)
    this.#issued.set(token, { pass: Buffer.from(pass), claim, waiting: 0 })
    this.#passes.set(digestOf(pass), token)
    return token
  }

  withdraw(token: string): void {
    const issued = this.#issued.get(token)
    if (issued === undefined) return
    this.#issued.delete(token)
    this.#passes.delete(digestOf(String(issued.pass)))
  }

  #take(token: string): Claim | undefined {
    const issued = this.#issued.get(token)
    const claim = issued?.claim
    if (issued !== undefined) issued.claim = undefined
    return claim
  }

  /** Is it the pass of a call's stream? */
  knows(pass: string): boolean {
    return this.#issuedFor(pass) !== undefined
  }

  #issuedFor(pass: string): Issued | undefined {
    const issued = this.#issued.get(this.#passes.get(digestOf(pass)) ?? '')
    const given = Buffer.from(pass)
    return issued?.pass.length === given.length && timingSafeEqual(issued.pass, given) ? issued : undefined
  }

  /** Takes a socket that was just opened. @param pass what its URL showed; undefined: its carrier signed the request */
  open(socket: StreamSocket, from: { pass: string | undefined; address: string }): StreamHandlers {
    const issued = from.pass === undefined ? undefined : this.#issuedFor(from.pass)
    const ofAddress = this.#waiting.get(from.address) ?? 0
    const isFull = this.#strangers >= MAX_STRANGERS || ofAddress >= MAX_OF_ADDRESS
    if (isFull || (issued !== undefined && issued.waiting >= MAX_OF_CALL)) {
      socket.close(TRY_AGAIN_LATER, 'too many streams')
      return { message: () => {}, close: () => {} }
    }
    const count = (more: 1 | -1): void => {
      this.#strangers += more
      if (issued !== undefined) issued.waiting += more
      const left = (this.#waiting.get(from.address) ?? 0) + more
      if (left > 0) this.#waiting.set(from.address, left)
      else this.#waiting.delete(from.address)
    }
    return new Stream(this.#dialect, socket, (event) => this.#take(event.token)?.(event.carrierId), this.#log, {
      come: () => count(1),
      known: () => count(-1),
    })
  }
}

/** What the URL of a stream shows, which others may read: it does not tell the token. */
export function passOf(token: string): string {
  return createHash('sha256').update(`stream ${token}`).digest('hex')
}

/** So that how long a look-up takes says nothing of the passes there are. */
function digestOf(pass: string): string {
  return createHash('sha256').update(pass).digest('base64')
}

class Stream implements StreamHandlers {
  readonly #dialect: StreamDialect
  readonly #socket: StreamSocket
  readonly #enter: (start: Extract<StreamEvent, { type: 'start' }>) => StreamLeg | undefined
  readonly #log: Logger
  readonly #known: () => void
  readonly #timer: NodeJS.Timeout
  #stranger = true
  #leg: StreamLeg | undefined
  #faults = 0
  #isALaw = false

  constructor(
    dialect: StreamDialect,
    socket: StreamSocket,
    enter: (start: Extract<StreamEvent, { type: 'start' }>) => StreamLeg | undefined,
    log: Logger,
    count: { come(): void; known(): void },
  ) {
    this.#dialect = dialect
    this.#socket = socket
    this.#enter = enter
    this.#log = log
    this.#known = count.known
    count.come()
    this.#timer = setTimeout(
      boundary('carrier', () => socket.close(POLICY_VIOLATION, 'no start')),
      START_TIMEOUT_MS,
    )
  }

  message(data: string | Uint8Array): void {
    let event: StreamEvent | undefined
    try {
      if (typeof data !== 'string') throw new SyntaxError('not text')
      event = this.#dialect.read(data)
    } catch {
      // The parser's own words quote the message.
      if (++this.#faults === 1) this.#log.warn({ size: data.length }, 'Malformed message in a media stream')
      if (this.#faults > MAX_FAULTS || this.#leg === undefined) this.#socket.close(POLICY_VIOLATION, 'bad message')
      return
    }
    if (event === undefined) return
    if (event.type === 'start') this.#start(event)
    else this.#leg?.received(event.type === 'media' ? { ...event, payload: this.#inFormat(event.payload) } : event)
  }

  /** A-law where the carrier could not do otherwise, in the format of the leg. */
  #inFormat(payload: string): string {
    if (!this.#isALaw) return payload
    return Buffer.from(encodeG711('pcmu', decodeG711('pcma', Buffer.from(payload, 'base64')))).toString('base64')
  }

  close(): void {
    this.#acquainted()
    this.#leg?.detach()
    this.#leg = undefined
  }

  #start(event: Extract<StreamEvent, { type: 'start' }>): void {
    if (!this.#stranger) return
    this.#acquainted()
    const leg = this.#enter(event)
    if (leg === undefined || !leg.wantsStream) {
      this.#log.warn({ carrierId: event.carrierId }, 'A media stream without a call was refused')
      this.#socket.close(POLICY_VIOLATION, 'no such call')
      return
    }
    const encoding = (event.encoding ?? '').toLowerCase()
    this.#isALaw = encoding === 'pcma' && this.#dialect.format.encoding === 'pcmu'
    if (encoding !== '' && encoding !== this.#dialect.format.encoding && !this.#isALaw) {
      this.#log.error(
        { carrierId: event.carrierId, encoding },
        `The carrier sends the caller's sound as ${encoding}, which is not understood; let it use PCMU or PCMA alone`,
      )
      this.#socket.close(POLICY_VIOLATION, 'unsupported encoding')
      leg.hangUp('connection_lost')
      return
    }
    this.#leg = leg
    leg.attach(this.#socket, event.streamId)
  }

  #acquainted(): void {
    if (!this.#stranger) return
    this.#stranger = false
    clearTimeout(this.#timer)
    this.#known()
  }
}
