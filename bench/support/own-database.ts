import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../runtime/process/log.ts'
import { openStore, type Store } from '../../store/database/database.ts'
import { migrate } from '../../store/database/migrate.ts'
import { startEmbedded } from '../../store/embedded/embedded.ts'

const STOP_MS = 10_000

/** An empty database of the benchmark's own, and a folder beside it. */
interface OwnDatabase {
  readonly store: Store
  readonly databaseUrl: string
  readonly folder: string
}

/** Runs `use` on a database of its own, which is removed afterwards. */
export async function onOwnDatabase<T>(
  pool: { statementTimeoutMs?: number; maxConnections?: number },
  use: (database: OwnDatabase) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'))
  try {
    const log = createLogger({ level: 'warn', name: 'bench' })
    const services = { dataDir: folder, log, searchPath: process.env.PATH }
    const embedded = await startEmbedded({ ...services, postgres: true, redis: false })
    try {
      const databaseUrl = embedded.databaseUrl ?? ''
      await migrate(databaseUrl, log)
      const store = openStore({ databaseUrl, ...pool })
      try {
        return await use({ store, databaseUrl, folder })
      } finally {
        await store.close()
      }
    } finally {
      await embedded.stop(STOP_MS)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
