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

/** What differs between dialects whose messages are named by their member `event`. */
interface DialectWords {
  start(message: Record<string, unknown>): Omit<Extract<StreamEvent, { type: 'start' }>, 'type'>
  /** The event of a mark that came back, and where its name is. */
  mark: { event: string; name(message: Record<string, unknown>): string }
  /** The timestamps of media count from the start of the stream. */
  timed: boolean
}

/** `read` of such a dialect: media, keys, marks and the end look the same in all of them. */
export function readerOf(words: DialectWords): StreamDialect['read'] {
  return (text) => {
    const message = readObject(text)
    switch (message.event) {
      case 'start':
        return { type: 'start', ...words.start(message) }
      case 'media': {
        const media = objectIn(message, 'media')
        if (textIn(media, 'track') === 'outbound') return undefined
        const atMs = words.timed ? msIn(media, 'timestamp') : undefined
        return { type: 'media', payload: textIn(media, 'payload'), atMs }
      }
      case 'dtmf':
        return { type: 'dtmf', digit: textIn(objectIn(message, 'dtmf'), 'digit') }
      case words.mark.event:
        return { type: 'mark', name: words.mark.name(message) }
      case 'stop':
        return { type: 'stop' }
      default:
        // `connected`, and messages the carrier may add.
        return undefined
    }
  }
}

/** The mark of most dialects. */
export const MARK: DialectWords['mark'] = {
  event: 'mark',
  name: (message) => textIn(objectIn(message, 'mark'), 'name'),
}

/** Reads a JSON object. Throws SyntaxError for anything else. */
function readObject(text: string): Record<string, unknown> {
  const value = parseCleanJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('not an object')
  return value as Record<string, unknown>
}

/** The member as an object; empty when it is not one. */
export function objectIn(from: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = from[name]
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The member as text; empty when it is not text. Carriers write numbers as strings and sometimes as numbers. */
export function textIn(from: Record<string, unknown>, name: string): string {
  const value = from[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** The member as a number of milliseconds; undefined when it is not a number. */
function msIn(from: Record<string, unknown>, name: string): number | undefined {
  const text = textIn(from, name)
  const value = Number(text)
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : undefined
}
