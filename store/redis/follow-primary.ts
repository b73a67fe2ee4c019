import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { CONNECT_TIMEOUT_MS, redialInMs } from '../connections/redial.ts'
import { createRedis, type RedisClient } from './client.ts'

/** A Redis that Sentinels look after, as one address that leads to its primary: Patchbay's own and the library's connections are the same. */

/** How often each Sentinel is asked: what is written to the old primary meanwhile is lost. */
const ASK_EVERY_MS = 250
const SENTINEL_PORT = 26_379
const UNKNOWN_NAME = /^ERR No such master/

/** Where the primary is. Of two Sentinels that differ the one with the higher epoch saw the later failover. */
interface Primary {
  readonly host: string
  readonly port: number
  readonly epoch: number
}

interface FollowOptions {
  /** Of the data nodes, with the name of the primary in place of a host: `rediss://user:password@mymaster/0?cafile=…`. */
  redisUrl: string
  /** The addresses from `sentinelUrls`. */
  sentinels: readonly string[]
  log: Logger
  /** Called with each primary before it is connected to. */
  onPrimary?: (host: string, port: number) => void
}

export interface FollowedPrimary {
  /** Of this process alone; leads to the primary, whichever that is. */
  readonly redisUrl: string
  close(): void
}

/** Sentinels as an operator lists them (`host`, `host:port`, `rediss://user:password@host:port?cafile=…`) as URLs. Throws `configuration`. */
export function sentinelUrls(listed: readonly string[]): string[] {
  return listed.map((entry) => {
    const text = entry.includes('://') ? entry : `redis://${entry}`
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
      const reason =
        'REDIS_SENTINELS must list addresses such as sentinel-1:26379 or redis://:password@sentinel-1:26379.'
      throw new PatchbayError('configuration', { params: { reason } })
    }
    if (url.port === '') url.port = `${SENTINEL_PORT}`
    return url.href
  })
}

/**
 * Opens a port of this machine that leads to the primary. What is connected to it when the Sentinels name another one is ended, so that it
 * dials again. Throws `unavailable` where no Sentinel answers, `configuration` where those that do know no primary of that name.
 */
