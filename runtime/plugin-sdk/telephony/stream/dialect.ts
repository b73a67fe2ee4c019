import type { StreamShape } from '../../../../packages/plugin/telephony.ts'
import type { AudioFormat } from '../../../call/types/leg.ts'
import { parseCleanJson } from '../../../lib/text.ts'

/**
 * How one carrier writes media streams: JSON text messages over a WebSocket, audio in base64. The engine knows what they
 * mean, a dialect how they look. Pure.
 */
export interface StreamDialect {
  readonly format: AudioFormat
  /** True when closing the stream ends the call; else the carrier must be asked to. */
  readonly closingEndsCall: boolean
  /** What a message says; undefined: nothing the engine needs. Throws on what is no message of this dialect. */
  read(text: string): StreamEvent | undefined
  /** @param payload audio in the dialect's format, base64 */
  media(streamId: string, payload: string): string
  mark(streamId: string, name: string): string
  /** Drops what is buffered; the carrier sends back the marks in it, or the engine takes them as played. */
  clear(streamId: string): string
  /** False: marks dropped by `clear` never come back. */
  readonly clearReturnsMarks: boolean
}

export type StreamEvent =
  /** `encoding`: what the caller's sound comes in, as the carrier names it; absent where it says nothing. */
  | { type: 'start'; streamId: string; carrierId: string; token: string; encoding?: string }
  /** `atMs` counts from the start of the stream; undefined where the dialect doesn't say. */
  | { type: 'media'; payload: string; atMs: number | undefined }
  | { type: 'dtmf'; digit: string }
  | { type: 'mark'; name: string }
  /** The carrier ends the stream: the call is over or was led elsewhere. */
  | { type: 'stop' }

type Message = Readonly<Record<string, unknown>>

/** The dialect of a carrier whose messages look so. */
export function dialectOf({ reads, writes, ...whole }: StreamShape): StreamDialect {
  const nameIn = textAt(reads.name)
  const readStart = startReader(reads.start)
  const readMedia = mediaReader(reads.media)
  const digitIn = textAt(reads.dtmf?.digit)
  const markIn = textAt(reads.mark.name)
  const media = writerOf(writes.media)
  const mark = writerOf(writes.mark)
  const clear = writerOf(writes.clear)
  return {
    ...whole,
    read(text) {
      const message = readObject(text)
      switch (nameIn(message)) {
        case reads.start.named:
          return readStart(message)
        case reads.media.named:
          return readMedia(message)
        case reads.dtmf?.named:
          return { type: 'dtmf', digit: digitIn(message) }
        case reads.mark.named:
          return { type: 'mark', name: markIn(message) }
        case reads.stop?.named:
          return { type: 'stop' }
        default:
          // `connected`, and messages the carrier may add.
          return undefined
      }
    },
    media: (streamId, payload) => media({ streamId, payload, name: '' }),
    mark: (streamId, name) => mark({ streamId, payload: '', name }),
    clear: (streamId) => clear({ streamId, payload: '', name: '' }),
  }
}

function startReader(start: StreamShape['reads']['start']): (message: Message) => StreamEvent {
  const streamIdIn = textAt(start.streamId)
  const carrierIdIn = textAt(start.carrierId)
  const tokenTextIn = textAt(start.token)
  const encodingIn = textAt(start.encoding)
  return (message) => ({
    ...{ type: 'start', streamId: streamIdIn(message), carrierId: carrierIdIn(message) },
    token: tokenIn(tokenTextIn(message)),
    ...(start.encoding === undefined ? {} : { encoding: encodingIn(message) }),
  })
}

function mediaReader(media: StreamShape['reads']['media']): (message: Message) => StreamEvent | undefined {
  const trackIn = textAt(media.track)
  const payloadIn = textAt(media.payload)
  const timeIn = textAt(media.atMs)
  return (message) =>
    trackIn(message) === 'outbound'
      ? undefined
      : { type: 'media', payload: payloadIn(message), atMs: msOf(timeIn(message)) }
}

/** Reads a JSON object. Throws SyntaxError for anything else. */
function readObject(text: string): Message {
  const value = parseCleanJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('not an object')
  return value as Message
}

/** Reads the text at the end of a path; empty where there is none. Carriers write numbers as strings and sometimes as numbers. */
function textAt(path: string | undefined): (message: Message) => string {
  const members = path?.split('.') ?? []
  return (message) => {
    let value: unknown = message
    for (const member of members) {
      if (typeof value !== 'object' || value === null) return ''
      value = (value as Message)[member]
    }
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
  }
}

/** A token as StreamReception issues it. */
const TOKEN = /(?<![0-9A-Za-z])[0-9a-f]{64}(?![0-9A-Za-z])/
const MAX_TOKEN_TEXT_CHARS = 2_000

/** The token in what a carrier hands on of ours: among other text, or in the base64 of such text. Empty where there is none. */
function tokenIn(text: string): string {
  if (text.length > MAX_TOKEN_TEXT_CHARS) return ''
  return TOKEN.exec(text)?.[0] ?? TOKEN.exec(Buffer.from(text, 'base64').toString('latin1'))?.[0] ?? ''
}

/** A number of milliseconds; undefined when it is none. */
function msOf(text: string): number | undefined {
  const value = Number(text)
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : undefined
}

type Values = Readonly<Record<'streamId' | 'payload' | 'name', string>>

/** Writes a message by its template, which is taken apart once: media are written for each 20 ms of a call. */
function writerOf(template: Readonly<Record<string, unknown>>): (values: Values) => string {
  // Every second part is a name.
  const parts = JSON.stringify(template).split(/\{(streamId|payload|name)\}/)
  return (values) =>
    parts.map((part, n) => (n % 2 === 0 ? part : JSON.stringify(values[part as keyof Values]).slice(1, -1))).join('')
}
