import type { Store } from '../database/database.ts'
import type { ProspectReject, ProspectUpload } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Uploads of prospects: files that were taken, and how far each is loaded. */

export function uploadById(tenant: Tenant, id: string): Promise<ProspectUpload | undefined> {
  return tenant.db.selectFrom('prospect_uploads').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export function uploadsOf(tenant: Tenant, listIds: readonly string[]): Promise<ProspectUpload[]> {
  if (listIds.length === 0) return Promise.resolve([])
  return tenant.db
    .selectFrom('prospect_uploads')
    .selectAll()
    .where('list_id', 'in', [...listIds])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1_000)
    .execute()
}

/** Lets a failed upload go on where it stood; the id may be a list's, whose last failed upload is meant then. */
export async function retryUpload(tenant: Tenant, id: string): Promise<'retried' | 'not_failed' | 'unknown'> {
  const upload = await uploadById(tenant, id)
  if (upload === undefined) {
    const list = await tenant.db
      .selectFrom('prospect_lists')
      .select('id')
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (list === undefined) return 'unknown'
  }
  const { numUpdatedRows } = await tenant.db
    .updateTable('prospect_uploads')
    .set({ status: 'loading', error: null, finished_at: null })
    .where((eb) =>
      upload !== undefined
        ? eb('id', '=', id)
        : eb(
            'id',
            '=',
            eb
              .selectFrom('prospect_uploads as last')
              .select('last.id')
              .where('last.list_id', '=', id)
              .where('last.status', '=', 'failed')
              .orderBy('last.created_at', 'desc')
              .limit(1),
          ),
    )
    .where('status', '=', 'failed')
    .executeTakeFirst()
  return numUpdatedRows > 0n ? 'retried' : 'not_failed'
}

/** Uploads of all workspaces that are not loaded yet, oldest first. */
export function uploadsToLoad(store: Store, limit: number): Promise<{ id: string; workspace_id: string }[]> {
  return store.acrossTenants
    .selectFrom('prospect_uploads')
    .select(['id', 'workspace_id'])
    .where('status', '=', 'loading')
    .orderBy('created_at')
    .limit(limit)
    .execute()
}

/** An upload that can't go on; what is loaded stays. */
export async function failUpload(tenant: Tenant, id: string, error: string, now: Date): Promise<void> {
  await tenant.db
    .updateTable('prospect_uploads')
    .set({ status: 'failed', error, finished_at: now })
    .where('id', '=', id)
    .where('status', '=', 'loading')
    .execute()
}

const ROWS_PER_QUERY = 1_000

/** The rows that were not loaded, in the order of the file. */
export async function* eachReject(
  tenant: Tenant,
  uploadId: string,
  signal: AbortSignal,
): AsyncGenerator<ProspectReject[]> {
  let after = -1
  for (;;) {
    signal.throwIfAborted()
    const rows = await tenant.db
      .selectFrom('prospect_rejects')
      .selectAll()
      .where('upload_id', '=', uploadId)
      .where('line', '>', after)
      .orderBy('line')
      .limit(ROWS_PER_QUERY)
      .execute()
    if (rows.length > 0) yield rows
    if (rows.length < ROWS_PER_QUERY) return
    after = rows[rows.length - 1]!.line
  }
}

/** Rows of a place in the file, JSON; undefined past the end. */
export async function blockOf(
  db: { query(text: string, values: unknown[]): Promise<{ rows: { rows: string }[] }> },
  uploadId: string,
  block: number,
): Promise<string | undefined> {
  const { rows } = await db.query('select rows from prospect_upload_rows where upload_id = $1 and block = $2', [
    uploadId,
    block,
  ])
  return rows[0]?.rows
}
