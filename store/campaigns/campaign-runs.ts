import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { Campaign } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from '../events/workspace-events.ts'

/**
 * Whose turn it is. One process gets a campaign's tick; one that dies costs the campaign that tick. No tick is more than 15 s away:
 * one that is was written by a clock that ran ahead.
 */
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
       where (due.next_tick_at <= $1 or due.next_tick_at > $1::timestamptz + interval '1 minute') and ((dc.active and not dc.paused) or exists (
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

/** A call-back this long overdue counts as missed. */
const CALL_BACK_GRACE_MS = 15 * 60_000
const MOST_WORKSPACES = 100
const MOST_MISSED = 500

/** Tells of promised call backs that were not made in time, each once; of campaigns that rest, too. */
export async function tellMissedCallBacks(store: Store, now: Date): Promise<void> {
  const before = new Date(now.getTime() - CALL_BACK_GRACE_MS)
  const { rows } = await store.pool.query<{ workspace_id: string }>(
    `select distinct workspace_id from prospects
     where status = 'waiting' and call_back_at < $1 and call_back_missed_at is null limit ${MOST_WORKSPACES}`,
    [before],
  )
  for (const { workspace_id } of rows) await tellMissedOf(store.tenant(workspace_id), before, now)
}

async function tellMissedOf(tenant: Tenant, before: Date, now: Date): Promise<void> {
  await tenant.db.transaction().execute(async (db) => {
    const missed = await db
      .selectFrom('prospects')
      .innerJoin('campaigns', 'campaigns.id', 'prospects.campaign_id')
      .select([
        ...(['prospects.id', 'prospects.list_id', 'prospects.phone', 'prospects.call_back_at'] as const),
        ...(['prospects.held_sentence', 'campaigns.slug', 'campaigns.paused', 'campaigns.active'] as const),
      ])
      .where('prospects.status', '=', 'waiting')
      .where('call_back_at', '<', before)
      .where('call_back_missed_at', 'is', null)
      .limit(MOST_MISSED)
      .forUpdate('prospects')
      .skipLocked()
      .execute()
    for (const { id, list_id, phone, call_back_at, held_sentence, slug, paused, active } of missed) {
      await db.updateTable('prospects').set({ call_back_missed_at: now }).where('id', '=', id).execute()
      const resting = !active ? 'The campaign is not active' : paused ? 'The campaign is paused' : undefined
      await publishEvent(
        { ...tenant, db },
        {
          type: 'prospect.callback_missed',
          subject: id,
          data: {
            ...{ uuid: id, list_uuid: list_id, campaign: slug, primary_phone: phone },
            call_back_at: call_back_at?.toISOString() ?? '',
            reason: resting ?? held_sentence ?? 'No agent or source number was free, or the hours were over',
          },
        },
      )
    }
  })
}

/** Records whether prospects are left to call; completion is published once. */
export async function noteCompletion(tenant: Tenant, campaign: Campaign, completed: boolean, now: Date): Promise<void> {
  await tenant.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('campaign_runs')
      .set({ completed_at: completed ? now : null })
      .where('campaign_id', '=', campaign.id)
      .where('completed_at', completed ? 'is' : 'is not', null)
      .executeTakeFirst()
    if (!completed || numUpdatedRows === 0n) return
    const { id: subject, agent_id: agentId, slug, name, active, paused, pause_reason } = campaign
    const data = { slug, name, active, paused, pause_reason }
    await publishEvent({ ...tenant, db }, { type: 'campaign.completed', subject, agentId, data })
  })
}

/** Call backs that were promised and are still to be made: how many, and how many of them are late. */
export function callBacks(tenant: Tenant, campaignId: string) {
  return tenant.db
    .selectFrom('prospects')
    .select([
      sql<number>`count(*)::int`.as('promised'),
      sql<number>`(count(*) filter (where call_back_missed_at is not null))::int`.as('missed'),
    ])
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'waiting')
    .where('call_back_at', 'is not', null)
}
