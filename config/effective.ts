import { randomBytes } from 'node:crypto'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { makeDataDir } from './data-dir.ts'
import { type Config, type EffectiveConfig, SETTINGS } from './schema.ts'
import { keepSecret, readSecret } from './secrets.ts'

export type RoleName = 'api' | 'jobs' | 'voice'

export type DerivedConfig = Config &
  Pick<EffectiveConfig, 'adminPort' | 'adminPortGiven' | 'publicUrl' | 'publicUrlGiven' | 'apiUrls'>

const ADMIN_PORT_DISTANCE = 1_000
const MAX_PORT = 65_535

/** Fills in what follows from other settings when unset: the admin port, the public address, the local api node. */
export function deriveConfig(config: Config): DerivedConfig {
  const host = isEveryAddress(config.host) ? '127.0.0.1' : config.host
  return {
    ...config,
    adminPort: config.adminPort ?? adminPortFor(config.port),
    adminPortGiven: config.adminPort !== undefined,
    publicUrlGiven: config.publicUrl !== undefined,
    publicUrl: config.publicUrl ?? `http://localhost:${config.port}`,
    apiUrls: config.apiUrls ?? [`ws://${host}:${config.port}`],
  }
}

function adminPortFor(port: number): number {
  if (port === 0) return 0
  return port + ADMIN_PORT_DISTANCE <= MAX_PORT ? port + ADMIN_PORT_DISTANCE : port - ADMIN_PORT_DISTANCE
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/**
 * The configuration the roles of this process get, secrets included. `selfContained` processes (npm start) generate the
 * secrets they may; others must be told, since another machine has to know the same. Throws `configuration`.
 */
export async function effectiveConfig(
  config: Config,
  { roles, selfContained }: { roles: readonly RoleName[]; selfContained: boolean },
): Promise<EffectiveConfig> {
  const { dataDir } = config
  const faults: string[] = []
  const needs = (role: RoleName): boolean => roles.includes(role)
  const demand = (name: 'databaseUrl' | 'redisUrl' | 'jwtApiSecret' | 'dataKey' | 'linkToken', why: string): string => {
    faults.push(`${SETTINGS[name].env} must be set ${why}`)
    return ''
  }
  const generate = async (name: string): Promise<string> => {
    if (faults.length > 0) return ''
    await makeDataDir(dataDir)
    return keepSecret(dataDir, name)
  }
  // A role that has no use for a secret gets a random one: nothing signed with it is ever valid.
  const unused = randomBytes(32).toString('base64url')

  if (!selfContained && (needs('api') || needs('jobs'))) {
    const why = `for ${roles.join(' and ')} (npm start brings its own)`
    if (config.databaseUrl === undefined) demand('databaseUrl', why)
    if (config.redisUrl === undefined) demand('redisUrl', why)
  } else if (config.redisSentinels !== undefined && config.redisUrl === undefined && (needs('api') || needs('jobs'))) {
    demand(
      'redisUrl',
      'with REDIS_SENTINELS, to redis://:password@mymaster/0, where mymaster is the name of the primary',
    )
  }
  const jwtApiSecret =
    config.jwtApiSecret ??
    (!needs('api') && !needs('jobs')
      ? unused
      : selfContained && config.databaseUrl === undefined
        ? await generate('jwt_api_secret')
        : demand('jwtApiSecret', 'with DATABASE_URL, to the same value on every node (openssl rand -base64 32)'))
  const dataKey =
    config.dataKey ??
    (!needs('api') && !needs('jobs')
      ? unused
      : selfContained && config.databaseUrl === undefined
        ? await generate('data_key')
        : demand('dataKey', 'with DATABASE_URL, to the same value on every node (openssl rand -base64 32)'))
  const linkToken =
    config.linkToken ??
    (!needs('api') && !needs('voice')
      ? unused
      : selfContained
        ? await generate('link_token')
        : ((await readSecret(dataDir, 'link_token')) ??
          demand('linkToken', 'to the same value on every api node and voice worker (openssl rand -base64 32)')))

  if (faults.length > 0) throw new PatchbayError('configuration', { params: { reason: `${faults.join('; ')}.` } })
  return { ...deriveConfig(config), jwtApiSecret, dataKey, linkToken }
}
