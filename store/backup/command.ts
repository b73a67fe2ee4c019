import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { systemClock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { NODE_CONNECTIONS } from '../database/database.ts'
import { borrowDatabase, startEmbedded } from '../embedded/embedded.ts'
import { backupName, isBackupFolder, removeOldBackups } from './backup-folder.ts'
import { recordBackup, recordVerified } from './backup-records.ts'
import { openDump } from './dump.ts'
import type { DumpHead } from './head.ts'
import { type Load, openLoad } from './load.ts'
import { openClient } from './open-client.ts'
import { type BackupProgress, openProgress } from './progress.ts'
import { readArchive } from './read-archive.ts'
import { StagedFiles } from './staged-files.ts'
import { TableDigest } from './table-digest.ts'
import { verifyArchive } from './verify-archive.ts'
import { secretsIn, type Written, writeArchive } from './write-archive.ts'

/** `patchbay backup`, `restore` and `move`: copies of an installation's data. What is in Redis is found again from the database. */

interface BackupOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly searchPath: string | undefined
  readonly log: Logger
  /** Hears how far it is. */
  readonly say?: (line: string) => void
  /** Restores the new backup into a scratch database and compares. */
  readonly verify?: boolean
  /** How many backups stay in a folder that one is written to. */
  readonly keep?: number
}

const STOP_MS = 15_000
const OURS = 'The embedded database'
const NAMED = 'The PostgreSQL of DATABASE_URL'

const progressOf = ({ say = () => {} }: BackupOptions): BackupProgress => openProgress(say, systemClock.monotonicMs)

/**
 * Copies the database and the files of the data folder into one file, while Patchbay runs or not; in a folder the file is named by
 * the time, and old ones go. Resolves with what to tell.
 */
export async function backup(path: string, options: BackupOptions): Promise<string> {
  const { databaseUrl, dataDir, keep } = options
  const now = new Date()
  const folder = (await isBackupFolder(path)) ? resolve(path) : undefined
  const file = folder === undefined ? path : join(path, backupName(now))
  const own = databaseUrl === undefined ? await borrowDatabase(options) : undefined
  try {
    const client = await openClient(databaseUrl ?? own?.databaseUrl ?? '', databaseUrl === undefined ? OURS : NAMED)
    try {
      await requireData(client)
      const dump = await openDump(client)
      const written = await writeArchive(resolve(file), dump, dataDir, now, progressOf(options))
      await dump.close()
      const told = [await describe(file, written, options), await note(client, resolve(file), written, options)]
      if (folder !== undefined && keep !== undefined) {
        const old = await removeOldBackups(folder, keep, now.getTime())
        if (old.length > 0) told.push(`Removed older ones: ${old.join(', ')}.`)
      }
      return told.filter(Boolean).join(' ')
    } finally {
      await client.end()
    }
  } finally {
    await own?.stop(STOP_MS)
  }
}

async function describe(
  path: string,
  { bytes, sums, recordings }: Written,
  { dataDir }: BackupOptions,
): Promise<string> {
  const secrets = await secretsIn(dataDir)
  const sealed = secrets.includes('data_key')
    ? 'It holds the secrets of the data folder: keep it as safe as those.'
    : 'JWT_API_SECRET and PATCHBAY_DATA_KEY of the environment are not in it: keep them beside it.'
  const size = `${(bytes / 1e6).toFixed(1)} MB, ${sums.tables.length} tables, ${rowsIn(sums)} rows, ${sums.files.count} files`
  return [`Wrote ${path} (${size}).`, recordingsIn(recordings, dataDir), sealed].filter(Boolean).join(' ')
}

const rowsIn = ({ tables }: Written['sums']): number => tables.reduce((sum, { rows }) => sum + rows, 0)

/** Records the backup, and verifies it where that was asked for. */
async function note(client: Client, path: string, written: Written, options: BackupOptions): Promise<string> {
  const { bytes, sums, recordings } = written
  const made = { host: hostname(), path, bytes, rows: rowsIn(sums), recordingsMissing: recordings.missing }
  // The backup is good without it, and a database that only reads refuses it.
  const id = await recordBackup(client, made).catch((err: unknown) => {
    options.log.warn({ err }, 'The backup could not be recorded in the database')
    return undefined
  })
  if (options.verify !== true) return ''
  const told = await verify(path, options)
  if (id !== undefined) await recordVerified(client, id)
  return told
}

function recordingsIn({ count, missing }: Written['recordings'], dataDir: string): string {
  if (missing === 0) return ''
  return `${missing} of ${count} recordings are NOT in it: they are not in ${dataDir} of this machine, but in a bucket, which has its own backup, or on another api node.`
}

