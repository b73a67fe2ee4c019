import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { AgentState } from '../../runtime/session/leg.ts'

/** What client and server say to each other in a realtime session. Audio is binary, these are text messages of JSON. */

export type ServerMessage =
  | { type: 'session.started'; call_log_id: string; audio: { encoding: 'pcm_s16le'; sample_rate: number } }
  | { type: 'agent.state'; state: AgentState }
  | {
      type: 'transcript'
      role: 'user' | 'assistant'
      text: string
      final: boolean
      start_ms: number
      end_ms: number
    }
  | { type: 'audio.clear' }
  | { type: 'audio.mark'; id: number }
  | { type: 'error'; code: string; message: string }
  | { type: 'session.ended'; reason: string }

const text = Type.Object({ type: Type.Literal('text'), text: Type.String({ minLength: 1, maxLength: 4000 }) })
const dtmf = Type.Object({ type: Type.Literal('dtmf'), digit: Type.String({ pattern: '^[0-9A-D*#]$' }) })
const played = Type.Object({
  type: Type.Literal('audio.played'),
  id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
const end = Type.Object({ type: Type.Literal('end') })

export type ClientMessage = Static<typeof text> | Static<typeof dtmf> | Static<typeof played> | Static<typeof end>

const validators: Record<ClientMessage['type'], { Check(value: unknown): boolean }> = {
  text: Compile(text),
  dtmf: Compile(dtmf),
  'audio.played': Compile(played),
  end: Compile(end),
}

/** What was wrong with a message, as it is told to the client. */
export interface Fault {
  code: string
  message: string
}

/** Reads a text message of a client. Never throws. */
export function readClientMessage(json: string): ClientMessage | Fault {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return { code: 'malformed_message', message: 'The message is not JSON' }
  }
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string') return { code: 'malformed_message', message: 'The message has no "type"' }
  if (!Object.hasOwn(validators, type)) {
    const known = Object.keys(validators).join(', ')
    return { code: 'unknown_message', message: `Unknown message type "${type.slice(0, 50)}"; known are ${known}` }
  }
  if (!validators[type as ClientMessage['type']].Check(value)) {
    return { code: 'invalid_message', message: `The fields of the "${type}" message are missing or wrong` }
  }
  return value as ClientMessage
}
