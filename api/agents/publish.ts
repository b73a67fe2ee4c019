import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { draftDigest, type Publisher, settleDraft } from '../../store/agents/agent-versions.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { takeSessionTurn } from '../../store/redis/session-turns.ts'
import type { ApiRequest } from '../route.ts'

/** Who asked, as versions name them. */
export function publisherOf({ user, key }: Pick<ApiRequest, 'user' | 'key'>): Publisher {
  return { id: user?.id ?? key?.id ?? '', name: user?.name ?? key?.name ?? '' }
}

/** Must hold before a draft goes live. Throws where it doesn't; resolves with what is to be told the version that the draft became. */
export type PublishGate = (draft: {
  tenant: Tenant
  agentId: string
  signal: AbortSignal
}) => Promise<((version: number) => Promise<void>) | undefined>

/**
 * Makes the draft the live version; the number of the version that is live then. One request publishes an agent at a time.
 *
 * @throws PatchbayError agent_not_found, publish_running, precondition_failed where the draft changed while the gate looked at it
 */
export async function publishDraft(
  { redis }: { redis: RedisClient },
  tenant: Tenant,
  agentId: string,
  { by, note, gate }: { by: Publisher; note: string; gate?: PublishGate },
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<number> {
  const turn = await takeSessionTurn(redis, ['publish', agentId], { timeoutMs: 0, signal, log }).catch((cause) => {
    const isTaken = cause instanceof PatchbayError && cause.code === 'timeout'
    throw isTaken ? new PatchbayError('publish_running', { cause }) : cause
  })
  try {
    const looked = gate && (await draftDigest(tenant, agentId))
    const passed = await gate?.({ tenant, agentId, signal: joinSignals(signal, turn.lost) })
    const live = await tenant.db.transaction().execute((db) =>
      settleDraft({ workspaceId: tenant.workspaceId, db }, agentId, {
        ...{ by, note, isAsked: true },
        ...(looked === undefined ? {} : { digest: looked }),
      }),
    )
    if (live?.version == null) throw new PatchbayError('agent_not_found')
    if (live.unpublished) {
      throw new PatchbayError('precondition_failed', {
        params: { last_change: ': the draft was changed while its tests ran' },
      })
    }
    await passed?.(live.version)
    return live.version
  } finally {
    turn.release()
  }
}
