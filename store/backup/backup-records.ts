import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { Store } from '../database/database.ts'

/** Says in the database which backups were made of it. */
interface BackupRecord {
  readonly host: string
  readonly path: string
  readonly bytes: number
  readonly rows: number
  readonly recordingsMissing: number
}

const MOST_KEPT = 1_000

/** Resolves with the id of the record; undefined where the schema has no such table yet. */
export async function recordBackup(client: Client, made: BackupRecord): Promise<string | undefined> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('backups')::text as found`)
  if (rows[0]?.found == null) return undefined
  const id = randomUUID()
  await client.query(
    `insert into backups (id, host, path, size_bytes, rows, recordings_missing) values ($1, $2, $3, $4, $5, $6)`,
    [id, made.host, made.path, made.bytes, made.rows, made.recordingsMissing],
  )
  await client.query(
    `delete from backups where made_at < (select made_at from backups order by made_at desc offset ${MOST_KEPT} limit 1)`,
  )
  return id
}

export async function recordVerified(client: Client, id: string): Promise<void> {
  await client.query('update backups set verified_at = now() where id = $1', [id])
}

interface BackupState {
  /** Since the last backup; since the installation began where none was made. */
  readonly ageMs: number
  /** Since the last backup; infinite where none was made. */
  readonly madeAgoMs: number
  readonly recordingsMissing: number | undefined
}

export async function backupState({ pool }: Pick<Store, 'pool'>): Promise<BackupState> {
  const { rows } = await pool.query<{ ageMs: number; made: boolean; recordingsMissing: number | null }>(
    `select extract(epoch from now() - coalesce(b.made_at, (select min(applied_at) from migrations)))::float8 * 1000 as "ageMs",
            b.made_at is not null as made,
            b.recordings_missing as "recordingsMissing"
       from (select) as one left join (select * from backups order by made_at desc limit 1) b on true`,
  )
  const { ageMs = 0, made = false, recordingsMissing = null } = rows[0] ?? {}
  return {
    ageMs,
    madeAgoMs: made ? ageMs : Number.POSITIVE_INFINITY,
    recordingsMissing: recordingsMissing ?? undefined,
  }
}
