import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
} from '@redis/client'
import pg from 'pg'

/** What the error codes of Postgres and Redis say about the store as a whole, as opposed to one request. */

/** Raised for a Redis that gave no answer in time. */
export class RedisSilentError extends Error {
  constructor(timeoutMs: number) {
    super(`Redis did not answer within ${timeoutMs} ms`)
    this.name = 'RedisSilentError'
  }
}

/** Raised for what was under way at Redis when the connection broke: it may or may not have been executed. */
export class RedisLostError extends Error {
  constructor(cause: Error) {
    super(`The connection to Redis was lost (${cause.message})`, { cause })
    this.name = 'RedisLostError'
  }
}

/** Replies of Redis by their first word. The server executed nothing. */
const REDIS_REPLIES: Readonly<Record<string, string>> = {
  OOM: 'Redis refuses writes because its memory is full',
  MISCONF: "Redis refuses writes because it can't write to its disk",
  NOREPLICAS: 'Redis refuses writes because too few replicas follow it',
  READONLY: 'Redis refuses writes because it is a read-only replica',
  LOADING: 'Redis is starting',
  MASTERDOWN: "Redis can't reach its primary",
  UNBLOCKED: 'Redis became a replica',
  CLUSTERDOWN: 'the Redis cluster is down',
  BUSY: 'Redis runs a script that does not end',
  NOAUTH: 'Redis refuses the login',
  WRONGPASS: 'Redis refuses the login',
  NOPERM: 'Redis refuses a command to its user',
}
const TOO_MANY_CLIENTS = /^ERR max number of clients reached/
/** A script's own error names that of its command behind a dash. */
const REPLY_CODE = /(?:^|-)([A-Z]{3,12})\b/
/** The connection leads to a server that can't serve it: another one may be behind the address by now. */
const MOVED_ON = new Set(['READONLY', 'LOADING', 'MASTERDOWN', 'UNBLOCKED'])

const REDIS_CLIENT_ERRORS = [
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
  RedisLostError,
  RedisSilentError,
]

/** SQLSTATEs of a server that can't serve. */
const POSTGRES_STATES: Readonly<Record<string, string>> = {
  '25006': 'PostgreSQL is read-only',
  '57P01': 'PostgreSQL is restarting',
  '57P02': 'PostgreSQL is restarting',
  '57P03': 'PostgreSQL is starting',
  '53100': "PostgreSQL's disk is full",
  '53200': 'PostgreSQL is out of memory',
  '53300': 'PostgreSQL has no connection left',
  '28P01': 'PostgreSQL refuses the login',
  '28000': 'PostgreSQL refuses the login',
}
/** The server behind the connection is read-only or ends. */
const ENDING_STATES = new Set(['25006', '57P01', '57P02', '57P03'])
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
const SOCKET_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo'])
const POSTGRES_LOGIN = /^password authentication failed|^SASL authentication failed/
const POSTGRES_LOST =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error)/

/** The code of an error Redis answered with, such as READONLY. */
function redisCode(error: unknown): string | undefined {
  if (!(error instanceof ErrorReply)) return undefined
  const code = REPLY_CODE.exec(error.message)?.[1]
  return code !== undefined && code in REDIS_REPLIES ? code : undefined
}

/** Whether a command failed because its connection broke. */
export function isLoss(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { syscall } = error as NodeJS.ErrnoException
  return (
    error instanceof RedisSilentError ||
    error instanceof SocketClosedUnexpectedlyError ||
    error instanceof SocketTimeoutError ||
    (syscall !== undefined && SOCKET_CALLS.has(syscall))
  )
}

/** Whether the connection that got this reply has to be dialled again. What was asked was not executed. */
export function endsRedisConnection(error: unknown): boolean {
  return MOVED_ON.has(redisCode(error) ?? '')
}

/** Whether the connection of Postgres that got this error is of no use any more. */
export function endsPostgresConnection(sqlState: string | undefined): boolean {
  return ENDING_STATES.has(sqlState ?? '')
}

/** Why Redis can't be used now; undefined: the error is about something else. */
export function redisOutage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = redisCode(error)
  if (code !== undefined) return REDIS_REPLIES[code]
  if (error instanceof ErrorReply)
    return TOO_MANY_CLIENTS.test(error.message) ? 'Redis has no connection left' : undefined
  return REDIS_CLIENT_ERRORS.some((known) => error instanceof known) ? 'Redis does not answer' : undefined
}

/** Why Postgres can't be used now; undefined: the error is about something else. */
export function postgresOutage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (POSTGRES_LOST.test(error.message)) return 'PostgreSQL does not answer'
  const { code, syscall } = error as NodeJS.ErrnoException
  // Poolers have a code of their own for it.
  if (POSTGRES_LOGIN.test(error.message)) return 'PostgreSQL refuses the login'
  if (error instanceof pg.DatabaseError) return POSTGRES_STATES[code ?? '']
  const isOfSocket = SOCKET_CODES.has(code ?? '') && SOCKET_CALLS.has(syscall ?? '')
  return isOfSocket ? 'PostgreSQL does not answer' : undefined
}

/** Why Postgres or Redis can't be used now; undefined: the error is about something else. */
export function outageOf(error: unknown): string | undefined {
  return redisOutage(error) ?? postgresOutage(error)
}

const STARTING_STATES = new Set(['57P01', '57P02', '57P03'])
const STARTING_SOCKET = new Set(['ECONNRESET', 'EPIPE'])
/** `timeout expired`: somebody listens and has not answered yet (pg's Client.connect). */
const CUT_OFF = /^Connection terminated|^timeout expired|^Socket closed unexpectedly|^server closed the connection/i

/** Whether a store, or what it caused, says that the store is there and will serve soon. */
export function isStarting(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', cause } = error as NodeJS.ErrnoException & { cause?: unknown }
  if (error instanceof pg.DatabaseError) return STARTING_STATES.has(code)
  return (
    redisCode(error) === 'LOADING' ||
    STARTING_SOCKET.has(code) ||
    CUT_OFF.test(error.message) ||
    error instanceof RedisLostError ||
    error instanceof SocketClosedUnexpectedlyError ||
    isStarting(cause)
  )
}
