import type { Static } from 'typebox'
import type { Call } from '../../store/database/schema.ts'
import type { SessionTokenBody } from '../calls/schema.ts'
import type { Services } from '../services.ts'
import { realtimeUrl } from './realtime-url.ts'

/** What a client is given to open the session of a call. */
export function sessionTokenBody(
  { config, sessions }: Pick<Services, 'config' | 'sessions'>,
  {
    token: { token, expiresAt },
    call,
    sessionId,
    agentId,
    isRecorded,
    header,
  }: {
    token: { token: string; expiresAt: Date }
    call: Call
    sessionId: string
    agentId: string
    /** Undefined: not requested. */
    isRecorded?: boolean | undefined
    header(name: string): string
  },
): Static<typeof SessionTokenBody> {
  return {
    token,
    session_id: sessionId,
    agent_id: agentId,
    call_log_id: call.id,
    realtime_url: realtimeUrl(config, header, token),
    webrtc: sessions.webrtc.terms,
    ...(isRecorded === undefined ? {} : { recorded: isRecorded }),
    expires_at: expiresAt.toISOString(),
  }
}