/** Restores a backup into a scratch database beside it and compares. Resolves with what to tell. */
export async function verify(path: string, options: BackupOptions): Promise<string> {
  return verifyArchive(resolve(path), { ...options, progress: progressOf(options) })
}

async function requireData(client: Client): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('migrations')::text as found`)
  if (rows[0]?.found != null) return
  throw new PatchbayError('configuration', {
    params: { reason: 'There is nothing to back up: the database is empty.' },
  })
}

/** Fills an empty installation from such a file. It must not run. */
export async function restore(path: string, options: BackupOptions): Promise<string> {
  const { databaseUrl, dataDir, log } = options
  const own = databaseUrl === undefined ? await startEmbedded({ ...options, postgres: true, redis: false }) : undefined
  try {
    const url = databaseUrl ?? own?.databaseUrl ?? ''
    const what = databaseUrl === undefined ? OURS : NAMED
    await fill(
      resolve(path),
      await StagedFiles.open(dataDir),
      (head) => openLoad(url, head, log, what),
      progressOf(options),
    )
    const secrets = await secretsIn(dataDir)
    const sealed = secrets.includes('data_key')
      ? ''
      : ' Start it with the JWT_API_SECRET and PATCHBAY_DATA_KEY it had: without them nobody stays logged in, and stored credentials cannot be read.'
    return `Restored ${path}. Calls that ran when it was made end as node_lost.${sealed}`
  } finally {
    await own?.stop(STOP_MS)
  }
}

/** The database and the files take the data when all of them were read and passed every check; else both stay as they are. */
async function fill(
  path: string,
  files: StagedFiles,
  begin: (head: DumpHead) => Promise<Load>,
  progress: BackupProgress,
): Promise<void> {
  let load: Load | undefined
  try {
    load = (await readArchive(path, files, begin, progress)).load
    await load.check()
    await files.place()
    await load.commit()
  } catch (error) {
    await files.putBack()
    await load?.close().catch(() => {})
    throw error
  }
  await files.clear()
  await load.upgrade()
}

/** Nodes ask the database each second: one that runs has a connection at one of these looks. */
const LOOKS = 6
const LOOK_MS = 500

async function refuseLive(client: Client): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { rows } = await client.query<{ pid: number; address: string | null }>(
      `select pid, host(client_addr) as address from pg_stat_activity
        where datname = current_database() and application_name = $1 order by pid`,
      [NODE_CONNECTIONS],
    )
    const addresses = [...new Set(rows.map(({ address }) => address ?? 'this machine'))]
    if (addresses.length > 0) {
      const reason = `Patchbay still runs on this database (${rows.length} connections from ${addresses.join(', ')}), and what it writes from now on would stay behind; stop every node, then move.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    if (look + 1 < LOOKS) await sleep(LOOK_MS)
  }
}

/** Copies the data into another, empty PostgreSQL. Patchbay must not run: what is written meanwhile would stay behind. */
export async function move(targetUrl: string, options: BackupOptions): Promise<string> {
  const { databaseUrl, dataDir, log } = options
  const own = databaseUrl === undefined ? await startEmbedded({ ...options, postgres: true, redis: false }) : undefined
  try {
    const client = await openClient(databaseUrl ?? own?.databaseUrl ?? '', databaseUrl === undefined ? OURS : NAMED)
    try {
      await requireData(client)
      await refuseLive(client)
      const dump = await openDump(client)
      const load = await openLoad(targetUrl, dump.head, log, 'The PostgreSQL of --to')
      try {
        const progress = progressOf(options)
        const { tables } = dump.head
        for (const [at, table] of tables.entries()) {
          const digest = new TableDigest()
          const taken = await load.rows(table.name, dump.rowsOf(table, digest))
          const { rows } = digest.sum()
          if (taken !== rows) throw new Error(`${rows} rows of "${table.name}" were read and ${taken} taken`)
          progress.at((at + 1) / tables.length, `${table.name}: ${rows} rows`)
        }
        await load.check()
        await load.commit()
      } catch (error) {
        await load.close().catch(() => {})
        throw error
      }
      await load.upgrade()
      const secrets = databaseUrl === undefined ? await secretsIn(dataDir) : []
      const cure = secrets.includes('data_key')
        ? ` With DATABASE_URL the secrets are named in the environment: JWT_API_SECRET=$(cat ${dataDir}/secrets/jwt_api_secret) PATCHBAY_DATA_KEY=$(cat ${dataDir}/secrets/data_key).`
        : ''
      return `Moved ${dump.head.tables.length} tables. Start Patchbay with DATABASE_URL set to the new address.${cure} Recordings stay in the data folder.`
    } finally {
      await client.end()
    }
  } finally {
    await own?.stop(STOP_MS)
  }
}
