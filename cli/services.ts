import { processEnvironment } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { formatTarget } from '../runtime/plugin/grants/net-rule.ts'
import { allowInfrastructure } from '../runtime/plugin/guard/guard.ts'
import { createLogger, type Logger } from '../runtime/process/log.ts'
import { type Run, type Running, say } from './running.ts'

/** What closing the database and Redis may take. */
export const SERVICES_STOP_MS = 15_000

/** The database, migrated, and Redis: the operator's where one is named, embedded otherwise. */
export async function connectServices(
  options: Run,
  running: Running,
): Promise<{ databaseUrl: string; redisUrl: string }> {
  const { config, log } = options
  if (config.databaseUrl === undefined || config.redisUrl === undefined) {
    const names = [!config.databaseUrl && 'database', !config.redisUrl && 'Redis'].filter((name) => name !== false)
    say(options, `Starting the embedded ${names.join(' and ')} in ${config.dataDir}`)
    const { startEmbedded } = await import('../store/embedded/embedded.ts')
    running.embedded = await startEmbedded({
      dataDir: config.dataDir,
      log,
      postgres: config.databaseUrl === undefined,
      redis: config.redisUrl === undefined,
      searchPath: processEnvironment().PATH,
    })
  }
  const databaseUrl = config.databaseUrl ?? running.embedded?.databaseUrl ?? ''
  const [{ migrate }, { checkRedis }, { waitForStore }] = await Promise.all([
    import('../store/database/migrate.ts'),
    import('../store/redis/check.ts'),
    import('../store/connections/wait-for-store.ts'),
  ])
  const redisUrl = (await primaryUrl(options, running)) ?? config.redisUrl ?? running.embedded?.redisUrl ?? ''
  const applied = await waitForStore(log, () => migrate(databaseUrl, log)).catch((error) =>
    unreachable('DATABASE_URL', 'PostgreSQL', error),
  )
  if (applied.length > 0) say(options, `Updated the database: ${applied.join(', ')}`)
  await waitForStore(log, () => checkRedis(redisUrl, log)).catch((error) => unreachable('REDIS_URL', 'Redis', error))
  return { databaseUrl, redisUrl }
}

/** The address that leads to the primary of the operator's Sentinels; undefined: there are none. */
export async function primaryUrl(
  { config, log }: { readonly config: Config; readonly log: Logger },
  running: Pick<Running, 'followedPrimary'>,
): Promise<string | undefined> {
  const { redisSentinels, redisUrl } = config
  if (redisSentinels === undefined || redisUrl === undefined) return undefined
  const [{ followPrimary, sentinelUrls }, { waitForStore }] = await Promise.all([
    import('../store/redis/follow-primary.ts'),
    import('../store/connections/wait-for-store.ts'),
  ])
  const sentinels = sentinelUrls(redisSentinels)
  allowInfrastructure(sentinels)
  let forget = (): void => {}
  const onPrimary = (host: string, port: number): void => {
    forget()
    forget = allowInfrastructure([formatTarget(host, port)])
  }
  const follow = () => followPrimary({ redisUrl, sentinels, log, onPrimary })
  const followed = await waitForStore(log, follow).catch((error) =>
    unreachable('REDIS_SENTINELS', 'Redis Sentinels', error),
  )
  running.followedPrimary = followed
  return followed.redisUrl
}

function unreachable(variable: string, what: string, error: unknown): never {
  if (!(error instanceof PatchbayError && error.code === 'unavailable')) throw error
  const detail =
    error.cause instanceof Error ? error.cause.message || (error.cause as NodeJS.ErrnoException).code : error.cause
  const reason = `The ${what} of ${variable} can't be reached (${detail}); start it, correct ${variable}, or unset it and use npm start, which brings its own.`
  throw new PatchbayError('configuration', { params: { reason }, cause: error })
}

/**
 * Runs `work` on the operator's database, or the embedded one, whether or not it runs; brought up to date first. `applied`: the
 * migrations that took; `redisUrl`: the Redis beside it, where one runs.
 */
export async function withDatabase<T>(
  config: Config,
  name: string,
  work: (databaseUrl: string, applied: readonly string[], redisUrl: string | undefined) => Promise<T>,
): Promise<T> {
  const [{ migrate }, { waitForStore }] = await Promise.all([
    import('../store/database/migrate.ts'),
    import('../store/connections/wait-for-store.ts'),
  ])
  return borrowing(config, name, async (databaseUrl, redisUrl) => {
    const quiet = createLogger({ level: 'warn', name })
    const applied = await waitForStore(quiet, () => migrate(databaseUrl, quiet)).catch((error) =>
      unreachable('DATABASE_URL', 'PostgreSQL', error),
    )
    return work(databaseUrl, applied, redisUrl)
  })
}

/** The same, as it is. */
export async function borrowing<T>(
  config: Config,
  name: string,
  work: (databaseUrl: string, redisUrl: string | undefined) => Promise<T>,
): Promise<T> {
  const quiet = createLogger({ level: 'warn', name })
  const { borrowDatabase } = await import('../store/embedded/embedded.ts')
  const { dataDir } = config
  const own =
    config.databaseUrl === undefined
      ? await borrowDatabase({ dataDir, log: quiet, searchPath: processEnvironment().PATH })
      : undefined
  try {
    return await work(config.databaseUrl ?? own?.databaseUrl ?? '', config.redisUrl ?? own?.redisUrl).catch((error) =>
      unreachable('DATABASE_URL', 'PostgreSQL', error),
    )
  } finally {
    await own?.stop(SERVICES_STOP_MS)
  }
}
