import { realpath, rmdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDataDir } from '../../config/data-dir.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Supervised } from '../../runtime/process/supervisor.ts'
import { takeInstanceLock } from './instance-lock.ts'
import { postgresUrl } from './own-database.ts'
import { findPostgresPrograms, startPostgres } from './postgres.ts'
import { findRedisProgram, redisSocketUrl, startRedis } from './redis.ts'
import { makeRunDir } from './run-dir.ts'
import { chooseServiceUser } from './service-user.ts'

/**
 * The embedded default: a private PostgreSQL and a private Redis as supervised children, reachable only through sockets
 * in a folder of their own. The rest of the system sees two addresses.
 */
export interface EmbeddedServices {
  /** Undefined when not asked for. */
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  /** Process ids of the running services, for tests that kill them. */
  readonly pids: { readonly postgres: number | undefined; readonly redis: number | undefined }
  /** Stops both, data written, and frees the data folder. */
  stop(graceMs: number): Promise<void>
}

interface EmbeddedOptions {
  dataDir: string
  log: Logger
  postgres: boolean
  redis: boolean
  /** PATH, to find redis-server. */
  searchPath: string | undefined
  postgresSettings?: Readonly<Record<string, string>>
}

/**
 * Takes the data folder for this process and starts the services asked for. Recovers what a crash left: stale locks and
 * sockets, services that outlived their parent, a database folder that was never finished. Throws `configuration` when
 * the folder can't be written, another instance uses it, or its data can't be used.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServices> {
  const { log, searchPath } = options
  const dataDir = resolve(options.dataDir)
  await makeDataDir(dataDir)
  const folders = { postgres: join(dataDir, 'postgres'), redis: join(dataDir, 'redis') }
  const redisProgram = options.redis ? findRedisProgram(searchPath) : undefined
  const programs = options.postgres ? await findPostgresPrograms() : undefined
  const user = await chooseServiceUser(folders.postgres, programs === undefined ? [] : [programs.postgres])
  const runDir = await makeRunDir(dataDir, user)
  const lock = await takeInstanceLock(join(runDir, 'instance.sock'))
  if (lock === undefined) {
    const reason = `Another Patchbay already runs on the data folder "${dataDir}"; stop it, or set PATCHBAY_DATA_DIR (and PORT) for a second instance.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const socketPath = join(runDir, 'redis.sock')
  const starting = await Promise.allSettled([
    programs &&
      startPostgres({
        folder: folders.postgres,
        runDir,
        programs,
        user,
        searchPath,
        log,
        settings: options.postgresSettings,
      }),
    redisProgram && startRedis({ folder: folders.redis, socketPath, program: redisProgram, user, searchPath, log }),
  ])
  const [postgres, redis] = starting.map((result) =>
    result.status === 'fulfilled' ? result.value || undefined : undefined,
  )
  const stop = async (graceMs: number): Promise<void> => {
    await Promise.all([postgres?.stop(graceMs), redis?.stop(graceMs)])
    await lock.release()
    // Only the one in the system's temporary folder would be in anybody's way.
    if (!runDir.startsWith(await realpath(dataDir))) await rmdir(runDir).catch(() => {})
  }
  const failed = starting.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await stop(STOP_AFTER_FAILURE_MS)
    throw failed.reason
  }
  return {
    databaseUrl: postgres && postgresUrl(runDir),
    redisUrl: redis && redisSocketUrl(socketPath),
    pids: pidsOf(postgres, redis),
    stop,
  }
}

/**
 * The embedded database for a command beside a running Patchbay, or alone: that of the instance on this data folder, or one
 * started for as long as `stop` isn't called. `redisUrl`: that of the instance, where one runs.
 */
export async function borrowDatabase(
  options: Omit<EmbeddedOptions, 'postgres' | 'redis'>,
): Promise<{ databaseUrl: string; redisUrl: string | undefined; stop(graceMs: number): Promise<void> }> {
  const dataDir = resolve(options.dataDir)
  await makeDataDir(dataDir)
  const { postgres } = await findPostgresPrograms()
  const runDir = await makeRunDir(dataDir, await chooseServiceUser(join(dataDir, 'postgres'), [postgres]))
  const lock = await takeInstanceLock(join(runDir, 'instance.sock'))
  const redisUrl = redisSocketUrl(join(runDir, 'redis.sock'))
  if (lock === undefined) return { databaseUrl: postgresUrl(runDir), redisUrl, stop: async () => {} }
  await lock.release()
  const own = await startEmbedded({ ...options, postgres: true, redis: false })
  return { databaseUrl: own.databaseUrl ?? '', redisUrl: undefined, stop: own.stop }
}

const STOP_AFTER_FAILURE_MS = 10_000

function pidsOf(postgres: Supervised | undefined, redis: Supervised | undefined): EmbeddedServices['pids'] {
  return {
    get postgres() {
      return postgres?.pid
    },
    get redis() {
      return redis?.pid
    },
  }
}
