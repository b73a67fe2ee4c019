import { sql } from 'kysely'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { ROWS_PER_BLOCK } from '../batches/tables.ts'
import type { Store } from '../database/database.ts'
import type { Call } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Removes what a workspace keeps of calls and of people, for good. */

const CALLS_A_STATEMENT = 500
/** Where a batch's row had a number. */
const ERASED = 'erased'

/** Calls with all their data in the database. The node that has the files removes their recordings first. */
export async function eraseCalls(tenant: Tenant, callIds: readonly string[]): Promise<void> {
  for (let from = 0; from < callIds.length; from += CALLS_A_STATEMENT) {
    const ids = callIds.slice(from, from + CALLS_A_STATEMENT)
    await tenant.db.transaction().execute(async (db) => {
      await db.deleteFrom('call_events').where('call_id', 'in', ids).execute()
      await db.deleteFrom('call_ladders').where('call_id', 'in', ids).execute()
      await db.deleteFrom('call_turns').where('call_id', 'in', ids).execute()
      await db.deleteFrom('calls').where('id', 'in', ids).execute()
    })
  }
}

/** Calls from or to a number, of any status. */
export function callsWith(
  tenant: Tenant,
  phoneNumber: string,
  limit: number,
): Promise<Pick<Call, 'id' | 'status' | 'recording_key'>[]> {
  return tenant.db
    .selectFrom('calls')
    .select(['id', 'status', 'recording_key'])
    .where((eb) => eb.or([eb('from_number', '=', phoneNumber), eb('to_number', '=', phoneNumber)]))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Calls of one look: each look is a statement that ends soon, however many calls there are. */
const CALLS_A_LOOK = 2_000

/**
 * Of the next calls behind `afterId`, those whose variables or log name the number, such as one that a caller was transferred to.
 * @returns `lastId`: where to go on; undefined: there are no more
 */
export async function callsNaming(
  tenant: Tenant,
  phoneNumber: string,
  afterId: string | undefined,
): Promise<{ found: Pick<Call, 'id' | 'status' | 'recording_key'>[]; lastId: string | undefined }> {
  const named = `%${phoneNumber}%`
  let query = tenant.db
    .selectFrom('calls')
    .select(['id', 'status', 'recording_key'])
    .select((eb) =>
      eb
        .or([
          eb(sql<string>`dynamic_variables::text`, 'like', named),
          eb(sql<string>`metadata::text`, 'like', named),
          eb('external_id', 'like', named),
          eb.exists(
            eb
              .selectFrom('call_events as e')
              .select('e.call_id')
              .whereRef('e.call_id', '=', 'calls.id')
              .where(sql<string>`e.events::text`, 'like', named),
          ),
        ])
        .as('is_named'),
    )
    .orderBy('id')
    .limit(CALLS_A_LOOK)
  if (afterId !== undefined) query = query.where('id', '>', afterId)
  const rows = await query.execute()
  return {
    found: rows.filter(({ is_named }) => is_named).map(({ is_named: _, ...call }) => call),
    lastId: rows.length < CALLS_A_LOOK ? undefined : rows.at(-1)?.id,
  }
}

/** What receivers of webhooks answered, where it names the number. */
export async function eraseDeliveryAnswersWith(tenant: Tenant, phoneNumber: string): Promise<void> {
  const named = `%${phoneNumber}%`
  await tenant.db
    .updateTable('webhook_deliveries')
    .set({ response_body: null, error: null })
    .where((eb) => eb.or([eb('response_body', 'like', named), eb('error', 'like', named)]))
    .execute()
}

/** The number in the paths of the workspace's audit log; the rest of an entry can't be changed. */
export async function eraseAuditPathsWith(store: Store, workspaceId: string, phoneNumber: string): Promise<void> {
  await store.global.transaction().execute(async (db) => {
    await sql`select set_config('patchbay.audit_erasure', 'on', true)`.execute(db)
    for (const written of [phoneNumber, encodeURIComponent(phoneNumber)]) {
      await sql`update audit_log set resource = replace(resource, ${written}, ${ERASED})
        where workspace = ${workspaceId} and resource like ${`%${written}%`}`.execute(db)
    }
  })
}

/** Calls from or to the number that were turned away. */
export async function eraseRefusedCallsWith(tenant: Tenant, phoneNumber: string): Promise<void> {
  await tenant.db
    .deleteFrom('refused_calls')
    .where((eb) => eb.or([eb('from_number', '=', phoneNumber), eb('to_number', '=', phoneNumber)]))
    .execute()
}

/** Chats whose session or variables name the number. Returns how many there were. */
export async function eraseChatsWith(tenant: Tenant, phoneNumber: string): Promise<number> {
  const chats = await tenant.db
    .selectFrom('chats')
    .select('id')
    .where((eb) =>
      eb.or([
        eb('session_id', '=', phoneNumber),
        eb(sql<string>`dynamic_variables::text`, 'like', `%${JSON.stringify(phoneNumber)}%`),
      ]),
    )
    .execute()
  const ids = chats.map(({ id }) => id)
  if (ids.length > 0) {
    await tenant.db.deleteFrom('chat_messages').where('chat_id', 'in', ids).execute()
    await tenant.db.deleteFrom('chats').where('id', 'in', ids).execute()
  }
  return ids.length
}

/** Takes the number and everything beside it out of the rows of batches; such a row is never called. Returns how many. */
export async function eraseRowsWith(tenant: Tenant, phoneNumber: string): Promise<number> {
  const { rows: blocks } = await sql<{ batch_id: string; block: number; rows: string }>`
    select r.batch_id, r.block, r.rows from batch_rows r join batches b on b.id = r.batch_id
    where b.workspace_id = ${tenant.workspaceId} and r.rows like ${`%"${phoneNumber}"%`}`.execute(tenant.db)
  let erased = 0
  for (const { batch_id, block, rows } of blocks) {
    const kept = (JSON.parse(rows) as (string | null)[][]).map((row) => {
      if (!row.includes(phoneNumber)) return row
      erased++
      const cells = row.length - (row[0] === null ? 2 : 1)
      return [null, ERASED, ...Array<string>(cells).fill('')]
    })
    if (kept.length > ROWS_PER_BLOCK) throw new Error(`Block ${block} of batch "${batch_id}" has too many rows`)
    await sql`update batch_rows r set rows = ${JSON.stringify(kept)} from batches b
      where b.id = r.batch_id and b.workspace_id = ${tenant.workspaceId}
        and r.batch_id = ${batch_id} and r.block = ${block}`.execute(tenant.db)
  }
  return erased
}

/** Kept answers that name the number, or may: of sealed ones it is only kept that they were given. */
export async function eraseAnswersWith(tenant: Tenant, phoneNumber: string): Promise<void> {
  await tenant.db.deleteFrom('idempotency_keys').where('answer', 'like', `%"${phoneNumber}"%`).execute()
  await tenant.db.updateTable('idempotency_keys').set({ answer: null }).where('answer', 'like', 'v1.%').execute()
}

/**
 * Prospects of the number, past attempts to reach it, and rows of uploads that hold it. The list of numbers never to be
 * called keeps it: that is what it is for. Returns how many prospects there were.
 */
export async function eraseProspectsWith(tenant: Tenant, phoneNumber: string): Promise<number> {
  const { db, workspaceId } = tenant
  const digits = `%${phoneNumber.replace(/\D/g, '')}%`
  const gone = await db.deleteFrom('prospects').where('phone', '=', phoneNumber).executeTakeFirst()
  await db.deleteFrom('prospect_attempts').where('phone', '=', phoneNumber).where('ended_at', 'is not', null).execute()
  await db
    .deleteFrom('prospect_rejects')
    .where(sql<string>`regexp_replace(cells, '[^0-9]', '', 'g')`, 'like', digits)
    .execute()
  const { rows: blocks } = await sql<{ upload_id: string; block: number; rows: string }>`
    select r.upload_id, r.block, r.rows from prospect_upload_rows r join prospect_uploads u on u.id = r.upload_id
    where u.workspace_id = ${workspaceId} and regexp_replace(r.rows, '[^0-9]', '', 'g') like ${digits}`.execute(db)
  for (const { upload_id, block, rows } of blocks) {
    const kept = (JSON.parse(rows) as unknown[]).map((row) =>
      Array.isArray(row) && row.some((cell) => holds(cell, phoneNumber))
        ? row.map((cell) => (typeof cell === 'string' ? '' : cell))
        : row,
    )
    await sql`update prospect_upload_rows r set rows = ${JSON.stringify(kept)} from prospect_uploads u
      where u.id = r.upload_id and u.workspace_id = ${workspaceId}
        and r.upload_id = ${upload_id} and r.block = ${block}`.execute(db)
  }
  return Number(gone.numDeletedRows)
}

/** Whether a cell of a file is the number, however it is written. */
function holds(cell: unknown, phoneNumber: string): boolean {
  return typeof cell === 'string' && parsePhoneNumber(cell) === phoneNumber
}
