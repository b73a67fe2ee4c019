import type { Calls } from '../../runtime/call/control/calls.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import type { CallJournal } from '../../runtime/call/log/journal.ts'
import { endUnconnectedCall } from '../../runtime/call/log/unconnected-call.ts'
import type { AgentSpec, SessionLimits } from '../../runtime/call/types/agent-spec.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import {
  badAgent,
  type DialOutcome,
  MAINTENANCE,
  notServed,
  SHUTDOWN,
  WEB_GIVEN_UP,
  WEB_NOT_CONNECTED,
  WEB_SESSIONS_FULL,
} from '../../runtime/plugin-sdk/telephony/outcome.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Socket, SocketHandlers, WebSocketRoute } from '../../runtime/process/web-socket.ts'
import { servedAgent } from '../../store/agents/served-agents.ts'
import { findWaitingCall } from '../../store/calls/open-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import { limitsOf } from '../agents/speech.ts'
import type { StandingRights } from '../auth/standing-rights.ts'
import type { McpTools } from '../tools/mcp-tools.ts'
import { agentSpec } from './agent-spec.ts'
import { MOVED, SUBPROTOCOL } from './closing.ts'
import type { ServerMessage } from './messages.ts'
import type { Resumes } from './resumes.ts'
import type { CallOptions } from './start.ts'
import { type SessionGrant, takeSessionToken } from './tokens.ts'
import type { WebRtc } from './webrtc/webrtc.ts'
import type { WebRtcLeg } from './webrtc/webrtc-leg.ts'
import { WebSocketLeg } from './websocket-leg.ts'

/** A message over this closes the connection; one over 100 ms of audio only gets an error. */
const MAX_PAYLOAD_BYTES = 1 << 20
const MAX_BACKPRESSURE_BYTES = 4 << 20
/** A client that vanished is noticed in this time; a live one answers the pings sent meanwhile. */
const IDLE_TIMEOUT_S = 12
/** Between the answer to the upgrade and the open socket. */
const OPEN_TIMEOUT_MS = 5_000

interface RealtimeRouteOptions {
  store: Store
  redis: RedisClient
  calls: Calls
  quotas: Quotas
  standing: Pick<StandingRights, 'require' | 'watch'>
  journalOf(workspaceId: string, wish?: CallOptions): CallJournal
  sampleRateHz: number
  limits: SessionLimits
  clock: Clock
  log: Logger
  resumes: Resumes
  mcpTools: Pick<McpTools, 'complete'>
  webrtc: Pick<WebRtc, 'terms' | 'leg'>
  /** True once the node stops: no session is opened any more. */
  draining(): boolean
}

const MEDIA = ['websocket', 'webrtc'] as const

interface Realtime {
  route: WebSocketRoute
  /** Gives up the legs that are being set up; resolves once their calls are written down. */
  stop(): Promise<void>
}

/**
 * `GET /realtime?token=…`: 401 before the upgrade for a token that was used, is expired or was never issued. With `media` the
 * session outlives its connection, and `GET /realtime?resume=…` goes on with it; `media=webrtc`: 503 where there is none.
 */
