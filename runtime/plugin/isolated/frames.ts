/**
 * The pipe between a role and the process of a plugin, both ways: frames of a length, a kind and a body.
 *
 *     u32 length of what follows · u8 kind · body                                         (little endian)
 *     kind 0: a JSON message      kind 1: u32 session · 16-bit mono samples
 *
 * Imports nothing: both sides use it, and one of them is not Node.
 */

const HEADER_BYTES = 5
const SESSION_BYTES = 4
const JSON_KIND = 0
const AUDIO_KIND = 1
/** Longest frame either side accepts. */
export const MAX_FRAME_BYTES = 4 << 20

export type Frame = { message: unknown } | { session: number; samples: Int16Array }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function jsonFrame(message: unknown): Uint8Array {
  const body = encoder.encode(JSON.stringify(message))
  const frame = new Uint8Array(HEADER_BYTES + body.length)
  const view = new DataView(frame.buffer)
  view.setUint32(0, body.length + 1, true)
  view.setUint8(4, JSON_KIND)
  frame.set(body, HEADER_BYTES)
  return frame
}

export function audioFrame(session: number, samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  const frame = new Uint8Array(HEADER_BYTES + SESSION_BYTES + bytes.length)
  const view = new DataView(frame.buffer)
  view.setUint32(0, bytes.length + SESSION_BYTES + 1, true)
  view.setUint8(4, AUDIO_KIND)
  view.setUint32(HEADER_BYTES, session, true)
  frame.set(bytes, HEADER_BYTES + SESSION_BYTES)
  return frame
}

/** Cuts a stream of bytes into frames. Throws a RangeError or SyntaxError on what is none: the pipe is lost then. */
export class FrameReader {
  #pieces: Uint8Array[] = []
  #length = 0

  /** The frames that are whole with these bytes. */
  push(bytes: Uint8Array): Frame[] {
    this.#pieces.push(bytes)
    this.#length += bytes.length
    const frames: Frame[] = []
    for (;;) {
      const head = this.#peek(HEADER_BYTES)
      if (head === undefined) return frames
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
      if (length < 1 || length > MAX_FRAME_BYTES) throw new RangeError(`A frame of ${length} bytes`)
      if (this.#length < HEADER_BYTES - 1 + length) return frames
      frames.push(parse(this.#take(HEADER_BYTES - 1 + length)))
    }
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
    this.#pieces[0] = whole.subarray(count)
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

function parse(frame: Uint8Array): Frame {
  const kind = frame[4]
  const body = frame.subarray(HEADER_BYTES)
  if (kind === JSON_KIND) return { message: JSON.parse(decoder.decode(body)) }
  if (kind !== AUDIO_KIND || body.length < SESSION_BYTES || body.length % 2 !== 0)
    throw new RangeError('A frame of no kind')
  const session = new DataView(body.buffer, body.byteOffset).getUint32(0, true)
  // A copy: samples have to lie at an even address.
  const samples = body.slice(SESSION_BYTES)
  return { session, samples: new Int16Array(samples.buffer, 0, samples.length / 2) }
}
