import type { QuotaSource, WorkspaceQuotas } from '../../runtime/admission/quota-source.ts'
import type { Store } from '../database/database.ts'
import { exhaustedQuota } from './workspace-quotas.ts'

const NOTHING: WorkspaceQuotas = { callsAtOnce: 0, webSessionsAtOnce: 0 }
const MAINTENANCE: WorkspaceQuotas = { ...NOTHING, closed: 'maintenance' }

/**
 * The quotas as the workspace itself and the operator set them, with the instance's bound on web sessions; the lower counts.
 * A workspace that is suspended, or has used up its month, has room for nothing, and none has in maintenance. Read anew each time.
 */
export function storedQuotas(store: Store, limits: { webSessionsPerWorkspace: number | null }): QuotaSource {
  const ofWorkspaces = async (ids: readonly string[]) => {
    if (ids.length === 0) return new Map<string, WorkspaceQuotas>()
    const rows = await store.global
      .selectFrom('workspaces')
      .leftJoin('workspace_quotas', 'workspace_quotas.workspace_id', 'workspaces.id')
      .select(['workspaces.id', 'max_concurrent_calls', 'suspended_at', 'calls_at_once', 'web_sessions_at_once'])
      .select(['minutes_a_month', 'cost_usd_a_month'])
      .select((eb) => eb.selectFrom('instance_settings').select('maintenance_since').as('maintenance_since'))
      .where('workspaces.id', 'in', [...ids])
      .execute()
    const all = new Map(ids.map((id): [string, WorkspaceQuotas] => [id, NOTHING]))
    const each = rows.map(async ({ id, minutes_a_month, cost_usd_a_month, ...row }) => {
      if (row.maintenance_since !== null) all.set(id, MAINTENANCE)
      if (row.maintenance_since !== null || row.suspended_at !== null) return
      const limited = minutes_a_month !== null || cost_usd_a_month !== null
      if (limited && (await exhaustedQuota(store, id)) !== undefined) return
      all.set(id, {
        callsAtOnce: lower(row.max_concurrent_calls, row.calls_at_once),
        webSessionsAtOnce: lower(limits.webSessionsPerWorkspace, row.web_sessions_at_once),
      })
    })
    await Promise.all(each)
    return all
  }
  return {
    ofWorkspace: async (workspaceId) => (await ofWorkspaces([workspaceId])).get(workspaceId) ?? NOTHING,
    ofWorkspaces,
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
