import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { openEnum } from '../realtime/closing.ts'
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

/** Messages to the socket, beside the call's sound. */
export const TO_SUPERVISOR = {
  listening: Type.Object(
    {
      type: Type.Literal('listening'),
      call_log_id: Type.String(),
      audio: Type.Object({
        encoding: Type.Union([Type.Literal('pcm_s16le'), Type.Literal('opus')]),
        sample_rate: Type.Integer({ description: 'Samples a second.' }),
        channels: Type.Literal(2, { description: 'The caller left, the agent right.' }),
      }),
    },
    { description: 'The call was found. From now on its sound comes, in binary messages or over the peer connection.' },
  ),
  'webrtc.offer': Type.Object(
    { type: Type.Literal('webrtc.offer'), sdp: Type.String() },
    { description: 'Answer it with `webrtc.answer`.' },
  ),
  done: Type.Object(
    {
      type: Type.Literal('done'),
      of: openEnum(['whisper', 'say', 'take_over', 'give_back', 'end', 'transfer', 'leave']),
    },
    { description: 'An order was carried out.' },
  ),
  error: Type.Object(
    { type: Type.Literal('error'), code: Type.String(), message: Type.String() },
    {
      description: 'An order was refused, or listening ends: then the connection is closed with the code for a reason.',
    },
  ),
  ended: Type.Object(
    { type: Type.Literal('ended'), reason: Type.String() },
    { description: 'The call is over; the connection is closed.' },
  ),
} as const

type Told = { [K in keyof typeof TO_SUPERVISOR]: Static<(typeof TO_SUPERVISOR)[K]> }
export type ToSupervisor = Exclude<Told[keyof Told], { type: 'done' }> | { type: 'done'; of: SupervisorMessage['type'] }
