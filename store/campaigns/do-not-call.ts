import { sql } from 'kysely'
import { exactly, type ListPart } from '../database/list-place.ts'
import type { DoNotCall } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Numbers the workspace never calls. */

interface NewDoNotCall {
  phone: string
  reason: string
  source: DoNotCall['source']
  callId?: string
  words?: string
}

/**
 * Adds numbers; one that is there keeps its first entry, unless a call gives evidence. Prospects of all campaigns that wait
 * with such a number are resolved with it. Returns the entries as they are now.
 */
export function addDoNotCall(tenant: Tenant, entries: readonly NewDoNotCall[], now: Date): Promise<DoNotCall[]> {
  const unique = [...new Map(entries.map((entry) => [entry.phone, entry])).values()].sort((a, b) =>
    a.phone < b.phone ? -1 : 1,
  )
  if (unique.length === 0) return Promise.resolve([])
  const phones = unique.map(({ phone }) => phone)
  return tenant.db.transaction().execute(async (db) => {
    await db
      .insertInto('do_not_call')
      .values(
        unique.map(({ phone, reason, source, callId, words }) => ({
          phone,
          reason,
          source,
          call_id: callId ?? null,
          words: words ?? null,
          created_at: now,
        })),
      )
      .onConflict((conflict) => conflict.columns(['workspace_id', 'phone']).doNothing())
      .execute()
    await db
      .updateTable('prospects')
      .set({ status: 'resolved', resolution: 'do_not_call', next_attempt_at: null, call_back_at: null })
      .where('phone', 'in', phones)
      .where('status', '=', 'waiting')
      .execute()
    return db.selectFrom('do_not_call').selectAll().where('phone', 'in', phones).orderBy('phone').execute()
  })
}

/** Takes a number off; prospects that its entry alone had resolved wait again. False: it was not there. */
export function removeDoNotCall(tenant: Tenant, phone: string): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db.deleteFrom('do_not_call').where('phone', '=', phone).executeTakeFirst()
    if (numDeletedRows === 0n) return false
    await db
      .updateTable('prospects')
      .set({ status: 'waiting', resolution: null })
      .where('phone', '=', phone)
      .where('status', '=', 'resolved')
      .where('resolution', '=', 'do_not_call')
      .where('disposition', 'is distinct from', 'declined')
      .execute()
    return true
  })
}

export async function isOnDoNotCall(tenant: Tenant, phone: string): Promise<boolean> {
  const row = await tenant.db.selectFrom('do_not_call').select('phone').where('phone', '=', phone).executeTakeFirst()
  return row !== undefined
}

export interface DoNotCallFilter {
  /** A part of the number or of the reason. */
  q?: string | undefined
  /** Added then or later. */
  since?: Date | undefined
}

/** Newest first, those of one moment, such as of a file, by their numbers. `sorted_by`: the moment. */
export async function doNotCallPage(
  tenant: Tenant,
  filter: DoNotCallFilter,
  { offset, limit, after }: ListPart,
): Promise<{ entries: (DoNotCall & { sorted_by: string })[]; total: number }> {
  const matching = () => {
    let query = tenant.db.selectFrom('do_not_call')
    const { q = '', since } = filter
    if (since !== undefined) query = query.where('created_at', '>=', since)
    if (q === '') return query
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
    return query.where((eb) => eb.or([eb('phone', 'like', pattern), eb('reason', 'ilike', pattern)]))
  }
  const rows = () => matching().selectAll().select(exactly('created_at').as('sorted_by')).limit(limit)
  const newestFirst = () => rows().orderBy('created_at', 'desc').orderBy('phone')
  const reading = async () => {
    if (after === undefined) return newestFirst().offset(offset).execute()
    // A moment may have a million: each part is a range of the index.
    const at = sql<Date>`${after.at}::timestamptz`
    const ofMoment = await rows().where('created_at', '=', at).where('phone', '>', after.id).orderBy('phone').execute()
    if (ofMoment.length === limit) return ofMoment
    const older = await newestFirst().where('created_at', '<', at).execute()
    return [...ofMoment, ...older].slice(0, limit)
  }
  const [entries, { total }] = await Promise.all([
    reading(),
    matching().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
  ])
  return { entries, total }
}
