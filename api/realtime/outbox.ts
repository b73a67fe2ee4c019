import type { Socket } from '../../runtime/process/web-socket.ts'

/** A client that doesn't catch up within this is closed. */
const MAX_STALL_MS = 10_000
const MAX_WAITING_MESSAGES = 1_000

/**
 * What goes out to a client, in order. When the client reads too slowly audio waits here, where the oldest can be dropped,
 * and not in the socket: a caller who catches up hears what is said now.
 */
export class ClientOutbox {
  /** Undefined while the client is away: everything waits. */
  #socket: Socket | undefined
  readonly #maxBufferedBytes: number
  readonly #maxAudioBytes: number
  #waiting: (string | Uint8Array)[] = []
  #audioBytes = 0
  #messages = 0
  #stalledAtMs: number | undefined

  /** Lets the socket hold half of `maxAudioBytes`, and as much again waits here. */
  constructor(socket: Socket, maxAudioBytes: number) {
    this.#socket = socket
    this.#maxBufferedBytes = maxAudioBytes / 2
    this.#maxAudioBytes = maxAudioBytes
  }

  /** The connection is lost: what is sent waits for the next one, the oldest of what is too much dropped. */
  detach(): void {
    this.#socket = undefined
    this.#stalledAtMs = undefined
  }

  /** Goes on over this connection: `first`, then what waited. False as of `send`. */
  attach(socket: Socket, first: string): boolean {
    this.#socket = socket
    return socket.send(first) && this.drain()
  }

  /** False when the client is hopelessly behind: end it. */
  send(data: string | Uint8Array, nowMs: number): boolean {
    if (this.#socket === undefined) return this.#hold(data)
    if (this.#waiting.length === 0 && this.#socket.bufferedBytes() < this.#maxBufferedBytes) {
      this.#stalledAtMs = undefined
      return this.#socket.send(data)
    }
    this.#stalledAtMs ??= nowMs
    this.#wait(data)
    return this.#messages <= MAX_WAITING_MESSAGES && nowMs - this.#stalledAtMs <= MAX_STALL_MS
  }

  /** The socket has room again. False as of `send`. */
  drain(): boolean {
    const socket = this.#socket
    if (socket === undefined) return true
    while (this.#waiting.length > 0 && socket.bufferedBytes() < this.#maxBufferedBytes) {
      const data = this.#waiting.shift()!
      if (typeof data === 'string') this.#messages--
      else this.#audioBytes -= data.byteLength
      if (!socket.send(data)) return false
    }
    if (this.#waiting.length === 0) this.#stalledAtMs = undefined
    return true
  }

  /** Drops the audio that waits. */
  clearAudio(): void {
    this.#waiting = this.#waiting.filter((data) => typeof data === 'string')
    this.#audioBytes = 0
  }

  /** Hands the messages that wait to the socket, for it is about to be closed. */
  flush(): void {
    this.clearAudio()
    for (const data of this.#waiting.splice(0)) this.#socket?.send(data)
    this.#messages = 0
  }

  #hold(data: string | Uint8Array): true {
    this.#wait(data)
    if (this.#messages > MAX_WAITING_MESSAGES) {
      this.#waiting.splice(
        this.#waiting.findIndex((one) => typeof one === 'string'),
        1,
      )
      this.#messages--
    }
    return true
  }

  #wait(data: string | Uint8Array): void {
    this.#waiting.push(typeof data === 'string' ? data : data.slice())
    if (typeof data === 'string') this.#messages++
    else this.#audioBytes += data.byteLength
    while (this.#audioBytes > this.#maxAudioBytes) this.#dropOldestAudio()
  }

  #dropOldestAudio(): void {
    const index = this.#waiting.findIndex((data) => typeof data !== 'string')
    const [dropped] = this.#waiting.splice(index, 1)
    this.#audioBytes -= dropped?.length ?? 0
  }
}
