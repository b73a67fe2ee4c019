import type { QuotaSource } from '../runtime/admission/quota-source.ts'
import type { Store } from './database.ts'

/** The quotas as the workspace itself sets them, with the instance's bound on web sessions. Read anew each time. */
export function storedQuotas(store: Store, limits: { webSessionsPerWorkspace: number | null }): QuotaSource {
  return {
    async ofWorkspace(workspaceId) {
      const row = await store.global
        .selectFrom('workspaces')
        .select('max_concurrent_calls')
        .where('id', '=', workspaceId)
        .executeTakeFirst()
      return {
        callsAtOnce: row?.max_concurrent_calls ?? null,
        webSessionsAtOnce: limits.webSessionsPerWorkspace,
        storageBytes: null,
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
