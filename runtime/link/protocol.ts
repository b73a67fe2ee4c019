import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { ANSWERERS } from '../telephony/answerer.ts'
import type { NodeMessage, WorkerMessage } from './messages.ts'

/**
 * The codec of the link. A text message is one JSON control message. A binary message carries audio of many sessions:
 *
 *     u8 type = 1 · u16 count · count × { u32 session · f64 timestamp · u16 length · bytes }      (big endian)
 *
 * Decoding never throws: what the peer got wrong is `undefined`, and the link is closed.
 */

const AUDIO_TYPE = 1
const HEADER_BYTES = 3
const CHUNK_HEADER_BYTES = 14
const MAX_CHUNK_BYTES = 0xffff
const MAX_CHUNKS = 0xffff
/** Largest message either end accepts: an agent's prompt and a long call's turns travel in one `open`. */
export const MAX_MESSAGE_BYTES = 4 << 20

/** Audio of one session. `timestamp` counts samples at the leg's rate; a whole number up to 2^53. */
export interface AudioChunk {
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

const session = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const count = Type.Number({ minimum: 0 })
const text = Type.String({ maxLength: 100_000 })
const message = <T extends Record<string, ReturnType<typeof Type.Any> | object>>(type: string, fields: T) =>
  Type.Object({ type: Type.Literal(type), ...fields })

const ms = Type.Number()
const turn = Type.Object({
  role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
  text,
  startMs: ms,
  endMs: ms,
  interrupted: Type.Boolean(),
})
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)))

const WORKER_MESSAGE = Type.Union([
  message('hello', {
    protocol: Type.Integer(),
    workerId: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
    metricsUrl: Type.String({ maxLength: 2000 }),
  }),
  message('heartbeat', {
    state: oneOf('ready', 'draining', 'overloaded'),
    activeSessions: Type.Integer({ minimum: 0, maximum: 10_000 }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
  }),
  message('accepted', { session }),
  message('rejected', { session, reason: oneOf('full', 'draining', 'overloaded', 'bad_agent'), message: text }),
  message('state', { session, state: oneOf('listening', 'thinking', 'speaking') }),
  message('transcript', { session, turn, final: Type.Boolean() }),
  message('turn', {
    session,
    seq: Type.Integer({ minimum: 0, maximum: 100_000 }),
    turn,
  }),
  message('latency', { session, latency: Type.Object({ totalMs: ms, endpointingMs: ms, llmMs: ms, ttsMs: ms }) }),
  message('heard', { session, seq: Type.Integer({ minimum: 0, maximum: 100_000 }), turn }),
  message('clear', { session }),
  message('mark', { session, id }),
  message('answered_by', { session, by: oneOf(...ANSWERERS) }),
  message('consent', { session, consent: oneOf('given', 'refused', 'unanswered') }),
  message('usage', {
    session,
    usage: Type.Object({ llmInputTokens: count, llmOutputTokens: count, sttSeconds: count, ttsCharacters: count }),
  }),
  message('ended', {
    session,
    reason: oneOf('idle', 'max_duration', 'agent_hangup', 'voicemail', 'error', 'worker_drained'),
    error: Type.Optional(text),
  }),
  message('fault', { session, message: text }),
  message('closed', { session }),
  message('ask', { session, id, method: oneOf('knowledge', 'tool'), params: Type.Unknown() }),
])

const provider = { provider: Type.String(), model: Type.String() }
const voice = { provider: Type.String(), voice: Type.String() }
const AGENT = Type.Object({
  agentId: Type.String(),
  agentName: Type.String(),
  systemPrompt: Type.String(),
  firstMessage: Type.String(),
  temperature: Type.Number(),
  llm: Type.Object(provider),
  stt: Type.Object(provider),
  tts: Type.Object(voice),
  language: Type.Optional(Type.String()),
  interruption: Type.Optional(Type.Object({ enabled: Type.Boolean(), sensitivity: oneOf('low', 'normal', 'high') })),
  endpointing: Type.Optional(oneOf('eager', 'balanced', 'patient')),
  deadAir: Type.Optional(Type.Object({ enabled: Type.Boolean(), phrases: Type.Array(Type.String()) })),
  keyterms: Type.Optional(Type.Array(Type.String())),
  pronunciation: Type.Optional(Type.Array(Type.Object({ word: Type.String(), say: Type.String() }))),
  fallbacks: Type.Optional(
    Type.Object({
      llm: Type.Optional(Type.Array(Type.Object(provider))),
      stt: Type.Optional(Type.Array(Type.Object(provider))),
      tts: Type.Optional(Type.Array(Type.Object(voice))),
    }),
  ),
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        parameters: Type.Record(Type.String(), Type.Unknown()),
        kind: oneOf('http', 'transfer', 'hang_up', 'send_dtmf', 'knowledge'),
      }),
    ),
  ),
  hasKnowledge: Type.Boolean(),
  recordingNotice: Type.Optional(Type.String()),
  consentMessage: Type.Optional(Type.String()),
  voicemail: Type.Optional(
    Type.Object({ behaviour: oneOf('hang_up', 'leave_message', 'continue'), message: Type.String() }),
  ),
})
const NODE_MESSAGE = Type.Union([
  message('welcome', { nodeId: Type.String() }),
  message('beat', {}),
  message('open', {
    session,
    callId: Type.String(),
    agent: AGENT,
    format: Type.Object({
      encoding: oneOf('pcm_s16le', 'pcmu', 'pcma', 'opus'),
      sampleRateHz: Type.Integer({ minimum: 8000, maximum: 48_000 }),
    }),
    limits: Type.Object({ idleMs: ms, maxDurationMs: ms }),
    history: Type.Array(turn),
    elapsedMs: ms,
    reserved: Type.Optional(Type.Boolean()),
  }),
  message('warm', { callId: Type.String(), agent: AGENT }),
  message('text', { session, text }),
  message('dtmf', { session, digit: Type.String({ maxLength: 1 }) }),
  message('played', { session, id }),
  message('carrier_verdict', { session, by: oneOf('human', 'machine', 'unknown') }),
  message('close', { session, reason: Type.String() }),
  message('answer', { session, id, result: Type.Optional(Type.Unknown()), error: Type.Optional(Type.String()) }),
])

const workerMessage = Compile(WORKER_MESSAGE)
const nodeMessage = Compile(NODE_MESSAGE)

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** A control message of a worker, or undefined when it is none. */
export function decodeWorkerMessage(json: string): WorkerMessage | undefined {
  const value = parse(json)
  return workerMessage.Check(value) ? (value as unknown as WorkerMessage) : undefined
}

/** A control message of an api node, or undefined when it is none. */
export function decodeNodeMessage(json: string): NodeMessage | undefined {
  const value = parse(json)
  return nodeMessage.Check(value) ? (value as unknown as NodeMessage) : undefined
}
