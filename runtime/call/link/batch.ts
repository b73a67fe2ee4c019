import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { AudioWriter } from './protocol.ts'

/** Shortest time between two audio messages of a link: at most 200 a second however many sessions it carries. */
const MIN_INTERVAL_MS = 5

/**
 * Gathers the audio of all sessions of a link. The first chunk after a quiet moment leaves at the end of the event loop's
 * turn, with all that came in that turn; under load messages leave every 5 ms. So a lone call waits for nothing and a
 * full link is not one message a packet.
 */
export class AudioBatch {
  readonly #clock: Clock
  readonly #send: (message: Uint8Array) => void
  readonly #writer = new AudioWriter()
  #sentAtMs = Number.NEGATIVE_INFINITY
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock, send: (message: Uint8Array) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(session: number, timestamp: number, bytes: Uint8Array): void {
    if (!this.#writer.add(session, timestamp, bytes)) {
      this.flush()
      this.#writer.add(session, timestamp, bytes)
    }
    if (this.#immediate !== undefined || this.#timer !== undefined) return
    const waitMs = this.#sentAtMs + MIN_INTERVAL_MS - this.#clock.monotonicMs()
    if (waitMs < 1) this.#immediate = setImmediate(boundary('link', () => this.flush()))
    else
      this.#timer = setTimeout(
        boundary('link', () => this.flush()),
        waitMs,
      )
  }

  flush(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    const message = this.#writer.take()
    if (message === undefined) return
    this.#sentAtMs = this.#clock.monotonicMs()
    this.#send(message)
  }

  /** Drops what waits. */
  stop(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    this.#writer.take()
  }
}
