import { type Kysely, sql } from 'kysely'
import type { AllTables } from '../database/schema.ts'

/** Which workspace an address of trunks belongs to: see api/trunks/address-policy.ts. */

/** How long an address stays a trunk's after its host last resolved to it. */
const KEPT = '7 days'

/** One claim at a time is looked at and written: two workspaces that ask for one address at once don't both get it. */
export async function lockTrunkAddresses(db: Kysely<AllTables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('addresses of trunks', 0))`.execute(db)
}

/** Names that trunks of other workspaces which are not deleted call their hosts and proxies by, of these, in lower case. */
export async function hopsOfOthers(
  db: Kysely<AllTables>,
  workspaceId: string,
  hops: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ hop: string }>`
    select distinct hop from (
      select regexp_replace(lower(t.host), '\\.?(:[0-9]+)?$', '') as hop, t.workspace_id from trunks t
      union all
      select regexp_replace(lower(t.settings->>'outbound_proxy'), '\\.?(:[0-9]+)?$', ''), t.workspace_id from trunks t
    ) as named
    join workspaces w on w.id = named.workspace_id and w.deleted_at is null
    where named.workspace_id <> ${workspaceId} and hop = any(${hops as string[]}::text[])
  `.execute(db)
  return rows.map(({ hop }) => hop)
}

/** Of these addresses and ranges, those that overlap an address of another workspace which is not deleted. */
export async function addressesOfOthers(
  db: Kysely<AllTables>,
  workspaceId: string,
  ranges: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ range: string }>`
    select asked.range from unnest(${ranges as string[]}::text[]) as asked (range)
    where exists (
      select 1 from trunk_addresses a join workspaces w on w.id = a.workspace_id and w.deleted_at is null
      where a.workspace_id <> ${workspaceId} and a.address && asked.range::inet
        and (a.listed or a.seen_at > now() - ${KEPT}::interval)
    )
  `.execute(db)
  return rows.map(({ range }) => range)
}

export interface TrunkAddress {
  readonly trunkId: string
  readonly address: string
  readonly listed: boolean
  readonly seenAt: Date
}

/** What the trunks of a workspace have. */
export async function addressesOfWorkspace(db: Kysely<AllTables>, workspaceId: string): Promise<TrunkAddress[]> {
  const rows = await db
    .selectFrom('trunk_addresses')
    .select(['trunk_id', sql<string>`address::text`.as('address'), 'listed', 'seen_at'])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`(listed or seen_at > now() - ${KEPT}::interval)`)
    .execute()
  return rows.map(({ trunk_id, address, listed, seen_at }) => ({ trunkId: trunk_id, address, listed, seenAt: seen_at }))
}

/** Puts what a trunk lists and resolved to in the place of what it had. */
export async function replaceTrunkAddresses(
  db: Kysely<AllTables>,
  trunk: { id: string; workspaceId: string },
  addresses: { listed: readonly string[]; resolved: readonly string[] },
): Promise<void> {
  await db.deleteFrom('trunk_addresses').where('trunk_id', '=', trunk.id).execute()
  await insertAddresses(db, trunk, addresses.listed, true)
  await insertAddresses(db, trunk, addresses.resolved, false)
}

/** A trunk's host resolves to these now. What it has not resolved to for a week is free again. */
export async function noteResolved(
  db: Kysely<AllTables>,
  trunk: { id: string; workspaceId: string },
  addresses: readonly string[],
): Promise<void> {
  await insertAddresses(db, trunk, addresses, false)
  await sql`
    delete from trunk_addresses
    where trunk_id = ${trunk.id} and not listed and seen_at < now() - ${KEPT}::interval
  `.execute(db)
}

async function insertAddresses(
  db: Kysely<AllTables>,
  trunk: { id: string; workspaceId: string },
  addresses: readonly string[],
  listed: boolean,
): Promise<void> {
  if (addresses.length === 0) return
  await sql`
    insert into trunk_addresses (trunk_id, workspace_id, address, listed)
    select t.id, t.workspace_id, asked.address::inet, ${listed}
    from trunks t, unnest(${[...new Set(addresses)]}::text[]) as asked (address)
    where t.id = ${trunk.id} and t.workspace_id = ${trunk.workspaceId}
    on conflict (trunk_id, address) do update set seen_at = now()
  `.execute(db)
}
