import type { Store } from '../database/database.ts'
import type { BatchStatus } from './tables.ts'

/** A batch that is not over, or was lately. */
export interface OpenBatch {
  id: string
  workspaceId: string
  name: string
  status: BatchStatus
  scheduledAt: Date | null
  total: number
  /** Rows that were called, with what came of them. */
  completed: number
  failed: number
  /** Rows whose call is under way. */
  running: number
}

/** Those of all workspaces, or one; newest first. */
export async function openBatches(store: Pick<Store, 'pool'>, id: string | null, limit: number): Promise<OpenBatch[]> {
  const { rows } = await store.pool.query<OpenBatch>(
    `select b.id, b.workspace_id as "workspaceId", b.name, b.status, b.scheduled_time as "scheduledAt",
       b.total, b.completed, b.failed,
       (select count(*)::int from calls c where c.batch_id = b.id and c.status in ('queued', 'ringing', 'in_progress'))
         as running
     from batches b
     where ($1::uuid is null and b.status not in ('completed', 'canceled')) or b.id = $1
     order by b.id desc limit $2`,
    [id, limit],
  )
  return rows
}
