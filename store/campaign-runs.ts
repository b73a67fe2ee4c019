import { sql } from 'kysely'
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

/** So long after its time a call back was promised in vain. */
const CALL_BACK_GRACE_MS = 15 * 60_000

/** Notes which promised call backs were not made in time; each is told once, of campaigns that rest, too. */
export async function noteMissedCallBacks(store: Pick<Store, 'pool'>, now: Date): Promise<void> {
  await store.pool.query(
    `update prospects set call_back_missed_at = $1
     where status = 'waiting' and call_back_at < $2 and call_back_missed_at is null`,
    [now, new Date(now.getTime() - CALL_BACK_GRACE_MS)],
  )
}

/** Notes whether anybody is left to call; that nobody is any more is told once. */
export async function noteCompletion(tenant: Tenant, campaignId: string, completed: boolean, now: Date): Promise<void> {
  await tenant.db
    .updateTable('campaign_runs')
    .set({ completed_at: completed ? now : null })
    .where('campaign_id', '=', campaignId)
    .where('completed_at', completed ? 'is' : 'is not', null)
    .execute()
}

/** Call backs that were promised and are still to be made: how many, and how many of them are late. */
export async function callBacksOf(tenant: Tenant, campaignId: string): Promise<{ promised: number; missed: number }> {
  const row = await tenant.db
    .selectFrom('prospects')
    .select([
      sql<number>`count(*)::int`.as('promised'),
      sql<number>`(count(*) filter (where call_back_missed_at is not null))::int`.as('missed'),
    ])
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'waiting')
    .where('call_back_at', 'is not', null)
    .executeTakeFirst()
  return row ?? { promised: 0, missed: 0 }
}
