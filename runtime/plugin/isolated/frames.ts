/**
 * The pipe between a role and the process of a plugin, both ways: frames of a length, a kind and a body.
 *
 *     u32 length of what follows · u8 kind · body                                         (little endian)
 *     kind 0: a JSON message      kind 1: u32 session · 16-bit mono samples      kind 2: u32 session · the JSON of a result
 *     kind 3: u32 session · bytes of an object
 *
 * Imports nothing: both sides use it, and one of them is not Node.
 */

const LENGTH_BYTES = 4
const HEADER_BYTES = LENGTH_BYTES + 1
const SESSION_BYTES = 4
const MESSAGE = 0
const AUDIO = 1
const RESULT = 2
const BYTES = 3

/** Longest frame that either side accepts. */
const MAX_FRAME_BYTES = 4 << 20
const MAX_AUDIO_BYTES = MAX_FRAME_BYTES - SESSION_BYTES - 1

export interface FrameLimits {
  messageBytes: number
  resultBytes: number
}

/** Of what a role says. */
export const ROLE_LIMITS: FrameLimits = { messageBytes: MAX_AUDIO_BYTES, resultBytes: 0 }
/**
 * Limits of a plugin's messages. Parsing a message of this length delays a voice worker by half a millisecond; results are larger,
 * but voice workers don't request them.
 */
export const PLUGIN_LIMITS: FrameLimits = { messageBytes: 64 << 10, resultBytes: 1 << 20 }

export type Frame =
  | { type: 'message'; message: unknown }
  | { type: 'audio'; session: number; samples: Int16Array }
  /** Parsed lazily. */
  | { type: 'result'; session: number; parse(): unknown }
  | { type: 'bytes'; session: number; bytes: Uint8Array }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const FIRST_BYTES = 4 << 10

/** Collects frames that leave in one write. */
export class PipeFrameWriter {
  readonly #limits: FrameLimits
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  /** Bytes that wait. */
  get length(): number {
    return this.#length
  }

  /** Throws a RangeError, and writes nothing, where the other side would not take it; so do the others. */
  message(message: unknown): void {
    this.#put(MESSAGE, undefined, encoder.encode(JSON.stringify(message)), this.#limits.messageBytes)
  }

  result(session: number, result: unknown): void {
    this.#put(RESULT, session, encoder.encode(JSON.stringify(result ?? null)), this.#limits.resultBytes)
  }

  audio(session: number, { buffer, byteOffset, byteLength }: Int16Array): void {
    this.#put(AUDIO, session, new Uint8Array(buffer, byteOffset, byteLength), MAX_AUDIO_BYTES)
  }

  bytes(session: number, bytes: Uint8Array): void {
    this.#put(BYTES, session, bytes, MAX_AUDIO_BYTES)
  }

  /** What waited, for the caller to keep. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(FIRST_BYTES)
    this.#length = 0
    return taken
  }

  #put(kind: number, session: number | undefined, body: Uint8Array, maxBytes: number): void {
    if (body.length > maxBytes)
      throw new RangeError(`${body.length} bytes at once; at most ${maxBytes} go over the pipe`)
    const bodyBytes = body.length + (session === undefined ? 0 : SESSION_BYTES)
    const from = this.#length
    this.#grow(from + HEADER_BYTES + bodyBytes)
    const view = new DataView(this.#bytes.buffer, from)
    view.setUint32(0, bodyBytes + 1, true)
    view.setUint8(LENGTH_BYTES, kind)
    if (session !== undefined) view.setUint32(HEADER_BYTES, session, true)
    this.#length += HEADER_BYTES + bodyBytes
    this.#bytes.set(body, this.#length - body.length)
  }

  #grow(length: number): void {
    if (length <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #limits: FrameLimits
  #pieces: Uint8Array[] = []
  #length = 0

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  push(bytes: Uint8Array): void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
  }

  /** The next frame that is whole. Throws a RangeError or SyntaxError on a malformed frame: the pipe is then unusable. */
  next(): Frame | undefined {
    const head = this.#peek(HEADER_BYTES)
    if (head === undefined) return undefined
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
    if (length < 1 || length > this.#limitOf(head[LENGTH_BYTES])) throw new RangeError(`A frame of ${length} bytes`)
    if (this.#length < LENGTH_BYTES + length) return undefined
    return parse(this.#take(LENGTH_BYTES + length))
  }

  #limitOf(kind: number | undefined): number {
    if (kind === MESSAGE) return this.#limits.messageBytes + 1
    return kind === RESULT ? this.#limits.resultBytes + SESSION_BYTES + 1 : MAX_FRAME_BYTES
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

function parse(frame: Uint8Array): Frame {
  const kind = frame[LENGTH_BYTES]
  const body = frame.subarray(HEADER_BYTES)
  if (kind === MESSAGE) return { type: 'message', message: JSON.parse(decoder.decode(body)) }
  if (body.length < SESSION_BYTES) throw new RangeError('A frame of no session')
  const session = new DataView(body.buffer, body.byteOffset).getUint32(0, true)
  if (kind === RESULT) {
    return { type: 'result', session, parse: () => JSON.parse(decoder.decode(body.subarray(SESSION_BYTES))) }
  }
  if (kind === BYTES) return { type: 'bytes', session, bytes: Uint8Array.from(body.subarray(SESSION_BYTES)) }
  if (kind !== AUDIO || body.length % 2 !== 0) throw new RangeError('A frame of no kind')
  // A copy: samples have to lie at an even address. Not by `slice`, which doesn't copy a Buffer.
  const samples = new Int16Array((body.length - SESSION_BYTES) / 2)
  new Uint8Array(samples.buffer).set(body.subarray(SESSION_BYTES))
  return { type: 'audio', session, samples }
}
