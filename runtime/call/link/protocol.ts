import { Compile } from 'typebox/compile'
import { parseCleanJson } from '../../lib/text.ts'
import { NODE_MESSAGE, type NodeMessage, WORKER_MESSAGE, type WorkerMessage } from './messages.ts'

/**
 * The codec of the link. A text message is one JSON control message. A binary message carries audio of many sessions:
 *
 *     u8 type = 1 · u16 count · count × { u32 session · f64 timestamp · u16 length · bytes }      (big endian)
 *
 * Decoding never throws: what the peer got wrong is `undefined`, and the link is closed. Text is clean on either side.
 */

const AUDIO_TYPE = 1
const HEADER_BYTES = 3
const CHUNK_HEADER_BYTES = 14
const MAX_CHUNK_BYTES = 0xffff
const MAX_CHUNKS = 0xffff
/** Largest message either end accepts: an agent's prompt and a long call's turns travel in one `open`. */
export const MAX_MESSAGE_BYTES = 4 << 20

/** Audio of one session. `timestamp` counts samples at the leg's rate; a whole number up to 2^53. */
interface AudioChunk {
  session: number
  timestamp: number
  bytes: Uint8Array
}

/** Writes one binary message. Bytes are copied as they are added. */
export class AudioWriter {
  readonly #buffer = new Uint8Array(64 * 1024 + MAX_CHUNK_BYTES)
  readonly #view = new DataView(this.#buffer.buffer)
  #offset = HEADER_BYTES
  #count = 0

  /** False when the chunk has to wait for the next message. A chunk over 65,535 bytes is a RangeError. */
  add(session: number, timestamp: number, bytes: Uint8Array): boolean {
    const end = this.#offset + CHUNK_HEADER_BYTES + bytes.byteLength
    if (bytes.byteLength > MAX_CHUNK_BYTES) throw new RangeError('An audio chunk is too long for the link')
    if (end > this.#buffer.byteLength || this.#count === MAX_CHUNKS) return false
    this.#view.setUint32(this.#offset, session)
    this.#view.setFloat64(this.#offset + 4, timestamp)
    this.#view.setUint16(this.#offset + 12, bytes.byteLength)
    this.#buffer.set(bytes, this.#offset + CHUNK_HEADER_BYTES)
    this.#offset = end
    this.#count++
    return true
  }

  /** The message of what was added, and an empty writer; undefined when nothing was. */
  take(): Uint8Array | undefined {
    if (this.#count === 0) return undefined
    this.#view.setUint8(0, AUDIO_TYPE)
    this.#view.setUint16(1, this.#count)
    const message = this.#buffer.slice(0, this.#offset)
    this.#offset = HEADER_BYTES
    this.#count = 0
    return message
  }
}

/** The chunks of a binary message, as views into `message`; undefined when the message is not whole and exact. */
export function decodeAudio(message: Uint8Array): AudioChunk[] | undefined {
  if (message.byteLength < HEADER_BYTES) return undefined
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  if (view.getUint8(0) !== AUDIO_TYPE) return undefined
  const count = view.getUint16(1)
  const chunks: AudioChunk[] = []
  let offset = HEADER_BYTES
  for (let i = 0; i < count; i++) {
    if (offset + CHUNK_HEADER_BYTES > message.byteLength) return undefined
    const timestamp = view.getFloat64(offset + 4)
    const length = view.getUint16(offset + 12)
    const start = offset + CHUNK_HEADER_BYTES
    if (start + length > message.byteLength || !Number.isSafeInteger(timestamp) || timestamp < 0) return undefined
    chunks.push({ session: view.getUint32(offset), timestamp, bytes: message.subarray(start, start + length) })
    offset = start + length
  }
  return offset === message.byteLength ? chunks : undefined
}

/** Twice as deep as what an agent, a caller or a model may say, which is a part of a message. */
const LINK_BOUNDS = { depth: 128, parts: 500_000 }

const workerMessage = Compile(WORKER_MESSAGE)
const nodeMessage = Compile(NODE_MESSAGE)

function parse(json: string): unknown {
  try {
    return parseCleanJson(json, LINK_BOUNDS)
  } catch {
    return undefined
  }
}

/** A control message of a worker, or undefined when malformed. */
export function decodeWorkerMessage(json: string): WorkerMessage | undefined {
  const value = parse(json)
  return workerMessage.Check(value) ? value : undefined
}

/** A control message of an api node, or undefined when malformed. */
export function decodeNodeMessage(json: string): NodeMessage | undefined {
  const value = parse(json)
  return nodeMessage.Check(value) ? value : undefined
}

const TYPE_NAME = /^[a-z_]{1,40}$/

/** What a message that can't be read seems to be. Anything but a name may be what a caller said, and is not logged. */
export function typeIn(json: string): string | undefined {
  const value = unbounded(json)
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
  return typeof value.type === 'string' && TYPE_NAME.test(value.type) ? value.type : undefined
}

/** The session that a message which can't be read seems to be about. */
export function sessionIn(json: string): number | undefined {
  const value = unbounded(json)
  if (typeof value !== 'object' || value === null || !('session' in value)) return undefined
  return Number.isSafeInteger(value.session) ? (value.session as number) : undefined
}

/** It may be beyond all bounds: nothing may walk it. */
function unbounded(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
