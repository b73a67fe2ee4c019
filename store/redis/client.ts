import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, redialInMs } from '../connections/redial.ts'
import { type RedialFamily, redialsWhenStale } from '../connections/redis-redial.ts'

/** Longer than any blocking command (BullMQ's waits at most 10 s). A handshake without an answer ends with it. */
const SILENCE_TIMEOUT_MS = 12_000
const MAX_QUEUED_COMMANDS = 10_000

function makeClient(url: string) {
  const common = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    reconnectStrategy: (retries: number) => redialInMs(retries + 1),
  }
  const options = {
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    commandOptions: { timeout: ANSWER_TIMEOUT_MS },
  }
  const parsed = new URL(url)
  if (parsed.protocol !== 'unix:') {
    const { address, caFile, passwordFile } = withoutFiles(parsed)
    return createClient({
      ...options,
      url: address,
      socket: { ...common, ...(caFile !== undefined && { tls: true, ca: readFileSync(caFile) }) },
      ...(passwordFile !== undefined && credentialsOf(parsed.username, passwordFile)),
    })
  }
  const database = Number(parsed.searchParams.get('db') ?? 0)
  return createClient({
    ...options,
    database,
    socket: { ...common, path: decodeURIComponent(parsed.pathname), tls: false },
  })
}

/** The address without the parameters that name files, and these. */
function withoutFiles(url: URL) {
  const address = new URL(url)
  const take = (name: string): string | undefined => {
    const value = address.searchParams.get(name) ?? undefined
    address.searchParams.delete(name)
    return value
  }
  const [caFile, passwordFile] = [take('cafile'), take('passwordfile')]
  // The library prefers a user named in the address to the credentials it is given.
  if (passwordFile !== undefined) address.username = ''
  return { caFile, passwordFile, address: address.href }
}

/** The password is read for each connection: it may have been rotated. */
function credentialsOf(username: string, file: string) {
  return {
    credentialsProvider: {
      type: 'async-credentials-provider' as const,
      credentials: async () => ({
        ...(username !== '' && { username: decodeURIComponent(username) }),
        password: (await readFile(file, 'utf8')).trim(),
      }),
    },
  }
}

/** A node-redis client; BullMQ takes it as its `connection`. */
export type RedisClient = ReturnType<typeof makeClient>

/**
 * Has a client, and those duplicated from it, end when they are destroyed while they connect. The library would open the connection
 * all the same and ask it for good whether it lives, which holds the process.
 */
function endsWhenDestroyed(made: RedisClient, family: RedialFamily = new Set()): RedisClient {
  // The library hands out views of a client; commands, and what the queues make of it, go to the client itself.
  const client = Object.hasOwn(made, '_self') ? made : (Object.getPrototypeOf(made) as RedisClient)
  client.on(
    'connect',
    boundary('redis', () => {
      if (!client.isOpen) client.destroy()
    }),
  )
  const { duplicate } = client
  client.duplicate = function (this: RedisClient, ...overrides: Parameters<typeof duplicate>) {
    return endsWhenDestroyed(duplicate.apply(this, overrides) as RedisClient, family)
  } as typeof duplicate
  redialsWhenStale(client, family)
  return made
}

/**
 * Connects to `redis://`, `rediss://` or `unix:///path/redis.sock?db=0`; `?cafile=` names the certificates of its authority,
 * `?passwordfile=` a file with the password. The client reconnects by itself ([redial.ts](../connections/redial.ts)). Pub/sub and blocking commands need
 * a connection of their own: `client.duplicate()`. Throws `unavailable` when the first connection fails.
 */
export async function createRedis(url: string, log: Logger): Promise<RedisClient> {
  const client = endsWhenDestroyed(makeClient(url))
  // Everything that keeps something in Redis, and each queue, looks after it when the connection comes back.
  client.setMaxListeners(0)
  let connected = false
  client.on(
    'error',
    boundary('redis', (err: Error) => {
      if (connected) log.error({ reason: err.message }, 'Redis is unreachable; reconnecting')
      connected = false
    }),
  )
  let everConnected = false
  client.on(
    'ready',
    boundary('redis', () => {
      if (everConnected) log.info('Redis answers again')
      everConnected = true
      connected = true
    }),
  )
  const giveUp = new AbortController()
  try {
    const timeout = sleep(CONNECT_TIMEOUT_MS, undefined, { signal: giveUp.signal }).then(() => {
      throw new PatchbayError('timeout', { params: { action: 'Connecting to Redis', timeoutMs: CONNECT_TIMEOUT_MS } })
    })
    await Promise.race([client.connect(), timeout])
    return client
  } catch (cause) {
    if (client.isOpen) client.destroy()
    throw new PatchbayError('unavailable', { cause })
  } finally {
    giveUp.abort()
  }
}
