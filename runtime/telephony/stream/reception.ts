import { randomBytes } from 'node:crypto'
import type { Logger } from '../../log.ts'
import { boundary } from '../../process/boundary.ts'
import type { StreamDialect, StreamEvent } from './dialect.ts'
import type { StreamLeg } from './leg.ts'
import type { StreamHandlers, StreamSocket } from './socket.ts'

/** A stream says which call it belongs to within this. */
const START_TIMEOUT_MS = 10_000
/** Streams that haven't said so yet. */
const MAX_STRANGERS = 500
/** Messages that are none of the dialect, before the stream is closed. */
const MAX_FAULTS = 20
const POLICY_VIOLATION = 1008
const TRY_AGAIN_LATER = 1013

/** Gives the leg of the call a token was issued for; undefined when the call is over. `carrierId` is the carrier's name of it. */
export type Claim = (carrierId: string) => StreamLeg | undefined

/**
 * Where a carrier's media streams arrive. A stream shows a token that was issued for its call and is good for one stream;
 * one without is closed before any audio is looked at.
 */
export class StreamReception {
  readonly #dialect: StreamDialect
  readonly #log: Logger
  readonly #claims = new Map<string, Claim>()
  #strangers = 0

  constructor(dialect: StreamDialect, log: Logger) {
    this.#dialect = dialect
    this.#log = log
  }

  /** A token for one stream, of letters and digits alone: some carriers hand on nothing else. `withdraw` it once the call is over. */
  issue(claim: Claim): string {
    const token = randomBytes(32).toString('hex')
    this.#claims.set(token, claim)
    return token
  }

  withdraw(token: string): void {
    this.#claims.delete(token)
  }

  /** Takes a socket that was just opened. */
  open(socket: StreamSocket): StreamHandlers {
    if (this.#strangers >= MAX_STRANGERS) {
      socket.close(TRY_AGAIN_LATER, 'too many streams')
      return { message: () => {}, close: () => {} }
    }
    return new Stream(this.#dialect, socket, (event) => this.#enter(event), this.#log, {
      come: () => this.#strangers++,
      known: () => this.#strangers--,
    })
  }

  #enter({ token, carrierId }: Extract<StreamEvent, { type: 'start' }>): StreamLeg | undefined {
    const claim = this.#claims.get(token)
    this.#claims.delete(token)
    return claim?.(carrierId)
  }
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
    } catch (err) {
      if (++this.#faults === 1) this.#log.warn({ err }, 'A media stream sent a message that is none')
      if (this.#faults > MAX_FAULTS || this.#leg === undefined) this.#socket.close(POLICY_VIOLATION, 'bad message')
      return
    }
    if (event === undefined) return
    if (event.type === 'start') this.#start(event)
    else this.#leg?.received(event)
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
