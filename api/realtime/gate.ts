/**
 * How much a client may send. Pure: times are monotonic milliseconds. uWebSockets.js can't stop reading from one WebSocket,
 * so what is over the limit is dropped and said so; a client that goes on is closed.
 */

/** Four times what 20 ms audio frames need. */
const MESSAGES_PER_S = 200
const MESSAGE_BURST = 400
/** Audio may arrive a little faster than it plays: the client's clock is another. */
const AUDIO_SPEED = 1.1
const AUDIO_BURST_MS = 3_000
/** Over the limit this long without a second's rest, or this often, and the client is closed. */
const MAX_OVER_MS = 2_000
const MAX_OVER_MESSAGES = 50_000
const REST_MS = 1_000

export type GateVerdict = 'pass' | 'drop' | 'close'

class Bucket {
  readonly #perMs: number
  readonly #size: number
  #level: number
  #atMs: number

  constructor(perMs: number, size: number, nowMs: number) {
    this.#perMs = perMs
    this.#size = size
    this.#level = size
    this.#atMs = nowMs
  }

  take(amount: number, nowMs: number): boolean {
    this.#level = Math.min(this.#size, this.#level + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
    if (this.#level < amount) return false
    this.#level -= amount
    return true
  }
}

export class MessageGate {
  readonly #messages: Bucket
  readonly #audioMs: Bucket
  #overSinceMs: number | undefined
  #overLastMs = 0
  #overCount = 0

  constructor(nowMs: number) {
    this.#messages = new Bucket(MESSAGES_PER_S / 1000, MESSAGE_BURST, nowMs)
    this.#audioMs = new Bucket(AUDIO_SPEED, AUDIO_BURST_MS, nowMs)
  }

  /** Whether the next message may be looked at. */
  message(nowMs: number): GateVerdict {
    if (this.#messages.take(1, nowMs)) return 'pass'
    if (this.#overSinceMs === undefined || nowMs - this.#overLastMs > REST_MS) {
      this.#overSinceMs = nowMs
      this.#overCount = 0
    }
    this.#overLastMs = nowMs
    this.#overCount++
    return nowMs - this.#overSinceMs > MAX_OVER_MS || this.#overCount > MAX_OVER_MESSAGES ? 'close' : 'drop'
  }

  /** Whether `durationMs` of audio may pass; a client that sends faster than it speaks loses the rest. */
  audio(durationMs: number, nowMs: number): boolean {
    return this.#audioMs.take(durationMs, nowMs)
  }
}
