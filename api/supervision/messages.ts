import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { MAX_SDP_CHARACTERS } from '../realtime/webrtc/sdp.ts'

/** What a supervisor may say and do over the socket. */

const text = Type.String({ minLength: 1, maxLength: 4_000 })
const message = <const T extends string, P extends Record<string, import('typebox').TSchema>>(type: T, fields: P) =>
  Type.Object({ type: Type.Literal(type), ...fields })

export const SUPERVISOR_MESSAGE = Type.Union([
  message('whisper', { text }),
  message('say', { text }),
  message('take_over', {}),
  message('give_back', { summary: Type.Optional(text) }),
  message('end', {}),
  message('transfer', { to: Type.String({ minLength: 1, maxLength: 200 }) }),
  message('leave', {}),
])
export type SupervisorMessage = Static<typeof SUPERVISOR_MESSAGE>

/** Negotiation of the supervisor's peer connection, separate from the call's. */
export const SUPERVISOR_SIGNAL = Type.Union([
  message('webrtc.answer', {
    sdp: Type.String({ maxLength: MAX_SDP_CHARACTERS }),
    says_connected: Type.Optional(Type.Boolean()),
  }),
  message('webrtc.connected', {}),
  message('webrtc.restart', {}),
])
export type SupervisorSignal = Static<typeof SUPERVISOR_SIGNAL>

const checkSignal = Compile(SUPERVISOR_SIGNAL)
export const isSupervisorSignal = (value: unknown): value is SupervisorSignal => checkSignal.Check(value)

const check = Compile(SUPERVISOR_MESSAGE)
export const isSupervisorMessage = (value: unknown): value is SupervisorMessage => check.Check(value)

/** Messages to the socket, beside sound and the call's events. */
export type ToSupervisor =
  | {
      type: 'listening'
      call_log_id: string
      audio: { encoding: 'pcm_s16le' | 'opus'; sample_rate: number; channels: 2 }
    }
  | { type: 'webrtc.offer'; sdp: string }
  | { type: 'done'; of: SupervisorMessage['type'] }
  | { type: 'error'; code: string; message: string }
  | { type: 'ended'; reason: string }
