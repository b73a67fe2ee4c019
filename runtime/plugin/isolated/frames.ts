import { FrameReader, OffloadFrameWriter, type RawFrame } from '../../process/offload/frames.ts'

/**
 * What goes over the pipe between a role and the process of a plugin, both ways, by the kind of the frame:
 *
 *     kind 0: a JSON message      kind 1: u32 session · 16-bit mono samples      kind 2: u32 session · the JSON of a result
 *     kind 3: u32 session · bytes of an object
 */

/** The descriptor at which the plugin's process finds the pipe. */
export const PIPE_FD = 3

const SESSION_BYTES = 4
const MESSAGE = 0
const AUDIO = 1
const RESULT = 2
const BYTES = 3

/** Longest body that either side accepts. */
const MAX_BODY_BYTES = (4 << 20) - 1
const MAX_AUDIO_BYTES = MAX_BODY_BYTES - SESSION_BYTES

interface FrameLimits {
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
  /** What was for a session and means nothing. */
  | { type: 'invalid'; session: number; why: string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Collects frames that leave in one write. */
export class PipeFrameWriter {
  readonly #limits: FrameLimits
  readonly #frames = new OffloadFrameWriter()

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  /** Bytes that wait. */
  get length(): number {
    return this.#frames.length
  }

  /** Throws a RangeError, and writes nothing, where the other side would not take it; so do the others. */
  message(message: unknown): void {
    this.#put(MESSAGE, [], encoder.encode(JSON.stringify(message)), this.#limits.messageBytes)
  }

  result(session: number, result: unknown): void {
    this.#put(RESULT, [session], encoder.encode(JSON.stringify(result ?? null)), this.#limits.resultBytes)
  }

  audio(session: number, { buffer, byteOffset, byteLength }: Int16Array): void {
    this.#put(AUDIO, [session], new Uint8Array(buffer, byteOffset, byteLength), MAX_AUDIO_BYTES)
  }

  bytes(session: number, bytes: Uint8Array): void {
    this.#put(BYTES, [session], bytes, MAX_AUDIO_BYTES)
  }

  /** What waited, for the caller to keep. */
  take(): Uint8Array {
    return this.#frames.take()
  }

  #put(kind: number, session: readonly number[], body: Uint8Array, maxBytes: number): void {
    if (body.length > maxBytes)
      throw new RangeError(`${body.length} bytes at once; at most ${maxBytes} go over the pipe`)
    const head = new Uint8Array(session.length * SESSION_BYTES)
    for (const number of session) new DataView(head.buffer).setUint32(0, number, true)
    this.#frames.put(kind, head, body)
  }
}

/** Cuts a stream of bytes into frames. */
export class PipeFrameReader {
  readonly #frames: FrameReader

  constructor({ messageBytes, resultBytes }: FrameLimits) {
    this.#frames = new FrameReader((kind) => {
      if (kind === MESSAGE) return messageBytes
      return kind === RESULT ? resultBytes + SESSION_BYTES : MAX_BODY_BYTES
    })
  }

  push(bytes: Uint8Array): void {
    this.#frames.push(bytes)
  }

  /** The next frame that is whole. Throws a RangeError or SyntaxError on a malformed frame: the pipe is then unusable. */
  next(): Frame | undefined {
    const frame = this.#frames.next()
    return frame && parse(frame)
  }
}

function parse({ kind, body }: RawFrame): Frame {
  if (kind === MESSAGE) return { type: 'message', message: JSON.parse(decoder.decode(body)) }
  if (body.length < SESSION_BYTES) throw new RangeError('A frame of no session')
  const session = new DataView(body.buffer, body.byteOffset).getUint32(0, true)
  if (kind === RESULT) {
    return { type: 'result', session, parse: () => JSON.parse(decoder.decode(body.subarray(SESSION_BYTES))) }
  }
  if (kind === BYTES) return { type: 'bytes', session, bytes: Uint8Array.from(body.subarray(SESSION_BYTES)) }
  if (kind !== AUDIO) throw new RangeError('A frame of no kind')
  if (body.length % 2 !== 0)
    return { type: 'invalid', session, why: `${body.length - SESSION_BYTES} bytes are no 16-bit samples` }
  // A copy: samples have to lie at an even address. Not by `slice`, which doesn't copy a Buffer.
  const samples = new Int16Array((body.length - SESSION_BYTES) / 2)
  new Uint8Array(samples.buffer).set(body.subarray(SESSION_BYTES))
  return { type: 'audio', session, samples }
}
