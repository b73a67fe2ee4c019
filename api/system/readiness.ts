import { type Static, Type } from 'typebox'
import { sharedResult } from '../../runtime/lib/shared-result.ts'
import { reachable } from '../../store/database/reachable.ts'
import type { Services } from '../services.ts'

const Part = Type.Enum(['ok', 'unreachable'])

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready', 'draining'], {
    description: '`draining`: it stops, and takes no new call; running ones go on.',
  }),
  database: Part,
  redis: Part,
  workers: Type.Integer({
    minimum: 0,
    maximum: 1,
    description: '1 while voice workers are linked to this node. How many is told at the admin port alone.',
  }),
  webrtc: Type.Enum(['off', 'looking', 'building', 'open', 'unavailable'], {
    description:
      'Whether web calls may use WebRTC. Where it is not `open` they use the WebSocket, and the node is ready all the same.',
  }),
})

/** Strangers may ask as often as they like: database and Redis are asked once within it. */
const TTL_MS = 1_000

export type AskReadiness = () => Promise<Static<typeof Readiness>>

/** Whether this node takes calls. */
export function readinessOf({
  store,
  redis,
  sessions,
  clock,
}: Pick<Services, 'store' | 'redis' | 'sessions' | 'clock'>): AskReadiness {
  const reach = sharedResult(() => reachable(store, redis), TTL_MS, clock)
  return async () => {
    const parts = await reach()
    const workers = Math.min(1, sessions.workers().length)
    const serves = parts.database === 'ok' && parts.redis === 'ok' && workers > 0
    return {
      status: sessions.leaving() ? 'draining' : serves ? 'ready' : 'not_ready',
      ...parts,
      workers,
      webrtc: sessions.webrtc.standing.state,
    }
  }
}
