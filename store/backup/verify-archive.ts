import { mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { startEmbedded } from '../embedded/embedded.ts'
import { openDump } from './dump.ts'
import type { DumpHead } from './head.ts'
import { openLoad } from './load.ts'
import { openClient } from './open-client.ts'
import type { BackupProgress } from './progress.ts'
import { readArchive } from './read-archive.ts'
import { StagedFiles } from './staged-files.ts'
import { TableDigest } from './table-digest.ts'

const STOP_MS = 15_000
const SCRATCH = 'The scratch database'

interface VerifyOptions {
  readonly searchPath: string | undefined
  readonly log: Logger
  readonly progress: BackupProgress
}

/**
 * Restores a backup into a database of its own beside the file, compares each table and file with what was written, brings the
 * schema up to date and removes it again. Resolves with what to tell; throws `configuration` with what differs.
 */
export async function verifyArchive(path: string, { searchPath, log, progress }: VerifyOptions): Promise<string> {
  // Beside the backup there is room for as much again, which a folder for temporary files may not have.
  const folder = await mkdtemp(join(dirname(path), `${basename(path)}.verify-`))
  try {
    const dataDir = join(folder, 'data')
    const scratch = await startEmbedded({ dataDir, log, searchPath, postgres: true, redis: false })
    try {
      const url = scratch.databaseUrl ?? ''
      const begin = (head: DumpHead) => openLoad(url, head, log, SCRATCH)
      const read = await readArchive(path, await StagedFiles.open(join(folder, 'files')), begin, progress)
      await read.load.check()
      await read.load.commit()
      const rows = await compare(url, read.head, read.sums?.tables)
      await read.load.upgrade()
      const { count = 0 } = read.sums?.files ?? {}
      if (read.sums === undefined)
        return `Restored ${path} into a scratch database: ${rows} rows. Its version wrote no digests to compare with.`
      return `Verified ${path}: restored into a scratch database, ${rows} rows of ${read.head.tables.length} tables and ${count} files equal.`
    } finally {
      await scratch.stop(STOP_MS)
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

/** Throws for a table that is not as it was written. Resolves with the rows of all. */
async function compare(
  databaseUrl: string,
  head: DumpHead,
  written: readonly { name: string; rows: number; digest: string }[] | undefined,
): Promise<number> {
  const client = await openClient(databaseUrl, SCRATCH)
  try {
    const dump = await openDump(client)
    let rows = 0
    for (const table of head.tables) {
      const digest = new TableDigest()
      for await (const _ of dump.rowsOf(table, digest));
      const sum = digest.sum()
      rows += sum.rows
      const wanted = written?.find(({ name }) => name === table.name)
      if (wanted === undefined || (wanted.rows === sum.rows && wanted.digest === sum.digest)) continue
      const reason = `Table "${table.name}" of the restored backup has ${sum.rows} rows (${sum.digest.slice(0, 12)}), and ${wanted.rows} (${wanted.digest.slice(0, 12)}) were written: do not rely on this backup.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    await dump.close()
    return rows
  } finally {
    await client.end()
  }
}
