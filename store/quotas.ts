import type { QuotaSource } from '../runtime/admission/quota-source.ts'
import type { Store } from './database.ts'
import { exhaustedQuota, operatorQuotas } from './workspace-quotas.ts'

/**
 * The quotas as the workspace itself and the operator set them, with the instance's bound on web sessions; the lower counts.
 * A workspace that is suspended, or has used up its month, has room for nothing. Read anew each time.
 */
export function storedQuotas(store: Store, limits: { webSessionsPerWorkspace: number | null }): QuotaSource {
  return {
    async ofWorkspace(workspaceId) {
      const [row, operator, exhausted] = await Promise.all([
        store.global
          .selectFrom('workspaces')
          .select(['max_concurrent_calls', 'suspended_at'])
          .where('id', '=', workspaceId)
          .executeTakeFirst(),
        operatorQuotas(store, workspaceId),
        exhaustedQuota(store, workspaceId),
      ])
      const { calls_at_once, web_sessions_at_once } = operator
      if (row === undefined || row.suspended_at !== null || exhausted !== undefined) {
        return { callsAtOnce: 0, webSessionsAtOnce: 0 }
      }
      return {
        callsAtOnce: lower(row.max_concurrent_calls, calls_at_once),
        webSessionsAtOnce: lower(limits.webSessionsPerWorkspace, web_sessions_at_once),
      }
    },
    async ofNumber(workspaceId, number) {
      const row = await store
        .tenant(workspaceId)
        .db.selectFrom('phone_numbers')
        .select('max_concurrent_calls')
        .where('phone_number', '=', number)
        .executeTakeFirst()
      return row?.max_concurrent_calls ?? null
    },
  }
}

/** Whether the installation has more than one workspace with an agent. */
export async function hasSeveralWorkspaces(store: Store): Promise<boolean> {
  const rows = await store.acrossTenants
    .selectFrom('workspaces')
    .select('workspaces.id')
    .where('workspaces.deleted_at', 'is', null)
    .where((eb) =>
      eb.exists(eb.selectFrom('agents').select('agents.id').whereRef('agents.workspace_id', '=', 'workspaces.id')),
    )
    .limit(2)
    .execute()
  return rows.length > 1
}

function lower(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b)
}
