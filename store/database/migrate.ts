import type { Client } from 'pg'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { buildInfo } from '../../runtime/process/build-info.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import { requireSessionPooling } from '../connections/session-pooling.ts'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'
import { type ApplyOptions, applyMigration } from './apply-migration.ts'
import { withExtension } from './extension.ts'
import { describeLocks, planMigration } from './migration-plan.ts'

/** Any number, the same in every version: two processes that start together migrate one after the other. */
const LOCK_KEY = 7_242_822_911
const CONNECT_TIMEOUT_MS = 10_000
/** Longer than a migration may take. */
const TURN_TIMEOUT_MS = 3_600_000
const TURN_LOOK_MS = 250

/**
 * Brings a database to the newest schema and returns the names of the migrations applied now. Forward only, each in its
 * transaction, under an advisory lock. Throws `configuration` when the database was migrated past what this version can run on, or
 * at all past `migrations` where it is to have `exact` those, or is behind a pooler that shares connections, and `unavailable` when
 * it can't be reached.
 */
export async function migrate(
  databaseUrl: string,
  log: Logger,
  migrations: readonly Migration[] = MIGRATIONS,
  { exact = false, ...options }: Partial<ApplyOptions> & { readonly exact?: boolean } = {},
): Promise<string[]> {
  const client = await openMigrator(databaseUrl, log)
  try {
    await requireSessionPooling(databaseUrl)
    await takeTurn(client)
    await makeTable(client)
    const applied = await appliedMigrations(client)
    refuseNewer(applied, migrations, log, exact)
    const names = new Set(applied.map(({ name }) => name))
    const appliedNow: string[] = []
    for (const one of migrations) {
      const migration = names.has(one.name) ? undefined : await withExtension(client, one, log)
      if (migration === undefined) continue
      const locks = names.size === 0 ? [] : await planMigration(client, migration)
      const { name } = migration
      if (locks.length > 0) log.info({ migration: name }, `Applying migration "${name}": ${describeLocks(locks)}`)
      await applyMigration({ client, databaseUrl, log, locks, ...options }, migration)
      log.info({ migration: name }, 'Migration applied')
      appliedNow.push(name)
    }
    return appliedNow
  } finally {
    // Closing the connection also releases the advisory lock.
    await client.end().catch(() => {})
  }
}

/** What `migrate` would do, a line for each migration; the database stays as it is. */
export async function describePlan(
  databaseUrl: string,
  log: Logger,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string> {
  const client = await openMigrator(databaseUrl, log)
  try {
    const { rows } = await client.query<{ found: string | null }>(`select to_regclass('migrations')::text as found`)
    if (rows[0]?.found == null) return 'The database is empty: every migration is applied at once, and nothing waits.'
    const applied = await appliedMigrations(client)
    refuseNewer(applied, migrations, log)
    const pending = migrations.filter(({ name }) => !applied.some((one) => one.name === name))
    if (pending.length === 0) return 'The database is up to date: nothing is to be applied.'
    const lines = [`${pending.length} migrations are to be applied; the database has ${applied.length}.`]
    for (const migration of pending) {
      const locks = await planMigration(client, migration)
      const extension = 'sql' in migration ? undefined : migration.extension
      const only = extension === undefined ? '' : ` (only with the extension "${extension.name}")`
      lines.push(`${migration.name}${only}: ${locks.length === 0 ? 'nothing waits' : describeLocks(locks)}`)
    }
    lines.push(
      'A lock that is not had within 2 s is given up and tried again after a pause, so that nothing waits behind it for longer.',
    )
    return lines.join('\n')
  } finally {
    await client.end().catch(() => {})
  }
}

async function openMigrator(databaseUrl: string, log: Logger): Promise<Client> {
  const client = postgresClient(databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS, name: 'patchbay migrate' })
  client.on(
    'error',
    boundary('database', (err) => log.warn({ err }, 'Database connection lost while migrating')),
  )
  try {
    await client.connect()
    return client
  } catch (cause) {
    await client.end().catch(() => {})
    throw new PatchbayError('unavailable', { cause })
  }
}

/** Asks again and again: a statement that waits would hold a snapshot, for which an index that is built concurrently waits. */
async function takeTurn(client: Client): Promise<void> {
  for (const untilMs = performance.now() + TURN_TIMEOUT_MS; performance.now() < untilMs; ) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LOCK_KEY])
    if (rows[0]?.mine === true) return
    await new Promise((resolve) => setTimeout(resolve, TURN_LOOK_MS))
  }
  const reason = 'Another process has migrated the database for an hour; look at its log, or end it.'
  throw new PatchbayError('configuration', { params: { reason } })
}

/** What the database says of its migrations; the second and third column are missing in those of old versions. */
async function makeTable(client: Client): Promise<void> {
  await client.query(
    `create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`,
  )
  if (await hasNeeds(client)) return
  await client.query(`alter table migrations add column needs text, add column version text`)
}

async function hasNeeds(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'migrations'::regclass and attname = 'needs' and not attisdropped`,
  )
  return rowCount !== 0
}

interface Applied {
  readonly name: string
  readonly needs: string | null
  readonly version: string | null
}

async function appliedMigrations(client: Client): Promise<Applied[]> {
  const more = (await hasNeeds(client)) ? 'needs, version' : 'null as needs, null as version'
  const { rows } = await client.query<Applied>(`select name, ${more} from migrations order by name`)
  return rows
}

/**
 * An older process runs beside a newer one, and after it, as long as the database only has more than it knows. A migration that
 * takes something away names the migration that a process must know.
 */
function refuseNewer(applied: readonly Applied[], migrations: readonly Migration[], log: Logger, exact = false): void {
  const known = new Set(migrations.map((migration) => migration.name))
  const unknown = applied.filter(({ name }) => !known.has(name))
  if (unknown.length === 0) return
  const names = unknown.map(({ name }) => name).join('", "')
  const versions = [...new Set(unknown.flatMap(({ version }) => version ?? []))].join(', ')
  const newer = `a newer Patchbay${versions === '' ? '' : ` ${versions}`} (it has "${names}"`
  if (exact) {
    const reason = `The database was migrated by ${newer}, which the data were not); name an empty database.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const lacking = unknown.find(({ needs }) => needs !== null && !known.has(needs))
  if (lacking === undefined) {
    log.warn(
      { unknown: unknown.map(({ name }) => name) },
      `The database was migrated by ${newer}); this version runs on it as well`,
    )
    return
  }
  const reason =
    `The database was migrated by ${newer}, of which "${lacking.name}" needs a version that knows ` +
    `"${lacking.needs}"; this is ${buildInfo().version}); update this installation or point DATABASE_URL at another database.`
  throw new PatchbayError('configuration', { params: { reason } })
}
