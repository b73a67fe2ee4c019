import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { buildInfo } from '../../runtime/process/build-info.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import type { IndexMigration, Migration, StatementMigration } from '../migrations/index.ts'
import type { TableLock } from './migration-plan.ts'

/** Everything that comes after a lock request waits behind it, so all of a migration's together last no longer. */
const LOCK_TIMEOUT_MS = 2_000
/** Between tries: what waited gets its turn. */
const PAUSE_MS = 5_000
const GIVE_UP_MS = 1_800_000
const LOOK_MS = 1_000
const SAY_AGAIN_MS = 30_000
/** Of PostgreSQL: a lock was not had in time; two sessions waited for each other; a statement took too long, which only that of the locks can. */
const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const QUERY_CANCELED = '57014'

export interface ApplyOptions {
  readonly lockTimeoutMs: number
  readonly pauseMs: number
  readonly giveUpMs: number
}

interface Applying extends Partial<ApplyOptions> {
  readonly client: Client
  /** Who it waits for is asked over another connection. */
  readonly databaseUrl: string
  readonly log: Logger
  /** What it will lock. */
  readonly locks?: readonly TableLock[]
}

/** Applies one migration: its statements in a transaction of their own, indexes of big tables beside the traffic. */
export async function applyMigration(applying: Applying, migration: Migration): Promise<void> {
  const watch = watchBlockers(applying, migration.name)
  try {
    if ('sql' in migration) await inTransaction(applying, migration, () => watch.blockers)
    else await buildIndexes(applying, migration)
  } finally {
    await watch.stop()
  }
}

async function inTransaction(applying: Applying, migration: StatementMigration, blockers: () => string): Promise<void> {
  const { client, locks = [], lockTimeoutMs = LOCK_TIMEOUT_MS, pauseMs = PAUSE_MS, giveUpMs = GIVE_UP_MS } = applying
  for (const until = performance.now() + giveUpMs; ; ) {
    try {
      await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`)
      await takeLocks(client, locks, lockTimeoutMs)
      await client.query('set local statement_timeout = 0')
      await client.query(migration.sql)
      await record(client, migration)
      await client.query('commit')
      return
    } catch (cause) {
      await client.query('rollback').catch(() => {})
      if (!isBusy(cause)) throw failed(migration.name, cause)
      if (performance.now() + pauseMs > until) {
        const minutes = Math.round(giveUpMs / 60_000)
        const reason = `Migration "${migration.name}" got no lock for ${minutes} min${blockers()}; end what holds it (pg_stat_activity), then start again.`
        throw new PatchbayError('configuration', { params: { reason }, cause })
      }
      await sleep(pauseMs)
    }
  }
}

const MODES = { 'reads and writes': 'access exclusive', writes: 'share row exclusive' } as const

/** Has all of them within the time, or fails: one that was had makes requests wait while the next one is waited for. */
async function takeLocks(client: Client, locks: readonly TableLock[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs
  for (const [waits, mode] of Object.entries(MODES)) {
    const tables = locks.filter((lock) => lock.waits === waits).map(({ table }) => `"${table}"`)
    if (tables.length === 0) continue
    await client.query(`set local statement_timeout = ${Math.max(1, Math.ceil(until - performance.now()))}`)
    await client.query(`lock table ${tables.join(', ')} in ${mode} mode`)
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof DatabaseError && [LOCK_NOT_AVAILABLE, DEADLOCK, QUERY_CANCELED].includes(error.code ?? '')

function failed(name: string, cause: unknown): Error {
  return new Error(`Migration "${name}" failed and was rolled back`, { cause })
}

/** Each index can be tried again: one that was not finished is invalid, and is removed first. */
async function buildIndexes({ client }: Applying, migration: IndexMigration): Promise<void> {
  try {
    // It waits for transactions that are under way, and nothing waits for it.
    await client.query('set lock_timeout = 0; set statement_timeout = 0')
    for (const { name, on } of migration.indexes) {
      const { rowCount } = await client.query(
        'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
        [name],
      )
      if (rowCount !== 0) await client.query(`drop index concurrently ${name}`)
      await client.query(`create index concurrently if not exists ${name} on ${on}`)
    }
    for (const name of migration.dropped ?? []) await client.query(`drop index concurrently if exists ${name}`)
  } catch (cause) {
    throw new Error(`Migration "${migration.name}" failed; it is tried again at the next start`, { cause })
  }
  await record(client, migration)
}

async function record(client: Client, { name, needs }: Migration): Promise<void> {
  await client.query('insert into migrations (name, needs, version) values ($1, $2, $3)', [
    name,
    needs ?? null,
    buildInfo().version,
  ])
}

/** Says who the migration waits for, and how far an index is. */
function watchBlockers(
  { client, databaseUrl, log }: Applying,
  migration: string,
): { readonly blockers: string; stop(): Promise<void> } {
  const stopping = new AbortController()
  const { processID: pid } = client as Client & { processID: number }
  let blockers = ''
  let said = ''
  let saidMs = Number.NEGATIVE_INFINITY
  const say = (line: string): void => {
    const now = performance.now()
    if (line === said && now - saidMs < SAY_AGAIN_MS) return
    said = line
    saidMs = now
    log.warn({ migration }, line)
  }
  const look = async (watcher: Client): Promise<void> => {
    const { rows } = await watcher.query<{ pid: number; query: string; ageS: number; name: string }>(
      `select pid, left(regexp_replace(query, '\\s+', ' ', 'g'), 200) as query, application_name as name,
              extract(epoch from now() - xact_start)::int as "ageS"
         from pg_stat_activity where pid = any (pg_blocking_pids($1)) order by xact_start`,
      [pid],
    )
    if (rows.length === 0) return
    blockers = ` (it waited for ${rows.map((row) => `pid ${row.pid}`).join(', ')})`
    for (const row of rows) {
      const whose = row.name === '' ? '' : `${row.name}, `
      say(
        `Migration "${migration}" waits for pid ${row.pid} (${whose}in a transaction for ${row.ageS} s: ${row.query})`,
      )
    }
  }
  const watching = async (): Promise<void> => {
    await sleep(LOOK_MS, undefined, { signal: stopping.signal })
    const watcher = postgresClient(databaseUrl, { name: 'patchbay migrate' })
    watcher.on('error', () => {})
    await watcher.connect()
    try {
      while (!stopping.signal.aborted) {
        await look(watcher)
        await sleep(LOOK_MS, undefined, { signal: stopping.signal })
      }
    } finally {
      await watcher.end().catch(() => {})
    }
  }
  // Without it the migration goes on all the same.
  const ended = watching().catch(() => {})
  inBackground('database', ended)
  return {
    get blockers() {
      return blockers
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
