import type { Client } from 'pg'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import { requireSessionPooling } from '../connections/session-pooling.ts'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'

/** Any number, the same in every version: two processes that start together migrate one after the other. */
const LOCK_KEY = 7_242_822_911
const CONNECT_TIMEOUT_MS = 10_000
const LOCK_TIMEOUT_MS = 120_000

/**
 * Brings a database to the newest schema and returns the names of the migrations applied now. Forward only, each in its
 * transaction, under an advisory lock. Throws `configuration` when the database knows a migration this code doesn't, or is behind a
 * pooler that shares connections, and `unavailable` when it can't be reached.
 */
export async function migrate(
  databaseUrl: string,
  log: Logger,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const client = postgresClient(databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS })
  client.on(
    'error',
    boundary('database', (err) => log.warn({ err }, 'Database connection lost while migrating')),
  )
  try {
    await client.connect()
  } catch (cause) {
    await client.end().catch(() => {})
    throw new PatchbayError('unavailable', { cause })
  }
  try {
    await requireSessionPooling(databaseUrl)
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    await client.query('set lock_timeout = 0')
    await client.query(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
    const applied = new Set(rows.map((row) => row.name))
    refuseNewer(applied, migrations)
    const pending = migrations.filter((migration) => !applied.has(migration.name))
    for (const { name, sql } of pending) {
      await apply(client, name, sql)
      log.info({ migration: name }, 'Migration applied')
    }
    return pending.map((migration) => migration.name)
  } finally {
    // Closing the connection also releases the advisory lock.
    await client.end().catch(() => {})
  }
}

function refuseNewer(applied: ReadonlySet<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name))
  const unknown = [...applied].filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const reason =
    `The database was migrated by a newer Patchbay (it has "${unknown.join('", "')}", which this version does not ` +
    'know); update this installation or point DATABASE_URL at another database.'
  throw new PatchbayError('configuration', { params: { reason } })
}

async function apply(client: Client, name: string, sql: string): Promise<void> {
  try {
    await client.query('begin')
    await client.query(sql)
    await client.query('insert into migrations (name) values ($1)', [name])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration "${name}" failed and was rolled back`, { cause })
  }
}
