import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { isDuplicate } from '../database/database.ts'
import { freeSlug, slugOf } from '../database/free-slug.ts'
import type { ProspectList } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

export interface ListWithCounts extends ProspectList {
  campaign_slug: string
  prospects: number
  unresolved: number
}

const SLUG_ATTEMPTS = 20
const UNRESOLVED = ['fresh', 'fresh_unasked', 'retry', 'retry_unasked', 'calling']

export async function insertList(
  tenant: Tenant,
  list: { campaignId: string; name: string },
  now: Date,
): Promise<ProspectList> {
  const base = slugOf(list.name, 'list')
  for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt++) {
    const taken = await tenant.db
      .selectFrom('prospect_lists')
      .select('slug')
      .where('deleted_at', 'is', null)
      .where((eb) => eb.or([eb('slug', '=', base), eb('slug', 'like', `${base}-%`)]))
      .execute()
    const slug = freeSlug(
      base,
      taken.map((row) => row.slug),
    )
    try {
      return await tenant.db
        .insertInto('prospect_lists')
        .values({ id: uuidv7(), campaign_id: list.campaignId, slug, name: list.name, created_at: now })
        .returningAll()
        .executeTakeFirstOrThrow()
    } catch (error) {
      if (!isDuplicate(error, 'prospect_lists_slug')) throw error
    }
  }
  throw new PatchbayError('unavailable', { cause: new Error(`No free slug "${base}"`) })
}

/** Lists of a campaign, or of the workspace, oldest first. */
export function listsOf(tenant: Tenant, campaignId?: string): Promise<ListWithCounts[]> {
  let query = selectLists(tenant).orderBy('prospect_lists.id')
  if (campaignId !== undefined) query = query.where('prospect_lists.campaign_id', '=', campaignId)
  return query.execute()
}

export function listBySlug(tenant: Tenant, slug: string): Promise<ListWithCounts | undefined> {
  return selectLists(tenant).where('prospect_lists.slug', '=', slug).executeTakeFirst()
}

export function listById(tenant: Tenant, id: string): Promise<ListWithCounts | undefined> {
  return selectLists(tenant).where('prospect_lists.id', '=', id).executeTakeFirst()
}

function selectLists(tenant: Tenant) {
  return tenant.db
    .selectFrom('prospect_lists')
    .innerJoin('campaigns', 'campaigns.id', 'prospect_lists.campaign_id')
    .selectAll('prospect_lists')
    .select('campaigns.slug as campaign_slug')
    .select((eb) => [
      eb
        .selectFrom('prospect_counts')
        .select(sql<number>`coalesce(sum(n), 0)::bigint`.as('n'))
        .whereRef('prospect_counts.campaign_id', '=', 'campaigns.id')
        .whereRef('prospect_counts.list_id', '=', 'prospect_lists.id')
        .$asScalar()
        .$notNull()
        .as('prospects'),
      eb
        .selectFrom('prospect_counts')
        .select(sql<number>`coalesce(sum(n), 0)::bigint`.as('n'))
        .whereRef('prospect_counts.campaign_id', '=', 'campaigns.id')
        .whereRef('prospect_counts.list_id', '=', 'prospect_lists.id')
        .where('bucket', 'in', UNRESOLVED)
        .$asScalar()
        .$notNull()
        .as('unresolved'),
    ])
    .where('prospect_lists.deleted_at', 'is', null)
}

/** Renames a list, or lets it be dialled or not. A change holds from the next tick on. */
export function updateList(
  tenant: Tenant,
  list: { id: string; campaign_id: string },
  changes: { name?: string; active?: boolean },
  now: Date,
): Promise<void> {
  return tenant.db.transaction().execute(async (db) => {
    if (Object.keys(changes).length > 0) {
      await db.updateTable('prospect_lists').set(changes).where('id', '=', list.id).execute()
    }
    await db
      .updateTable('campaigns')
      .set({ version: sql<number>`version + 1` })
      .where('id', '=', list.campaign_id)
      .execute()
    await db
      .updateTable('campaign_runs')
      .set({ next_tick_at: now })
      .where('campaign_id', '=', list.campaign_id)
      .execute()
  })
}

/** False while a prospect of the list is being called. Its prospects are removed in pieces. */
export function deleteList(tenant: Tenant, list: { id: string; campaign_id: string }, now: Date): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    // Claims hold the campaign's row: none begins between the look and the mark.
    await db
      .updateTable('campaigns')
      .set({ version: sql<number>`version + 1` })
      .where('id', '=', list.campaign_id)
      .execute()
    const { calling } = await db
      .selectFrom('prospect_counts')
      .select(sql<number>`coalesce(sum(n), 0)::bigint`.as('calling'))
      .where('campaign_id', '=', list.campaign_id)
      .where('list_id', '=', list.id)
      .where('bucket', '=', 'calling')
      .executeTakeFirstOrThrow()
    if (calling > 0) return false
    await db.updateTable('prospect_lists').set({ deleted_at: now }).where('id', '=', list.id).execute()
    return true
  })
}
