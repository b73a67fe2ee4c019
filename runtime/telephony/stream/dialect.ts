import type { AudioFormat } from '../../session/leg.ts'

/**
 * How one carrier writes media streams: JSON text messages over a WebSocket, audio in base64. The engine knows what they
 * mean, a dialect how they look. Pure.
 */
export interface StreamDialect {
  readonly format: AudioFormat
  /** True when the call is over once we close its stream; else the carrier has to be told. */
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
  | { type: 'start'; streamId: string; carrierId: string; token: string }
  /** `atMs` counts from the start of the stream; undefined where the dialect doesn't say. */
  | { type: 'media'; payload: string; atMs: number | undefined }
  | { type: 'dtmf'; digit: string }
  | { type: 'mark'; name: string }
  /** The carrier ends the stream: the call is over or was led elsewhere. */
  | { type: 'stop' }

/** Reads a JSON object. Throws SyntaxError for anything else. */
export function readObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('not an object')
  return value as Record<string, unknown>
}

/** The member as an object; empty when it is none. */
export function objectIn(from: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = from[name]
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The member as text; empty when it is none. Carriers write numbers as strings and sometimes as numbers. */
export function textIn(from: Record<string, unknown>, name: string): string {
  const value = from[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** The member as a number of milliseconds; undefined when it is none. */
export function msIn(from: Record<string, unknown>, name: string): number | undefined {
  const text = textIn(from, name)
  const value = Number(text)
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : undefined
}
