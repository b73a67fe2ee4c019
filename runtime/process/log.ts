import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import pretty from 'pino-pretty'
import { withoutUserinfo } from '../lib/url-userinfo.ts'
import { logOutput } from './log-output.ts'

export type { Logger } from 'pino'

interface LoggerOptions {
  /** A function is asked at each line. */
  level: string | (() => string)
  /** Role or part of the system, on every line. */
  name: string
  /** Where lines go; default stdout, for people when that is a terminal and as JSON otherwise. */
  destination?: DestinationStream
}

const SECRET_KEY = /^(authorization|cookie|set-cookie|x-api-key|.*(password|secret)|.*token|api_?key)$/i
/** In E.164; the last four digits tell two of them apart. */
const PHONE_NUMBER = /\+\d{3,11}(\d{4})(?!\d)/g
const MAX_DEPTH = 6
export const CENSORED = '[redacted]'

/** The text without user and password of URLs, and without phone numbers. */
function redactText(text: string): string {
  return withoutUserinfo(text).replace(PHONE_NUMBER, '+…$1')
}

/** Copies a log record with every secret field, at any depth, and what `redactText` takes out of texts replaced. */
function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    copy[key] = SECRET_KEY.test(key) && item !== undefined && item !== null ? CENSORED : redact(item, depth + 1)
  }
  return copy
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** A call's trace has the call's id (runtime/traces/call-trace.ts). */
function withTrace(record: Record<string, unknown>): Record<string, unknown> {
  const { callId } = record
  if (typeof callId !== 'string' || !UUID.test(callId)) return record
  return { ...record, trace_id: callId.replaceAll('-', '') }
}

const serializeError = (error: unknown) =>
  error instanceof Error ? redact({ ...stdSerializers.err(error) }) : redact(error)

/**
 * Makes the process's logger. Times are ISO 8601. Fields named like a credential (authorization, cookie, x-api-key,
 * …password, …token, …secret), user and password of URLs and phone numbers, in fields and in messages, never reach the destination.
 */
export function createLogger({ level, name, destination: target }: LoggerOptions): Logger {
  const stream =
    target ??
    (process.stdout.isTTY
      ? pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
      : logOutput())
  const lowest = typeof level === 'string' ? level : 'trace'
  const isWanted = (line: number): boolean =>
    typeof level === 'string' || line >= (pino.levels.values[level()] ?? Number.POSITIVE_INFINITY)
  return pino(
    {
      name,
      level: lowest,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (record) => withTrace(redact(record) as Record<string, unknown>),
      },
      hooks: {
        logMethod(args, method, line) {
          if (!isWanted(line)) return
          const redacted = args.map((arg: unknown) => (typeof arg === 'string' ? redactText(arg) : arg))
          method.apply(this, redacted as Parameters<typeof method>)
        },
      },
      serializers: { err: serializeError, error: serializeError, reason: serializeError, cause: serializeError },
    },
    stream,
  )
}
