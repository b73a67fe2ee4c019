import type { Store } from '../database/database.ts'

/** A webhook with deliveries that wait or failed. */
export interface StuckWebhook {
  id: string
  workspaceId: string
  url: string
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  /** Due, or under way. */
  due: number
  /** Their time has not come. */
  later: number
  /** Given up. */
  failed: number
  /** Of the last attempt that failed. */
  lastError: string | null
}

/** Those of all workspaces, or one; the ones with most that is due first. */
export async function stuckWebhooks(
  store: Pick<Store, 'pool'>,
  id: string | null,
  limit: number,
): Promise<StuckWebhook[]> {
  const { rows } = await store.pool.query<StuckWebhook>(
    `select w.id, w.workspace_id as "workspaceId", w.url, w.enabled, w.disabled_reason as "disabledReason",
       w.failing_since as "failingSince", d.due, d.later, d.failed, d.last_error as "lastError"
     from webhooks w cross join lateral (
       select count(*) filter (where status = 'pending' and next_attempt_at <= now())::int as due,
         count(*) filter (where status = 'pending' and next_attempt_at > now())::int as later,
         count(*) filter (where status = 'failed')::int as failed,
         (array_agg(error order by last_attempt_at desc) filter (where error is not null))[1] as last_error
       from webhook_deliveries where webhook_id = w.id and status <> 'delivered') d
     where ($1::uuid is null and d.due + d.later + d.failed > 0) or w.id = $1
     order by d.due desc, d.failed desc, w.id limit $2`,
    [id, limit],
  )
  return rows
}
