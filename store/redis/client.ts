import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { backoffMs } from '../../runtime/lib/async/backoff.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'

const CONNECT_TIMEOUT_MS = 5_000
const COMMAND_TIMEOUT_MS = 5_000
const PING_INTERVAL_MS = 10_000
/** Longer than any blocking command (BullMQ's waits at most 10 s), so that only a dead peer runs into it. */
const SILENCE_TIMEOUT_MS = 30_000
const MAX_QUEUED_COMMANDS = 10_000
const RECONNECT = { firstMs: 50, mostMs: 2_000 }

function makeClient(url: string) {
  const common = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    // Without the random part all nodes would come back at the same moment.
    reconnectStrategy: (retries: number) => backoffMs(retries + 1, { ...RECONNECT, random: Math.random }),
  }
  const options = {
    pingInterval: PING_INTERVAL_MS,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    commandOptions: { timeout: COMMAND_TIMEOUT_MS },
  }
  const parsed = new URL(url)
  if (parsed.protocol !== 'unix:') return createClient({ ...options, url, socket: common })
  const database = Number(parsed.searchParams.get('db') ?? 0)
  return createClient({
    ...options,
    database,
    socket: { ...common, path: decodeURIComponent(parsed.pathname), tls: false },
  })
}

/** A node-redis client; BullMQ takes it as its `connection`. */
export type RedisClient = ReturnType<typeof makeClient>

/**
 * Has a client, and those duplicated from it, end when they are destroyed while they connect. The library would open the connection
 * all the same and ask it for good whether it lives, which holds the process.
 */
function endsWhenDestroyed(client: RedisClient): RedisClient {
  client.on(
    'connect',
    boundary('redis', () => {
      if (!client.isOpen) client.destroy()
    }),
  )
  const { duplicate } = client
  client.duplicate = function (this: RedisClient, ...overrides: Parameters<typeof duplicate>) {
    return endsWhenDestroyed(duplicate.apply(this, overrides) as RedisClient)
  } as typeof duplicate
  return client
}

/**
 * Connects to `redis://`, `rediss://` or `unix:///path/redis.sock?db=0`. The client reconnects by itself; a command that
 * could not be sent for 5 s is rejected, and a peer silent for 30 s counts as dead. Pub/sub and blocking commands need
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
