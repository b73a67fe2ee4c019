import { Buffer, isUtf8 } from 'node:buffer'
import { performance } from 'node:perf_hooks'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** Received but unread bytes above this pause the connection. */
const HIGH_WATER_BYTES = 256 * 1024
/** A client that sends nothing for this long in the middle of a body is cut off. */
const STALL_TIMEOUT_MS = 6000

/** The connection a body arrives on. */
interface BodySource {
  pause(): void
  resume(): void
}

/**
 * A request body as a bounded stream. It is read once: as text or bytes up to a limit, or by iterating. Throws
 * `malformed_body` when the client stalls or disconnects before the end.
 */
export class RequestBody implements AsyncIterable<Buffer> {
  readonly #source: BodySource
  #chunks: Buffer[] = []
  #unreadBytes = 0
  #ended = false
  #failure: PatchbayError | undefined
  #discarded = false
  #paused = false
  /** The reader that waits for more. */
  #waiting: { wake(): void; sinceMs: number } | undefined

  constructor(source: BodySource) {
    this.#source = source
  }

  /** Called by the server. `chunk` is valid during the call only. */
  push(chunk: ArrayBuffer, last: boolean): void {
    if (last) this.#ended = true
    if (!this.#discarded && chunk.byteLength > 0) {
      this.#chunks.push(Buffer.from(new Uint8Array(chunk)))
      this.#unreadBytes += chunk.byteLength
      if (this.#unreadBytes > HIGH_WATER_BYTES && !last && !this.#paused) {
        this.#paused = true
        this.#source.pause()
      }
    }
    this.#wake()
  }

  /** Called by the server several times a second, which saves a timer per body. Fails the reader of a client that stalls. */
  tick(nowMs: number): void {
    if (this.#waiting !== undefined && nowMs - this.#waiting.sinceMs >= STALL_TIMEOUT_MS) {
      this.#fail(`Body stalled for ${STALL_TIMEOUT_MS} ms`)
    }
  }

  /** Called by the server when the client has disconnected. */
  abort(): void {
    this.#fail('Client went away')
  }

  /** Drops unread bytes and all that follow. */
  discard(): void {
    this.#discarded = true
    this.#chunks = []
    this.#unreadBytes = 0
    this.#resume()
  }

  /** The whole body as text. Throws `body_too_large`, or `malformed_body` if it is not UTF-8. */
  async text(limitBytes: number): Promise<string> {
    const bytes = await this.bytes(limitBytes)
    if (!isUtf8(bytes)) throw new PatchbayError('malformed_body')
    return bytes.toString('utf8')
  }

  /** The whole body. Throws `body_too_large` as soon as it exceeds the limit. */
  async bytes(limitBytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let total = 0
    for await (const chunk of this) {
      total += chunk.length
      if (total > limitBytes) throw new PatchbayError('body_too_large')
      parts.push(chunk)
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, total)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#unreadBytes -= chunk.length
          this.#resume()
          yield chunk
        } else if (this.#failure) throw this.#failure
        else if (this.#ended) return
        else await this.#more()
      }
    } finally {
      this.discard()
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { wake: resolve, sinceMs: performance.now() }
    })
  }

  #wake(): void {
    this.#waiting?.wake()
    this.#waiting = undefined
  }

  #resume(): void {
    if (!this.#paused || this.#unreadBytes > HIGH_WATER_BYTES / 2 || this.#failure) return
    this.#paused = false
    this.#source.resume()
  }

  #fail(reason: string): void {
    this.#failure = new PatchbayError('malformed_body', { cause: new Error(reason) })
    this.#wake()
  }
}
