import type { Store } from './database.ts'
import type { Tenant } from './tenant.ts'

/** Whose turn it is. One process gets a campaign's tick; one that dies costs the campaign that tick. */
export async function dueCampaigns(
  store: Store,
  now: Date,
  limit: number,
): Promise<{ campaign_id: string; workspace_id: string }[]> {
  const { rows } = await store.pool.query<{ campaign_id: string; workspace_id: string }>(
    `update campaign_runs r set next_tick_at = $1::timestamptz + make_interval(secs => c.dialer_interval)
     from campaigns c
     where c.id = r.campaign_id and r.campaign_id in (
       select due.campaign_id from campaign_runs due
       join campaigns dc on dc.id = due.campaign_id and dc.deleted_at is null
       join workspaces w on w.id = due.workspace_id and w.deleted_at is null
       where due.next_tick_at <= $1 and ((dc.active and not dc.paused) or exists (
         select from prospect_attempts a where a.campaign_id = dc.id and a.ended_at is null))
       order by due.next_tick_at limit $2 for update of due skip locked)
     returning r.campaign_id, r.workspace_id`,
    [now, limit],
  )
  return rows
}

export async function writeLastTick(tenant: Tenant, campaignId: string, tick: object): Promise<void> {
  await tenant.db
    .updateTable('campaign_runs')
    .set({ last_tick: JSON.stringify(tick) })
    .where('campaign_id', '=', campaignId)
    .execute()
}
