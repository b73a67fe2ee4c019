import { type Insertable, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import { beyond, exactly, type ListOrder, type ListPart } from '../database/list-place.ts'
import type { Campaign, Prospect, ProspectAttempt, ProspectStatus, ProspectsTable } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from '../events/workspace-events.ts'

/** Prospects as the API shows them; store/campaigns/prospect-claims.ts calls them. */

type NewProspect = Omit<Insertable<ProspectsTable>, 'id' | 'campaign_id' | 'list_id' | 'created_at' | 'expires_at'>

const DAY_MS = 86_400_000

/** Held while prospects of a campaign are added, so that a number that comes twice at once counts once. */
const lockLoading = (campaignId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`prospects of ${campaignId}`}, 0))`

/** When a prospect that came then expires; null: never. */
export function expiryOf(expireDays: number, cameAt: Date): Date | null {
  return expireDays < 0 ? null : new Date(cameAt.getTime() + expireDays * DAY_MS)
}

/** Adds one, unless its number is a duplicate by the campaign's rule or on the do-not-call list. */
export function insertProspect(
  tenant: Tenant,
  of: { campaign: Campaign; listId: string },
  prospect: NewProspect,
  now: Date,
): Promise<Prospect | 'duplicate' | 'do_not_call'> {
  const { campaign, listId } = of
  return tenant.db.transaction().execute(async (db) => {
    await lockLoading(campaign.id).execute(db)
    const refused = await db
      .selectFrom('do_not_call')
      .select('phone')
      .where('phone', '=', prospect.phone)
      .executeTakeFirst()
    if (refused !== undefined) return 'do_not_call'
    if (campaign.dupe_days >= 0) {
      const same = await db
        .selectFrom('prospects')
        .select('id')
        .where('phone', '=', prospect.phone)
        .where('campaign_id', '=', campaign.id)
        .where('created_at', '>', new Date(now.getTime() - campaign.dupe_days * DAY_MS))
        .limit(1)
        .executeTakeFirst()
      if (same !== undefined) return 'duplicate'
    }
    const made = await db
      .insertInto('prospects')
      .values({
        ...prospect,
        id: uuidv7(),
        campaign_id: campaign.id,
        list_id: listId,
        created_at: now,
        expires_at: expiryOf(campaign.expire_days, now),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await publishEvent(
      { workspaceId: tenant.workspaceId, db },
      { type: 'prospect.added', subject: made.id, data: { ...made, campaign: campaign.slug } },
    )
    return made
  })
}

export function prospectById(tenant: Tenant, id: string): Promise<Prospect | undefined> {
  return tenant.db.selectFrom('prospects').selectAll().where('id', '=', id).executeTakeFirst()
}

/** With the version of the agent that talked in each. */
export function attemptsOf(
  tenant: Tenant,
  prospectId: string,
): Promise<(ProspectAttempt & { agent_version: number | null })[]> {
  return tenant.db
    .selectFrom('prospect_attempts')
    .leftJoin('calls', 'calls.id', 'prospect_attempts.call_id')
    .selectAll('prospect_attempts')
    .select('calls.agent_version')
    .where('prospect_attempts.prospect_id', '=', prospectId)
    .orderBy('n')
    .execute()
}

/** Calls a waiting prospect at a time of its own, or cancels it. False while it is being called, or when it is resolved. */
export async function changeProspect(
  tenant: Tenant,
  id: string,
  change: { nextAttemptAt: Date | null } | { resolution: 'canceled' },
): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('prospects')
    .set(
      'resolution' in change
        ? { status: 'resolved', resolution: change.resolution, next_attempt_at: null, call_back_at: null }
        : { next_attempt_at: change.nextAttemptAt, call_back_at: change.nextAttemptAt, call_back_missed_at: null },
    )
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False while it is being called. Its attempts stay: they bind the number. */
export async function deleteProspect(tenant: Tenant, id: string): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('prospects')
      .where('id', '=', id)
      .where('status', '!=', 'calling')
      .executeTakeFirst()
    return numDeletedRows > 0n
  })
}

export interface ProspectFilter {
  campaignId: string
  status?: ProspectStatus | undefined
  resolution?: string | undefined
  /** A part of number, name or external id. */
  q?: string | undefined
  /** Waiting ones of these window groups. */
  windowGroups?: readonly number[] | undefined
  /** Waiting ones without a time of consent. */
  unasked?: boolean | undefined
  /** Waiting ones whose next attempt is later than this. */
  notBefore?: Date | undefined
  /** Waiting ones of lists that are not dialled. */
  inactiveList?: boolean | undefined
  /** Waiting ones that the dialer held for this reason when it last looked. */
  heldReason?: string | undefined
  updatedSince?: Date | undefined
}

function matching(tenant: Tenant, filter: ProspectFilter) {
  let query = tenant.db.selectFrom('prospects').where('campaign_id', '=', filter.campaignId)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  if (filter.resolution !== undefined) query = query.where('resolution', '=', filter.resolution)
  if (filter.windowGroups !== undefined) {
    query = query.where(sql<boolean>`window_group = any (${[...filter.windowGroups]}::integer[])`)
  }
  if (filter.unasked) query = query.where('consent_at', 'is', null)
  if (filter.notBefore !== undefined) query = query.where('next_attempt_at', '>', filter.notBefore)
  if (filter.inactiveList) {
    query = query.where((eb) =>
      eb(
        'list_id',
        'in',
        eb
          .selectFrom('prospect_lists')
          .select('prospect_lists.id')
          .where('prospect_lists.campaign_id', '=', filter.campaignId)
          .where('active', '=', false),
      ),
    )
  }
  if (filter.updatedSince !== undefined) query = query.where('updated_at', '>=', filter.updatedSince)
  if (filter.heldReason !== undefined) query = query.where('held_reason', '=', filter.heldReason)
  if (filter.q !== undefined && filter.q !== '') {
    const pattern = `%${filter.q.replace(/[\\%_]/g, '\\$&')}%`
    query = query.where((eb) =>
      eb.or([
        eb('phone', 'like', pattern),
        eb('first_name', 'ilike', pattern),
        eb('last_name', 'ilike', pattern),
        eb('external_id', 'ilike', pattern),
      ]),
    )
  }
  return query
}

const SORTED_BY = {
  name: [sql`lower(first_name)`, sql`lower(last_name)`],
  attempts: [sql`attempts`],
  next_attempt_at: [sql`next_attempt_at`],
} as const

/** In the order they came, with `updatedSince` in that in which they changed, or as `order` says. */
export async function prospectsPage(
  tenant: Tenant,
  filter: ProspectFilter,
  page: ListPart,
  order?: ListOrder<keyof typeof SORTED_BY>,
): Promise<{ prospects: (Prospect & { sorted_by: string })[]; total: number }> {
  const { campaignId, status, resolution, ...others } = filter
  const counted = Object.values(others).every((value) => value === undefined)
  const { after, limit } = page
  const byChange = filter.updatedSince !== undefined
  let query = matching(tenant, filter).selectAll().select(exactly('updated_at').as('sorted_by')).limit(limit)
  if (after === undefined) query = query.offset(page.offset)
  else query = byChange ? query.where(beyond('updated_at', '>', after)) : query.where('id', '>', after.id)
  for (const term of order === undefined ? [] : SORTED_BY[order.by]) {
    query = query.orderBy(sql`${term} ${sql.raw(order?.direction ?? 'asc')} nulls last`)
  }
  const ordered = byChange ? query.orderBy('updated_at').orderBy('id') : query.orderBy('id')
  const [prospects, total] = await Promise.all([
    ordered.execute(),
    counted ? countKept(tenant, filter) : countRows(tenant, filter),
  ])
  return { prospects, total }
}

async function countRows(tenant: Tenant, filter: ProspectFilter): Promise<number> {
  const { n } = await matching(tenant, filter)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

const WAITING = ['fresh', 'fresh_unasked', 'retry', 'retry_unasked']

async function countKept(tenant: Tenant, { campaignId, status, resolution }: ProspectFilter): Promise<number> {
  let query = tenant.db
    .selectFrom('prospect_counts')
    .select(sql<number>`coalesce(sum(n), 0)::bigint`.as('n'))
    .where('campaign_id', '=', campaignId)
  if (resolution !== undefined) query = query.where('bucket', '=', resolution)
  if (status === 'waiting') query = query.where('bucket', 'in', WAITING)
  if (status === 'calling') query = query.where('bucket', '=', 'calling')
  if (status === 'resolved') query = query.where('bucket', 'not in', [...WAITING, 'calling'])
  const { n } = await query.executeTakeFirstOrThrow()
  return n
}

const ROWS_PER_QUERY = 500

/** All of a filter, a few hundred at a time. */
export async function* eachProspect(
  tenant: Tenant,
  filter: ProspectFilter,
  signal: AbortSignal,
): AsyncGenerator<Prospect[]> {
  let last: string | undefined
  do {
    signal.throwIfAborted()
    let query = matching(tenant, filter).selectAll().orderBy('id').limit(ROWS_PER_QUERY)
    if (last !== undefined) query = query.where('id', '>', last)
    const rows = await query.execute()
    if (rows.length > 0) yield rows
    last = rows.length === ROWS_PER_QUERY ? rows[rows.length - 1]?.id : undefined
  } while (last !== undefined)
}

/**
 * Resolves what has waited too long, in all workspaces, some thousand a call. `expires_at` says when to look; the campaign's `expire_days`
 * of now decides.
 */
export async function expireProspects(store: Pick<Store, 'pool'>, now: Date): Promise<number> {
  const { rowCount } = await store.pool.query(
    `with seen as (
       select p.id, case when c.expire_days >= 0 then p.created_at + c.expire_days * interval '24 hours' end as expires_at
       from prospects p join campaigns c on c.id = p.campaign_id
       where p.status = 'waiting' and p.expires_at <= $1 limit 2000 for update of p skip locked
     )
     update prospects p set expires_at = seen.expires_at,
       status = case when seen.expires_at <= $1 then 'resolved' else p.status end,
       resolution = case when seen.expires_at <= $1 then 'expired' end,
       next_attempt_at = case when seen.expires_at <= $1 then null else p.next_attempt_at end,
       call_back_at = case when seen.expires_at <= $1 then null else p.call_back_at end
     from seen where p.id = seen.id`,
    [now],
  )
  return rowCount ?? 0
}
