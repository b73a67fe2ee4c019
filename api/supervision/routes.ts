import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { call_log_id, requireCall } from '../calls/one-call.ts'
import { callExample, WebRtcTermsBody } from '../calls/schema.ts'
import { ADDRESS_HEADERS, realtimeUrl } from '../realtime/realtime-url.ts'
import { defineRoute } from '../route.ts'
import { Id, Instant } from '../schema.ts'
import { issueListenToken, LISTEN_TOKEN_TTL_S } from './socket.ts'

const ListenBody = Type.Object({
  call_log_id: Id,
  url: Type.String({ description: 'WebSocket address, token included.' }),
  token: Type.String({ description: 'Opens one socket, once, within a minute.' }),
  expires_at: Instant,
  webrtc: WebRtcTermsBody,
})

const example: Static<typeof ListenBody> = {
  call_log_id: callExample.call_log_id,
  url: 'ws://localhost:8080/listen?token=Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
  token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
  expires_at: '2026-01-31T09:01:00.000Z',
  webrtc: { transports: ['udp', 'tcp'], ice_servers: [] },
}

const listen = defineRoute({
  method: 'POST',
  path: '/calls/{call_log_id}/listen',
  auth: 'jwt_or_key',
  role: 'developer',
  params: { call_log_id },
  headers: ADDRESS_HEADERS,
  success: { status: 201, schema: ListenBody },
  errors: ['call_log_not_found', 'call_over'],
  tag: 'Calls',
  summary: 'Listen to a call, and help it',
  description:
    'Gives the address of a WebSocket over which a supervisor hears both sides, whispers to the agent, has it say something, takes the call over and gives it back, ends or transfers it. Its messages are in docs/events.md.',
  examples: { success: example },
  handler: async (request, { redis, config, sessions, clock }) => {
    const { params, tenant, user, key } = request
    const call = await requireCall(tenant, params.call_log_id)
    if (call.ended_at !== null) throw new PatchbayError('call_over')
    const who = { id: user?.id ?? key?.id ?? '', name: user?.name ?? key?.name ?? '' }
    const { standing } = request
    if (standing === undefined) throw new Error('POST /calls/{call_log_id}/listen was answered without a caller')
    const token = await issueListenToken(redis, { workspaceId: tenant.workspaceId, callId: call.id, who, standing })
    return {
      call_log_id: call.id,
      url: realtimeUrl(config, (name) => request.header(name), token, '/listen'),
      token,
      expires_at: new Date(clock.nowMs() + LISTEN_TOKEN_TTL_S * 1_000).toISOString(),
      webrtc: sessions.webrtc.terms,
    }
  },
})

export const supervisionRoutes = [listen]
