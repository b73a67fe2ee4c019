import { Type } from 'typebox'
import type { EndReason } from '../../runtime/call/types/outcome.ts'

/**
 * The versions of the protocols over WebSockets, and with which code and reason the server closes a connection: a codes' owner of its
 * own, from which come what is sent, /asyncapi.json and the tables of docs/realtime.md. Codes below 4000 are RFC 6455's, section 7.4.1,
 * and the registry's.
 */

/** What a client may ask for in `Sec-WebSocket-Protocol`, and gets; one that asks for nothing speaks it, too. */
export const SUBPROTOCOL = 'patchbay.v1'
export const PROTOCOL_VERSION = 1

const NORMAL = 1000
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
export const TOO_LARGE = { code: 1009, reason: 'message_too_large' } as const
const INTERNAL_ERROR = 1011
const TRY_LATER = 1013
export const REPLACED = { code: 4001, reason: 'replaced' } as const
const NO_WAY_FOR_SOUND = 4002
const NOT_TALKING = 4004
export const MOVED = { code: NORMAL, reason: 'moved' } as const

/** What a client does next: nothing, begin anew, or go on with the session. */
type Next = 'done' | 'new_session' | 'resume' | 'connect_to_url'

interface Closing {
  code: number
  meaning: string
  next: Next
}

const closing = (code: number, next: Next, meaning: string): Closing => ({ code, next, meaning })

/** By the reason of `session.ended`, which is also the reason of the close frame. */
export const SESSION_ENDS = {
  caller_hangup: closing(NORMAL, 'done', 'The client said `end` or closed the connection'),
  agent_hangup: closing(NORMAL, 'done', 'The agent hung up'),
  api_hangup: closing(NORMAL, 'done', 'The call was ended over the API, or the visitor may no longer talk'),
  idle: closing(NORMAL, 'done', 'Nobody said anything for too long'),
  max_duration: closing(NORMAL, 'done', 'The longest time of a call is over'),
  transferred: closing(NORMAL, 'done', 'Others talk with the caller'),
  voicemail: closing(NORMAL, 'done', 'A mailbox answered; of phone calls'),
  abandoned: closing(NORMAL, 'done', 'No agent was free in time; of phone calls'),
  connection_lost: closing(NORMAL, 'done', 'The client was away too long; nobody is left to read it'),
  shutdown: closing(GOING_AWAY, 'new_session', 'The node stops'),
  policy_violation: closing(POLICY_VIOLATION, 'done', 'The client went on beyond its limits'),
  error: closing(INTERNAL_ERROR, 'new_session', 'A provider or the agent failed; the log of the call says what'),
  worker_lost: closing(INTERNAL_ERROR, 'new_session', 'The voice worker died, and no other could take over'),
  no_capacity: closing(TRY_LATER, 'new_session', 'No agent is free; wait before the next try'),
  connection_failed: closing(NO_WAY_FOR_SOUND, 'new_session', 'No peer connection came up; without WebRTC it may work'),
} as const satisfies Record<EndReason | 'connection_failed', Closing>

/** Closes of a session's connection without `session.ended`. */
export const SESSION_CLOSES = {
  [MOVED.reason]: closing(MOVED.code, 'connect_to_url', '`session.moved` said where the session lives'),
  [REPLACED.reason]: closing(REPLACED.code, 'done', 'A later connection has resumed the session'),
  [TOO_LARGE.reason]: closing(TOO_LARGE.code, 'resume', 'A message was over 1 MiB; over 2 MiB there is no close frame'),
  'internal error': closing(INTERNAL_ERROR, 'resume', 'The server could not handle a message'),
} as const satisfies Record<string, Closing>

/** Of the listening protocol, by the `code` of the `error` before it; `ended` follows the message of that type. */
export const LISTEN_CLOSES = {
  ended: closing(NORMAL, 'done', 'The call is over, or the supervisor left'),
  not_talking: closing(NOT_TALKING, 'done', 'The call talks with nobody'),
  connection_failed: closing(NO_WAY_FOR_SOUND, 'new_session', 'No peer connection came up; without WebRTC it may work'),
  node_lost: closing(INTERNAL_ERROR, 'new_session', 'The node of the call is gone'),
  unavailable: closing(TRY_LATER, 'new_session', 'Listening is not possible now'),
  [TOO_LARGE.reason]: closing(TOO_LARGE.code, 'new_session', 'A message was over 64 KiB'),
  'internal error': closing(INTERNAL_ERROR, 'new_session', 'The server could not handle a message'),
} as const satisfies Record<string, Closing>

/** With the code of the error, such as `not_a_member`, for a reason. */
export const RIGHT_ENDED = closing(
  POLICY_VIOLATION,
  'done',
  'The right to listen has ended; the reason is the code of the error',
)

const codeOf = (table: Readonly<Record<string, Closing>>, reason: string): number | undefined =>
  Object.hasOwn(table, reason) ? table[reason]?.code : undefined

export const sessionCloseCode = (reason: string): number => codeOf(SESSION_ENDS, reason) ?? NORMAL

export const listenCloseCode = (reason: string): number => codeOf(LISTEN_CLOSES, reason) ?? RIGHT_ENDED.code

/** A text that is one of these today; there may be more later. */
export const openEnum = (values: readonly string[], description?: string) =>
  Type.Unsafe<string>({ type: 'string', enum: values, ...(description && { description }) })

/** The rows of a protocol's document. */
export function closeCodes(...tables: readonly Readonly<Record<string, Closing>>[]) {
  return tables.flatMap((table) =>
    Object.entries(table).map(([reason, { code, meaning, next }]) => ({ code, reason, meaning, next })),
  )
}
