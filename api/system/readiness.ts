import { type Static, Type } from 'typebox'
import { readinessParts } from '../../store/connections/readiness.ts'
import type { Services } from '../services.ts'

const Part = Type.Enum(['ok', 'unreachable'], {
  description: '`ok`: it takes writes. A replica, or a store that is full, is `unreachable`: `reasons` says why.',
})

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready', 'draining'], {
    description: '`draining`: it stops, and takes no new call; running ones go on.',
  }),
  database: Part,
  redis: Part,
  leases: Type.Enum(['ok', 'late'], {
    description: "`late`: the leases of this node's calls could not be renewed for ten seconds. The calls go on.",
  }),
  workers: Type.Integer({
    minimum: 0,
    maximum: 1,
    description: '1 while voice workers are linked to this node. How many is told at the admin port alone.',
  }),
  webrtc: Type.Enum(['off', 'looking', 'building', 'open', 'unavailable'], {
    description:
      'Whether web calls may use WebRTC. Where it is not `open` they use the WebSocket, and the node is ready all the same.',
  }),
  reasons: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Why the node is not ready: a sentence for each part that does not work.',
    }),
  ),
})

export type AskReadiness = () => Promise<Static<typeof Readiness>>

/** Whether this node takes calls. Strangers may ask as often as they like: the stores are asked once a second. */
export function readinessOf({ stores, sessions }: Pick<Services, 'stores' | 'sessions'>): AskReadiness {
  return async () => {
    const { reasons: faults, ...parts } = readinessParts(await stores())
    const leases = sessions.leaseFault()
    const workers = Math.min(1, sessions.workers().length)
    const reasons = [
      ...faults,
      ...(leases === undefined ? [] : [`the leases of calls could not be renewed (${leases})`]),
      ...(workers > 0 ? [] : ['no voice worker is linked to this node']),
    ]
    return {
      status: sessions.leaving() ? 'draining' : reasons.length === 0 ? 'ready' : 'not_ready',
      ...parts,
      leases: leases === undefined ? 'ok' : 'late',
      workers,
      webrtc: sessions.webrtc.standing.state,
      ...(reasons.length > 0 && { reasons }),
    }
  }
}
