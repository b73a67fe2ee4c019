import { PatchbayError } from '../runtime/errors.ts'

/** Received but unread bytes above this pause the connection. */
const HIGH_WATER_BYTES = 256 * 1024
/** A client that sends nothing for this long in the middle of a body is cut off. */
const STALL_TIMEOUT_MS = 6000

/** The connection a body arrives on. */
export interface BodySource {
  pause(): void
  resume(): void
}

/**
 * A request body as a bounded stream. It is read once: as bytes up to a limit, or by iterating. Throws `malformed_body`
 * when the client stalls or goes away in its middle.
 */
export class RequestBody implements AsyncIterable<Buffer> {
  readonly #source: BodySource
  #chunks: Buffer[] = []
  #bytes = 0
  #ended = false
  #gone = false
  #discarded = false
  #paused = false
  #wake: (() => void) | undefined

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
    if (!this.#discarded && chunk.byteLength > 0) {
      const copy = Buffer.from(new Uint8Array(chunk))
      this.#chunks.push(copy)
      this.#bytes += copy.length
      if (this.#bytes > HIGH_WATER_BYTES && !last && !this.#paused) {
        this.#paused = true
        this.#source.pause()
      }
    }
    this.#wake?.()
  }

  /** Called by the server when the client is gone. */
  abort(): void {
    this.#gone = true
    this.#wake?.()
  }

  /** Drops what is unread and all that still comes. */
  discard(): void {
    this.#discarded = true
    this.#chunks = []
    this.#bytes = 0
    this.#flow()
  }

  /** The whole body. Throws `body_too_large` as soon as it exceeds the limit. */
  async bytes(limitBytes: number): Promise<Buffer> {
    // Most bodies come whole, a moment after the head.
    if (!this.#ended && !this.#gone && this.#chunks.length === 0) await this.#arrival()
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
        else if (this.#gone) throw new PatchbayError('malformed_body')
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
    if (!this.#paused || this.#bytes > HIGH_WATER_BYTES / 2 || this.#gone) return
    this.#paused = false
    this.#source.resume()
  }

  #arrival(): Promise<void> {
    return new Promise((resolve, reject) => {
      const stalled = setTimeout(() => {
        this.#wake = undefined
        reject(new PatchbayError('malformed_body', { cause: new Error(`Body stalled for ${STALL_TIMEOUT_MS} ms`) }))
      }, STALL_TIMEOUT_MS)
      this.#wake = () => {
        this.#wake = undefined
        clearTimeout(stalled)
        resolve()
      }
    })
  }
}