export function realtimeRoute(options: RealtimeRouteOptions): Realtime {
  const {
    store,
    redis,
    calls,
    quotas,
    standing,
    journalOf,
    sampleRateHz,
    limits,
    clock,
    log,
    resumes,
    webrtc,
    draining,
    mcpTools,
  } = options
  /** WebRTC legs without a way yet. */
  const pending = new Map<WebRtcLeg, Promise<void>>()

  /** Writes down a call that never began. */
  const endUnbegun = (workspaceId: string, callId: string, outcome: DialOutcome): Promise<void> =>
    endUnconnectedCall(clock, journalOf(workspaceId), callId, outcome)

  /** A call begins with its way open: no seat waits for a browser that never answers, no word is said into nothing. */
  async function whenConnected(leg: WebRtcLeg, grant: SessionGrant, start: () => Promise<unknown>): Promise<void> {
    const connecting = leg.connection.then(async (connection) => {
      if (connection === 'connected') return
      const given = draining() ? SHUTDOWN : WEB_GIVEN_UP
      await endUnbegun(grant.workspaceId, grant.callId, connection === 'failed' ? WEB_NOT_CONNECTED : given)
    })
    pending.set(leg, connecting)
    await connecting.finally(() => pending.delete(leg))
    if ((await leg.connection) === 'connected') await start()
  }

  const route: WebSocketRoute = {
    path: '/realtime',
    protocol: SUBPROTOCOL,
    maxPayloadBytes: MAX_PAYLOAD_BYTES,
    maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
    idleTimeoutS: IDLE_TIMEOUT_S,
    async upgrade({ query }) {
      const resume = query.get('resume')
      if (resume !== null) return resumption(resumes, resume)
      const media = query.get('media')
      if (media !== null && !MEDIA.some((one) => one === media)) throw new PatchbayError('malformed_request')
      // Before the token is used up: another node can still serve it.
      if (draining() || (media === 'webrtc' && webrtc.terms === null)) throw new PatchbayError('unavailable')
      const grant = await takeSessionToken(redis, query.get('token') ?? '')
      if (grant === undefined) throw new PatchbayError('invalid_token')
      const { holder } = grant
      if (holder !== undefined) await standing.require(holder)
      const tenant = store.tenant(grant.workspaceId)
      const waiting = await findWaitingCall(tenant, grant.callId)
      if (waiting === undefined) throw new PatchbayError('invalid_token')
      const { callId } = waiting
      const served = await servedAgent(store, grant.workspaceId, waiting.agent, {
        ...{ callId, channel: 'web', contact: waiting.sessionId, variables: waiting.dynamicVariables },
      })
      if ('refused' in served) {
        await endUnbegun(grant.workspaceId, callId, notServed(served.refused))
        throw new PatchbayError('quota_reached', { params: { quota: served.refused } })
      }
      const hasKnowledge = await hasReadyDocuments(tenant, served.agent)
      const { workspaceId } = grant
      let own: AgentSpec
      try {
        own = agentSpec(served.agent, waiting.dynamicVariables, hasKnowledge, {
          nowMs: clock.nowMs(),
          callId,
          direction: 'inbound',
        })
      } catch (error) {
        if (error instanceof PatchbayError) await endUnbegun(workspaceId, callId, badAgent(error.message))
        throw error
      }
      const { spec: agent, faults } = await mcpTools.complete(served.agent, own)
      const pool = await workerPoolOf(store, { agentId: served.agent.id, workspaceId })
      const place = await quotas.take({ kind: 'web', callId, workspaceId })
      if (place !== 'taken') {
        await endUnbegun(workspaceId, callId, place === 'maintenance' ? MAINTENANCE : WEB_SESSIONS_FULL)
      }
      // A client may be gone before the socket opens.
      const unopened = setTimeout(
        boundary('websocket', () => quotas.release(callId)),
        OPEN_TIMEOUT_MS,
      )
      return (socket: Socket): SocketHandlers => {
        clearTimeout(unopened)
        const connection = { callId, socket, clock, ...(media === null ? {} : { resumes }) }
        const refused = place !== 'taken'
        const peer = media === 'webrtc' && !refused ? webrtc.leg(connection, holder?.kind === 'visitor') : undefined
        const leg = peer ?? new WebSocketLeg({ ...connection, sampleRateHz })
        if (refused) {
          leg.close('no_capacity')
          return leg.handlers
        }
        const start = () => {
          const done = calls.start({
            callId,
            claim: { kind: 'web', workspaceId, pool },
            agent,
            limits: limitsOf(served.agent, limits),
            leg,
            journal: journalOf(workspaceId, { isRecorded: grant.isRecorded }),
          })
          for (const fault of faults) calls.fault(callId, 'tool', fault)
          return done
        }
        const end = () => {
          if (!calls.hangUp(callId)) leg.close('api_hangup')
        }
        const over = peer === undefined ? start() : whenConnected(peer, { workspaceId, callId }, start)
        // A call opened by a member or a key continues: its participant is someone else.
        const unwatch = holder?.kind === 'visitor' ? standing.watch(holder, () => end()) : undefined
        over
          .catch((err) => log.error({ err, callId }, 'Could not save a web call that did not begin'))
          .finally(() => {
            unwatch?.()
            quotas.release(callId)
          })
        return leg.handlers
      }
    },
  }
  return {
    route,
    async stop() {
      for (const leg of pending.keys()) leg.close('shutdown')
      await Promise.allSettled(pending.values())
    },
  }
}

/** Another connection of a session of this node, or the way to the node that has it. 401 for a token that opens nothing. */
async function resumption(resumes: Resumes, token: string): Promise<(socket: Socket) => SocketHandlers> {
  const session = resumes.take(token)
  if (session !== undefined) return (socket) => session.resume(socket)
  const nodeUrl = await resumes.elsewhere(token)
  if (nodeUrl === undefined) throw new PatchbayError('invalid_token')
  return (socket) => {
    const url = `${nodeUrl.replace(/^http/, 'ws')}/realtime?resume=${token}`
    socket.send(JSON.stringify({ type: 'session.moved', url } satisfies ServerMessage))
    socket.close(MOVED.code, MOVED.reason)
    return { message: () => undefined, close: () => undefined }
  }
}
