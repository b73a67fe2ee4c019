import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbedded } from '../../store/embedded/embedded.ts'

/** Of twenty sessions each. */
const VOICE_WORKERS = 3

/** A Postgres and a Redis of the benchmark's own, and the settings of roles that work on them. */
export interface Services {
  readonly env: Readonly<Record<string, string>>
  /** Their data go, too. */
  stop(): Promise<void>
}

export async function openServices(): Promise<Services> {
  const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-events-'))
  const log = pino({ level: 'error' })
  const services = await startEmbedded({ dataDir, log, postgres: true, redis: true, searchPath: process.env.PATH })
  return {
    env: {
      DATABASE_URL: services.databaseUrl ?? '',
      REDIS_URL: services.redisUrl ?? '',
      PATCHBAY_DATA_DIR: join(dataDir, 'roles'),
      PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1',
      PATCHBAY_LOG_LEVEL: 'error',
      PATCHBAY_DATA_KEY: 'a key of the benchmark, thirty-two long',
      JWT_API_SECRET: 'a secret of the benchmark, thirty-two long',
      PATCHBAY_LINK_TOKEN: 'a link token of the benchmark',
      PATCHBAY_VOICE_WORKERS: String(VOICE_WORKERS),
    },
    async stop() {
      await services.stop(10_000)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
