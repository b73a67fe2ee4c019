import { type Insertable, sql, type Updateable } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { isDuplicate, type Store } from '../database/database.ts'
import { freeSlug, slugOf } from '../database/free-slug.ts'
import { beyond, exactly, type ListPart } from '../database/list-place.ts'
import type { Campaign, CampaignsTable, ProspectList } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Campaigns as the API shows them. A deleted one is gone at once; its prospects are removed in pieces. */

export type CampaignFields = Omit<
  Insertable<CampaignsTable>,
  'id' | 'slug' | 'version' | 'created_at' | 'updated_at' | 'deleted_at' | 'pause_reason'
>

export type CampaignWithLists = Campaign & { lists: ProspectList[] }

const SLUG_ATTEMPTS = 20

/** Makes a campaign and its first list, both with the same slug. */
export async function insertCampaign(tenant: Tenant, fields: CampaignFields, now: Date): Promise<CampaignWithLists> {
  const base = slugOf(fields.name, 'campaign')
  for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt++) {
    try {
      return await tenant.db.transaction().execute(async (db) => {
        const slugs = await db
          .selectFrom('campaigns')
          .select('slug')
          .where('deleted_at', 'is', null)
          .where((eb) => eb.or([eb('slug', '=', base), eb('slug', 'like', `${base}-%`)]))
          .union(
            db
              .selectFrom('prospect_lists')
              .select('slug')
              .where('deleted_at', 'is', null)
              .where((eb) => eb.or([eb('slug', '=', base), eb('slug', 'like', `${base}-%`)])),
          )
          .execute()
        const slug = freeSlug(
          base,
          slugs.map((row) => row.slug),
        )
        const campaign = await db
          .insertInto('campaigns')
          .values({ ...fields, id: uuidv7(), slug, created_at: now, updated_at: now })
          .returningAll()
          .executeTakeFirstOrThrow()
        await db
          .insertInto('campaign_runs')
          .values({ campaign_id: campaign.id, next_tick_at: now, resumed_at: now })
          .execute()
        const list = await db
          .insertInto('prospect_lists')
          .values({ id: uuidv7(), campaign_id: campaign.id, slug, name: fields.name, created_at: now })
          .returningAll()
          .executeTakeFirstOrThrow()
        return { ...campaign, lists: [list] }
      })
    } catch (error) {
      if (!isDuplicate(error, 'campaigns_slug') && !isDuplicate(error, 'prospect_lists_slug')) throw error
    }
  }
  throw new PatchbayError('unavailable', { cause: new Error(`No free slug "${base}"`) })
}

export async function campaignBySlug(tenant: Tenant, slug: string): Promise<CampaignWithLists | undefined> {
  const campaign = await tenant.db
    .selectFrom('campaigns')
    .selectAll()
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (campaign === undefined) return undefined
  const [whole] = await withLists(tenant, [campaign])
  return whole
}

