import { Buffer, isUtf8 } from 'node:buffer'
import { performance } from 'node:perf_hooks'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Listener } from './steps.ts'

/** Received but unread bytes above this pause the connection. */
const HIGH_WATER_BYTES = 256 * 1024
/** A client that sends nothing for this long in the middle of a body is cut off. */
const STALL_TIMEOUT_MS = 6000

/** The connection a body arrives on. */
export interface BodySource {
  pause(): void
  resume(): void
}

/** Who waits for a whole body as text. */
interface TextReader {
  readonly limitBytes: number
  readonly listener: Listener<string>
}

/**
 * A request body as a bounded stream. It is read once: as text or bytes up to a limit, or by iterating. Throws
 * `malformed_body` when the client stalls or goes away in its middle.
 *
 * No function literal is assigned to a field here. V8 takes such a function for a method, which lives long, and makes it
 * among the old objects, from where it drags all that its request held through every scavenge.
 */
export class RequestBody implements AsyncIterable<Buffer> {
  readonly #source: BodySource
  #chunks: Buffer[] = []
  #bytes = 0
  #ended = false
  #failure: PatchbayError | undefined
  #discarded = false
  #paused = false
  #wake: (() => void) | undefined
  #textReader: TextReader | undefined
  /** When the present wait began. */
  #waitingSinceMs = 0

  constructor(source: BodySource) {
    this.#source = source
  }

  /** True once the last byte has arrived, read or not. */
  get ended(): boolean {
    return this.#ended
  }

  /** Called by the server. `chunk` is valid during the call only. */
  push(chunk: ArrayBuffer, last: boolean): void {
    if (last) this.#ended = true
    const reader = this.#textReader
    if (reader && last && chunk.byteLength <= reader.limitBytes) {
      // Most bodies come whole, a moment after the head: they are read where they lie.
      this.#textReader = undefined
      tellText(Buffer.from(chunk), reader.listener)
      return
    }
    if (!this.#discarded && chunk.byteLength > 0) {
      const copy = Buffer.from(new Uint8Array(chunk))
      this.#chunks.push(copy)
      this.#bytes += copy.length
      if (this.#bytes > HIGH_WATER_BYTES && !last && !this.#paused) {
        this.#paused = true
        this.#source.pause()
      }
    }
    this.#wakeUp()
  }

  /** Called by the server several times a second, which spares each body a timer. Gives up a client that stalls. */
  tick(nowMs: number): void {
    if (this.#wake === undefined && this.#textReader === undefined) return
    if (nowMs - this.#waitingSinceMs >= STALL_TIMEOUT_MS) this.#fail(`Body stalled for ${STALL_TIMEOUT_MS} ms`)
  }

  /** Called by the server when the client is gone. */
  abort(): void {
    this.#fail('Client went away')
  }

  /** Drops what is unread and all that still comes. */
  discard(): void {
    this.#discarded = true
    this.#chunks = []
    this.#bytes = 0
    this.#flow()
  }

  /** The whole body as text. Fails with `body_too_large` or, for what is no UTF-8, with `malformed_body`. */
  text(limitBytes: number, listener: Listener<string>): void {
    this.#textReader = { limitBytes, listener }
    this.#waitingSinceMs = performance.now()
    if (this.#ended || this.#failure || this.#chunks.length > 0) this.#wakeUp()
  }

  /** The whole body. Throws `body_too_large` as soon as it exceeds the limit. */
  async bytes(limitBytes: number): Promise<Buffer> {
    if (!this.#ended && !this.#failure && this.#chunks.length === 0) await this.#arrival()
    if (this.#ended && this.#chunks.length === 1 && this.#bytes <= limitBytes) return this.#take() as Buffer
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
        const chunk = this.#take()
        if (chunk) yield chunk
        else if (this.#failure) throw this.#failure
        else if (this.#ended) return
        else await this.#arrival()
      }
    } finally {
      this.discard()
    }
  }

  #take(): Buffer | undefined {
    const chunk = this.#chunks.shift()
    if (chunk) {
      this.#bytes -= chunk.length
      this.#flow()
    }
    return chunk
  }

  #flow(): void {
    if (!this.#paused || this.#bytes > HIGH_WATER_BYTES / 2 || this.#failure) return
    this.#paused = false
    this.#source.resume()
  }

  #arrival(): Promise<void> {
    this.#waitingSinceMs = performance.now()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #wakeUp(): void {
    const [wake, reader] = [this.#wake, this.#textReader]
    this.#wake = undefined
    this.#textReader = undefined
    wake?.()
    if (reader === undefined) return
    const { limitBytes, listener } = reader
    this.bytes(limitBytes).then(
      (bytes) => tellText(bytes, listener),
      (error) => listener.failed(error),
    )
  }

  #fail(reason: string): void {
    this.#failure = new PatchbayError('malformed_body', { cause: new Error(reason) })
    this.#wakeUp()
  }
}

function tellText(bytes: Buffer, listener: Listener<string>): void {
  if (isUtf8(bytes)) listener.done(bytes.toString('utf8'))
  else listener.failed(new PatchbayError('malformed_body'))
}
