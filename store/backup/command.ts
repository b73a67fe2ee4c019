import { resolve } from 'node:path'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { borrowDatabase, startEmbedded } from '../embedded/embedded.ts'
import { openDump } from './dump.ts'
import type { DumpHead } from './head.ts'
import { type Load, openLoad } from './load.ts'
import { openClient } from './open-client.ts'
import { readArchive } from './read-archive.ts'
import { StagedFiles } from './staged-files.ts'
import { secretsIn, writeArchive } from './write-archive.ts'

/** `patchbay backup`, `restore` and `move`: copies of an installation's data. What is in Redis is found again from the database. */

interface BackupOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly searchPath: string | undefined
  readonly log: Logger
}

const STOP_MS = 15_000
const OURS = 'The embedded database'
const NAMED = 'The PostgreSQL of DATABASE_URL'

/** Copies the database and the files of the data folder into one file, while Patchbay runs or not. Resolves with what to tell. */
export async function backup(path: string, options: BackupOptions): Promise<string> {
  const { databaseUrl, dataDir } = options
  const own = databaseUrl === undefined ? await borrowDatabase(options) : undefined
  try {
    const client = await openClient(databaseUrl ?? own?.databaseUrl ?? '', databaseUrl === undefined ? OURS : NAMED)
    try {
      await requireData(client)
      const dump = await openDump(client)
      const bytes = await writeArchive(resolve(path), dump, dataDir, new Date())
      await dump.close()
      const secrets = await secretsIn(dataDir)
      const sealed = secrets.includes('data_key')
        ? 'It holds the secrets of the data folder: keep it as safe as those.'
        : 'JWT_API_SECRET and PATCHBAY_DATA_KEY of the environment are not in it: keep them beside it.'
      return `Wrote ${path} (${(bytes / 1e6).toFixed(1)} MB, ${dump.head.tables.length} tables). ${sealed}`
    } finally {
      await client.end()
    }
  } finally {
    await own?.stop(STOP_MS)
  }
}

async function requireData(client: Awaited<ReturnType<typeof openClient>>): Promise<void> {
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
    await fill(resolve(path), await StagedFiles.open(dataDir), (head) => openLoad(url, head, log, what))
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
async function fill(path: string, files: StagedFiles, begin: (head: DumpHead) => Promise<Load>): Promise<void> {
  let load: Load | undefined
  try {
    load = await readArchive(path, files, begin)
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

/** Copies the data into another, empty PostgreSQL. Patchbay must not run: what is written meanwhile would stay behind. */
export async function move(targetUrl: string, options: BackupOptions): Promise<string> {
  const { databaseUrl, dataDir, log } = options
  const own = databaseUrl === undefined ? await startEmbedded({ ...options, postgres: true, redis: false }) : undefined
  try {
    const client = await openClient(databaseUrl ?? own?.databaseUrl ?? '', databaseUrl === undefined ? OURS : NAMED)
    try {
      await requireData(client)
      const dump = await openDump(client)
      const load = await openLoad(targetUrl, dump.head, log, 'The PostgreSQL of --to')
      try {
        for (const table of dump.head.tables) await load.rows(table.name, dump.rowsOf(table))
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