export function campaignById(tenant: Tenant, id: string): Promise<Campaign | undefined> {
  return tenant.db
    .selectFrom('campaigns')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Newest first. */
export async function listCampaigns(
  tenant: Tenant,
  filter: { email?: string | undefined; updatedSince?: Date | undefined },
  part?: ListPart,
): Promise<{ campaigns: (CampaignWithLists & { sorted_by: string })[]; total: number }> {
  const matching = () => {
    let query = tenant.db.selectFrom('campaigns').where('deleted_at', 'is', null)
    if (filter.updatedSince !== undefined) query = query.where('updated_at', '>=', filter.updatedSince)
    return filter.email === undefined ? query : query.where(sql`lower(email)`, '=', sql<string>`lower(${filter.email})`)
  }
  let query = matching()
    .selectAll()
    .select(exactly('created_at').as('sorted_by'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
  if (part?.after !== undefined) query = query.where(beyond('created_at', '<', part.after))
  if (part !== undefined) query = query.offset(part.offset).limit(part.limit)
  const campaigns = await withLists(tenant, await query.execute())
  if (part === undefined) return { campaigns, total: campaigns.length }
  const { total } = await matching()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { campaigns, total }
}

async function withLists<T extends Campaign>(
  tenant: Tenant,
  campaigns: readonly T[],
): Promise<(T & Pick<CampaignWithLists, 'lists'>)[]> {
  if (campaigns.length === 0) return []
  const lists = await tenant.db
    .selectFrom('prospect_lists')
    .selectAll()
    .where(
      'campaign_id',
      'in',
      campaigns.map(({ id }) => id),
    )
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return campaigns.map((campaign) => ({ ...campaign, lists: lists.filter((list) => list.campaign_id === campaign.id) }))
}

/**
 * Changes a campaign. Its version counts up, so that no tick goes by the former one; once this has returned, no call of the
 * campaign is dialled by the former one either, because a dial holds the row while it is committed.
 */
export async function updateCampaign(
  tenant: Tenant,
  slug: string,
  changes: Omit<Updateable<CampaignsTable>, 'id' | 'slug' | 'version'>,
  now: Date,
): Promise<boolean> {
  const resumed = changes.paused === false || changes.active === true
  return tenant.db.transaction().execute(async (db) => {
    const row = await db
      .updateTable('campaigns')
      .set({ ...changes, version: sql<number>`version + 1`, updated_at: now })
      .where('slug', '=', slug)
      .where('deleted_at', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (row === undefined) return false
    // Any change may make prospects callable: run the next tick now.
    await db
      .updateTable('campaign_runs')
      .set({ next_tick_at: now, ...(resumed ? { resumed_at: now } : {}) })
      .where('campaign_id', '=', row.id)
      .execute()
    return true
  })
}

/** Pauses or resumes; a pause that is there already keeps its reason. */
export function pauseCampaign(
  tenant: Tenant,
  slug: string,
  paused: boolean,
  now: Date,
  reason: string | null = null,
): Promise<boolean> {
  return updateCampaign(tenant, slug, { paused, pause_reason: reason }, now)
}

/** Deletes the campaign and its lists; `running` while calls are under way. */
export function deleteCampaign(tenant: Tenant, slug: string, now: Date): Promise<'deleted' | 'running' | 'unknown'> {
  return tenant.db.transaction().execute(async (db) => {
    const campaign = await db
      .selectFrom('campaigns')
      .select('id')
      .where('slug', '=', slug)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (campaign === undefined) return 'unknown'
    const open = await db
      .selectFrom('prospect_attempts')
      .select('id')
      .where('campaign_id', '=', campaign.id)
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst()
    if (open !== undefined) return 'running'
    await db
      .updateTable('campaigns')
      .set({ deleted_at: now, active: false, version: sql<number>`version + 1` })
      .where('id', '=', campaign.id)
      .execute()
    await db.updateTable('prospect_lists').set({ deleted_at: now }).where('campaign_id', '=', campaign.id).execute()
    return 'deleted'
  })
}

const ROWS_A_STATEMENT = 5_000

/** Removes what deleted campaigns and lists leave behind, some thousand rows a call. Returns how many. */
export async function purgeCampaigns(store: Store): Promise<number> {
  const { rowCount } = await store.pool.query(
    `delete from prospects where ctid = any (array(
       select p.ctid from prospects p
       where p.list_id in (select id from prospect_lists where deleted_at is not null limit 100)
         and p.campaign_id in (select campaign_id from prospect_lists where deleted_at is not null limit 100)
         and p.status <> 'calling'
       limit ${ROWS_A_STATEMENT}))`,
  )
  if ((rowCount ?? 0) > 0) return rowCount ?? 0
  const gone = `select id from prospect_lists l where deleted_at is not null
    and not exists (select from prospects p where p.campaign_id = l.campaign_id and p.list_id = l.id)`
  const { rows } = await store.pool.query<{ id: string }>(`${gone} limit 100`)
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) {
    await store.pool.query('delete from prospect_uploads where list_id = any ($1)', [ids])
    await store.pool.query('delete from prospect_counts where list_id = any ($1)', [ids])
    await store.pool.query('delete from prospect_lists where id = any ($1)', [ids])
  }
  const ended = await store.pool.query(
    `with ended as (
       delete from campaigns c where deleted_at is not null
         and not exists (select from prospect_lists l where l.campaign_id = c.id) returning id
     ), counts as (delete from campaign_call_counts where campaign_id in (select id from ended))
     select from ended`,
  )
  return ids.length + (ended.rowCount ?? 0)
}
