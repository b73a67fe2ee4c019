import { PatchbayError } from '../../runtime/lib/errors.ts'
import { insertPublicCall, publicAgentById } from '../../store/agents/public-agents.ts'
import { DEFAULT_LOOK, lookOf } from '../agents/look.ts'
import { allowsOrigin } from '../agents/public-access.ts'
import { callExample } from '../calls/schema.ts'
import { requireServed } from '../quota.ts'
import { ADDRESS_HEADERS } from '../realtime/realtime-url.ts'
import { sessionTokenBody } from '../realtime/session-token-body.ts'
import { issueSessionToken } from '../realtime/tokens.ts'
import { defineRoute, Reply } from '../route.ts'
import type { Services } from '../services.ts'
import { asyncApiRoute } from './asyncapi.ts'
import { clientFileRoutes } from './client-files.ts'
import { PublicAgentBody, PublicSessionBody } from './schema.ts'
import { throttleSessions } from './session-throttle.ts'
import { talkRoute } from './talk.ts'

/** What strangers see of an installation: public agents, the client library for pages, and how a session speaks. */

/** A page opens its session at once; an unused token holds the agent's place no longer than this. */
const TOKEN_TTL_S = 60

/** The look of an agent is read with each page that shows its widget. */
const LOOK_MAX_AGE_S = 60

const getPublicAgent = defineRoute({
  method: 'GET',
  path: '/public/agents/{agent_id}',
  auth: 'none',
  role: 'none',
  params: {
    agent_id: { description: 'A public agent.', notFound: 'agent_not_found', example: callExample.agent_id },
  },
  success: { status: 200, schema: PublicAgentBody },
  errors: ['agent_not_found'],
  tag: 'Public agents',
  summary: 'The name and the look of a public agent',
  description: 'What the widget shows before a call. Any page may read it.',
  examples: {
    success: { agent_id: callExample.agent_id, agent_name: 'Reception', language: 'en', look: DEFAULT_LOOK },
  },
  handler: async ({ params }, { store }) => {
    const found = await publicAgentById(store, params.agent_id)
    if (found === undefined || found.isSuspended) {
      throw new PatchbayError('agent_not_found', { headers: { 'access-control-allow-origin': '*' } })
    }
    const { id, agent_name, language } = found.agent
    return new Reply({
      body: { agent_id: id, agent_name, language, look: lookOf(found.access.look) },
      headers: [
        ['access-control-allow-origin', '*'],
        ['cache-control', `public, max-age=${LOOK_MAX_AGE_S}`],
      ],
    })
  },
})

const openPublicSession = defineRoute({
  method: 'POST',
  path: '/public/agents/{agent_id}/session',
  auth: 'none',
  role: 'none',
  startsCall: true,
  params: {
    agent_id: { description: 'A public agent.', notFound: 'agent_not_found', example: callExample.agent_id },
  },
  headers: [...new Set(['origin', 'host', ...ADDRESS_HEADERS])],
  success: { status: 201, schema: PublicSessionBody },
  errors: ['agent_not_found', 'origin_refused', 'too_many_sessions', 'agent_busy', 'quota_reached'],
  tag: 'Public agents',
  summary: 'A session with a public agent, for any page of its origins',
  description:
    'Needs no key: the agent’s field `public` says which pages may ask, how often an address may, and how many calls there are at once. Any page may read the answer, errors included.',
  examples: {
    success: {
      token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
      session_id: callExample.call_log_id,
      agent_id: callExample.agent_id,
      call_log_id: callExample.call_log_id,
      realtime_url: 'ws://localhost:8080/realtime?token=Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
      webrtc: { transports: ['udp', 'tcp'], ice_servers: [] },
      recorded: false,
      expires_at: '2026-01-31T09:01:00.000Z',
      agent_name: 'Reception',
      language: 'en',
    },
  },
  handler: async (request, services) => {
    const origin = request.header('origin')
    // The sentence of an error is no secret: a page that is refused may read why.
    const cors = { 'access-control-allow-origin': '*' }
    try {
      const { agent_id: agentId } = request.params
      const host = request.header('host')
      const body = await publicSession(services, {
        ...{ agentId, origin, host, address: request.clientAddress },
        header: (name) => request.header(name),
      })
      return new Reply({ body, headers: Object.entries(cors) })
    } catch (error) {
      if (!(error instanceof PatchbayError)) throw error
      throw error.withHeaders(cors)
    }
  },
})

interface Asked {
  agentId: string
  origin: string
  host: string
  address: string
  header(name: string): string
}

async function publicSession(services: Services, { agentId, origin, host, address, header }: Asked) {
  const { store, redis, clock, config } = services
  const found = await publicAgentById(store, agentId)
  if (found === undefined || found.isSuspended) throw new PatchbayError('agent_not_found')
  const { agent, access, workspaceId } = found
  if (!isOwn(origin, host, config.publicUrl) && !allowsOrigin(access, origin)) {
    throw new PatchbayError('origin_refused', { params: { origin: origin || 'the page’s origin' } })
  }
  await throttleSessions(redis, { agentId, address, most: access.per_address_per_hour })
  const tenant = store.tenant(workspaceId)
  const { language } = await requireServed(services, tenant, agent)
  const nowMs = clock.nowMs()
  const call = await insertPublicCall(
    tenant,
    {
      agent_id: agent.id,
      agent_name: agent.agent_name,
      call_type: 'web',
      direction: 'inbound',
      status: 'queued',
      created_at: new Date(nowMs),
    },
    access.max_calls,
    new Date(nowMs - TOKEN_TTL_S * 1000),
  )
  if (call === undefined) throw new PatchbayError('agent_busy', { headers: { 'retry-after': '10' } })
  const holder = { kind: 'visitor', agentId } as const
  const token = await issueSessionToken(redis, { workspaceId, callId: call.id, holder }, nowMs, TOKEN_TTL_S)
  return {
    ...sessionTokenBody(services, { token, call, sessionId: call.id, agentId: agent.id, header }),
    agent_name: agent.agent_name,
    language,
  }
}

/** Whether the page is one of this server. */
function isOwn(origin: string, host: string, publicUrl: string): boolean {
  return origin === new URL(publicUrl).origin || origin === `http://${host}` || origin === `https://${host}`
}

export const publicRoutes = [getPublicAgent, openPublicSession, talkRoute, ...clientFileRoutes, asyncApiRoute]
