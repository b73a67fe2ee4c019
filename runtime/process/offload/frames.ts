/**
 * How this program and a process that it started write to each other over a pipe, both ways: frames of a length, a kind and a body.
 *
 *     u32 length of what follows · u8 kind · body                                         (little endian)
 *
 * Imports nothing: Deno runs one of the sides, too.
 */

const LENGTH_BYTES = 4
const HEADER_BYTES = LENGTH_BYTES + 1
const FIRST_BYTES = 4 << 10

/** Collects frames that leave in one write. */
export class OffloadFrameWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  /** Bytes that wait. */
  get length(): number {
    return this.#length
  }

  put(kind: number, ...parts: readonly Uint8Array[]): void {
    const bodyBytes = parts.reduce((sum, { length }) => sum + length, 0)
    const from = this.#length
    this.#grow(from + HEADER_BYTES + bodyBytes)
    const view = new DataView(this.#bytes.buffer, from)
    view.setUint32(0, bodyBytes + 1, true)
    view.setUint8(LENGTH_BYTES, kind)
    this.#length += HEADER_BYTES
    for (const part of parts) {
      this.#bytes.set(part, this.#length)
      this.#length += part.length
    }
  }

  /** What waited, for the caller to keep. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(FIRST_BYTES)
    this.#length = 0
    return taken
  }

  #grow(length: number): void {
    if (length <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** A frame whose body lies in what was read: it is copied before it is kept. */
export interface RawFrame {
  kind: number
  body: Uint8Array
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #mostBytes: (kind: number) => number
  #pieces: Uint8Array[] = []
  #length = 0

  /** @param mostBytes the longest body of a kind that is accepted */
  constructor(mostBytes: (kind: number) => number) {
    this.#mostBytes = mostBytes
  }

  push(bytes: Uint8Array): void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
  }

  /** The next frame that is whole. Throws a RangeError on a frame that is too long: the pipe is then unusable. */
  next(): RawFrame | undefined {
    const head = this.#peek(HEADER_BYTES)
    if (head === undefined) return undefined
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
    const kind = head[LENGTH_BYTES] as number
    if (length < 1 || length > this.#mostBytes(kind) + 1) throw new RangeError(`A frame of ${length} bytes`)
    if (this.#length < LENGTH_BYTES + length) return undefined
    return { kind, body: this.#take(LENGTH_BYTES + length).subarray(HEADER_BYTES) }
  }

  #peek(count: number): Uint8Array | undefined {
    if (this.#length < count) return undefined
    const [first] = this.#pieces
    if (first !== undefined && first.length >= count) return first
    return this.#joined()
  }

  #take(count: number): Uint8Array {
    const [first] = this.#pieces
    const whole = first !== undefined && first.length >= count ? first : this.#joined()
    if (whole.length === count) this.#pieces.shift()
    else this.#pieces[0] = whole.subarray(count)
    this.#length -= count
    return whole.subarray(0, count)
  }

  #joined(): Uint8Array {
    const whole = new Uint8Array(this.#length)
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    this.#pieces = [whole]
    return whole
  }
}