export async function followPrimary(options: FollowOptions): Promise<FollowedPrimary> {
  const url = new URL(options.redisUrl)
  if (!/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    const reason =
      'With REDIS_SENTINELS the host of REDIS_URL is the name of the primary: redis://:password@mymaster/0.'
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const follower = new PrimaryFollower(options, url)
  try {
    await follower.open()
  } catch (error) {
    follower.close()
    throw error
  }
  return follower
}

class PrimaryFollower implements FollowedPrimary {
  readonly #name: string
  readonly #ca: Buffer | undefined
  readonly #isTls: boolean
  readonly #url: URL
  readonly #options: FollowOptions
  readonly #closing = new AbortController()
  /** The last answer of each Sentinel that answers. */
  readonly #said = new Map<string, Primary>()
  readonly #links = new Map<Socket, Primary>()
  readonly #server: Server
  #primary: Primary | undefined

  constructor(options: FollowOptions, url: URL) {
    this.#options = options
    this.#name = decodeURIComponent(url.hostname)
    this.#url = url
    this.#isTls = url.protocol === 'rediss:'
    const caFile = url.searchParams.get('cafile')
    this.#ca = caFile === null ? undefined : readFileSync(caFile)
    this.#server = createServer({ noDelay: true }, boundary('redis', this.#join))
  }

  get redisUrl(): string {
    const local = new URL(this.#url)
    // The way from this process to itself; what leaves the machine is encrypted below.
    local.searchParams.delete('cafile')
    const { port } = this.#server.address() as AddressInfo
    local.protocol = 'redis:'
    local.host = `127.0.0.1:${port}`
    return local.href
  }

  async open(): Promise<void> {
    const { sentinels } = this.#options
    const answers = sentinels.map((sentinel) => {
      const first = Promise.withResolvers<void>()
      inBackground('redis', this.#watch(sentinel, first))
      return first.promise
    })
    await Promise.any(answers).catch((error: AggregateError) => {
      throw error.errors.find((one) => one instanceof PatchbayError && one.code === 'configuration') ?? error.errors[0]
    })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    this.#server.unref()
  }

  close(): void {
    this.#closing.abort()
    this.#server.close()
    for (const client of this.#links.keys()) client.destroy()
  }

  /** Asks a Sentinel for good. What it says first, or why it says nothing, settles `first`. */
  async #watch(sentinel: string, first: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#closing
    const { host } = new URL(sentinel)
    const { log } = this.#options
    const quiet = log.child({}, { level: 'silent' })
    for (let failures = 0; !signal.aborted; ) {
      let client: RedisClient | undefined
      try {
        client = await createRedis(sentinel, quiet)
        while (!signal.aborted) {
          this.#hear(sentinel, await this.#ask(client))
          first.resolve()
          if (failures > 0) log.info({ sentinel: host }, 'A Redis Sentinel answers again')
          failures = 0
          await sleep(ASK_EVERY_MS, undefined, { signal, ref: false })
        }
      } catch (cause) {
        if (signal.aborted) return
        first.reject(cause)
        this.#said.delete(sentinel)
        const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : `${cause}`
        if (failures === 0) log.warn({ sentinel: host, reason }, 'A Redis Sentinel does not answer')
        await sleep(redialInMs(++failures), undefined, { signal, ref: false }).catch(() => {})
      } finally {
        client?.destroy()
      }
    }
  }

  async #ask(client: RedisClient): Promise<Primary> {
    try {
      const answer: unknown = await client.sendCommand(['SENTINEL', 'MASTER', this.#name])
      const { ip, port, 'config-epoch': epoch } = answer as Record<string, string | undefined>
      return { host: `${ip}`, port: Number(port), epoch: Number(epoch) }
    } catch (cause) {
      if (!(cause instanceof Error && UNKNOWN_NAME.test(cause.message))) throw cause
      const reason = `The Sentinels of REDIS_SENTINELS know no primary named "${this.#name}", which is the host in REDIS_URL.`
      throw new PatchbayError('configuration', { params: { reason }, cause })
    }
  }

  #hear(sentinel: string, said: Primary): void {
    this.#said.set(sentinel, said)
    const latest = [...this.#said.values()].reduce((one, other) => (other.epoch > one.epoch ? other : one))
    const before = this.#primary
    this.#primary = latest
    if (before !== undefined && isSame(before, latest)) return
    const { host, port } = latest
    this.#options.onPrimary?.(host, port)
    if (before !== undefined) this.#options.log.warn({ host, port }, 'The Redis Sentinels name another primary')
    for (const [client, primary] of this.#links) if (!isSame(primary, latest)) client.destroy()
  }

  readonly #join = (client: Socket): void => {
    client.on('error', () => {})
    const primary = this.#primary
    if (primary === undefined) {
      client.destroy()
      return
    }
    const server = this.#dial(primary)
    server.on('error', () => {})
    server.setTimeout(CONNECT_TIMEOUT_MS, () => server.destroy())
    server.once(
      this.#isTls ? 'secureConnect' : 'connect',
      boundary('redis', () => server.setTimeout(0)),
    )
    this.#links.set(client, primary)
    client.on(
      'close',
      boundary('redis', () => {
        this.#links.delete(client)
        server.destroy()
      }),
    )
    server.on(
      'close',
      boundary('redis', () => client.destroySoon()),
    )
    client.pipe(server)
    server.pipe(client)
  }

  #dial({ host, port }: Primary): Socket {
    const options = { host, port, noDelay: true, keepAlive: true }
    if (!this.#isTls) return connect(options)
    return connectTls({
      ...options,
      ...(this.#ca && { ca: this.#ca }),
      ...(isIP(host) === 0 && { servername: host }),
    })
  }
}

const isSame = (one: Primary, other: Primary): boolean => one.host === other.host && one.port === other.port
