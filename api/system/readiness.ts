import { type Static, Type } from 'typebox'
import { reachable } from '../../store/reachable.ts'
import type { Services } from '../services.ts'

const Part = Type.Enum(['ok', 'unreachable'])

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready', 'draining'], {
    description: '`draining`: it stops, and takes no new call; running ones go on.',
  }),
  database: Part,
  redis: Part,
  workers: Type.Integer({ description: 'Voice workers linked to this node.' }),
  webrtc: Type.Enum(['off', 'looking', 'building', 'open', 'unavailable'], {
    description:
      'Whether web calls may use WebRTC. Where it is not `open` they use the WebSocket, and the node is ready all the same.',
  }),
})

/** Whether this node takes calls. */
export async function isReady({
  store,
  redis,
  sessions,
}: Pick<Services, 'store' | 'redis' | 'sessions'>): Promise<Static<typeof Readiness>> {
  const parts = await reachable(store, redis)
  const workers = sessions.workers().length
  const serves = parts.database === 'ok' && parts.redis === 'ok' && workers > 0
  return {
    status: sessions.leaving() ? 'draining' : serves ? 'ready' : 'not_ready',
    ...parts,
    workers,
    webrtc: sessions.webrtc.standing.state,
  }
}
