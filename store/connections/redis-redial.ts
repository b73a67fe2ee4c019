import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { RedisClient } from '../redis/client.ts'
import { endsRedisConnection, isLoss, RedisLostError, RedisSilentError } from './outage.ts'
import { ALIVE_TIMEOUT_MS, ANSWER_TIMEOUT_MS, HEARTBEAT_MS, REPEAT_FOR_MS, redialInMs } from './redial.ts'

/** A connection that served for so long is a good one: the waits start anew. */
const PROVEN_MS = 10_000
const BLOCKING = /^B(?:[LR]POP|[LR]MOVE|ZPOP|ZMPOP|LMPOP|RPOPLPUSH)/

/** Of those in use: they change nothing, so that it does no harm to ask twice. */
const READS = new Set(
  'EXISTS GET GETEX HGET HGETALL HMGET HVALS LRANGE MGET PING PTTL SMEMBERS TTL XRANGE XREVRANGE ZCARD ZCOUNT ZRANGE ZSCORE'.split(
    ' ',
  ),
)

type Args = Parameters<RedisClient['sendCommand']>[0]

/**
 * Drops the connection of a client and dials again where its server turned into a replica, is loading, or is silent; asks again what
 * such a server refused. The library alone reconnects only where the socket closes, which a failover need not do.
 */
export function redialsWhenStale(client: RedisClient, family: RedialFamily): void {
  const redial = new Redial(client, family)
  const { decoder } = client._getQueue()
  const { onErrorReply } = decoder
  decoder.onErrorReply = (error) => {
    onErrorReply(error)
    // After the replies that came with it.
    if (endsRedisConnection(error)) queueMicrotask(boundary('redis', () => redial.drop(error)))
  }
  const { sendCommand } = client
  client.sendCommand = function (this: RedisClient, args: Args, options?: object) {
    return redial.ask(args, () => sendCommand.call(this, args, options))
  } as RedisClient['sendCommand']
  client.on('ready', boundary('redis', redial.watch))
  client.on(
    'end',
    boundary('redis', () => family.delete(redial)),
  )
}

/** Connections to one address. */
export type RedialFamily = Set<{ suspect(why: Error): void }>

class Redial {
  readonly #client: RedisClient
  readonly #family: RedialFamily
  /** In a row, without a connection that served for long. */
  #drops = 0
  #readyAtMs = Number.NEGATIVE_INFINITY
  #nextDropMs = 0
  #dropLater: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  /** Until when a blocking command may rightly be silent. */
  #blockedUntilMs = 0
  #blocked = 0

  constructor(client: RedisClient, family: RedialFamily) {
    this.#client = client
    this.#family = family
  }

  async ask<T>(args: Args, send: () => Promise<T>): Promise<T> {
    const block = blockMs(args)
    if (block !== undefined) {
      this.#blocked++
      this.#blockedUntilMs = performance.now() + block + ANSWER_TIMEOUT_MS
      return send().finally(() => this.#blocked--)
    }
    const endMs = performance.now() + REPEAT_FOR_MS
    for (let attempt = 1; ; attempt++) {
      try {
        return await send()
      } catch (cause) {
        const error = isLoss(cause) ? new RedisLostError(cause) : cause
        const pauseMs = redialInMs(attempt)
        // What a replica refused was not executed; what was under way when the connection broke may have been.
        const isSafe = endsRedisConnection(error) || (error instanceof RedisLostError && READS.has(nameOf(args)))
        if (!isSafe || !this.#client.isOpen || performance.now() + pauseMs > endMs) throw error
        await sleep(pauseMs, undefined, { ref: false })
      }
    }
  }

  /** Ends the connection and dials again; with growing pauses where the new one is no better. */
  readonly drop = (why: Error): void => {
    const nowMs = performance.now()
    if (!this.#client.isReady || this.#dropLater !== undefined) return
    if (nowMs < this.#nextDropMs) {
      this.#dropLater = setTimeout(
        boundary('redis', () => {
          this.#dropLater = undefined
          this.drop(why)
        }),
        this.#nextDropMs - nowMs,
      ).unref()
      return
    }
    this.#drops = nowMs - this.#readyAtMs > PROVEN_MS ? 1 : this.#drops + 1
    this.#nextDropMs = nowMs + redialInMs(this.#drops)
    this.#redial(why)
  }

  /** Another connection to the same address fell silent: what is blocked on this one would be found out much later. */
  suspect(why: Error): void {
    if (this.#blocked > 0) this.drop(why)
  }

  readonly watch = (): void => {
    this.#family.add(this)
    this.#readyAtMs = performance.now()
    this.#beatLater()
  }

  #redial(why: Error): void {
    const client = this.#client
    clearTimeout(this.#heartbeat)
    const socket = client._ejectSocket()
    socket.destroy()
    client._insertSocket(socket)
    // From here on it is open again, and commands wait for it.
    const dialled = socket.connect()
    client._getQueue().flushWaitingForReply(why)
    client.emit('error', why)
    client.emit('reconnecting')
    // Its errors are events of the client.
    dialled.catch(() => {})
  }

  #beatLater(): void {
    clearTimeout(this.#heartbeat)
    this.#heartbeat = setTimeout(
      boundary('redis', () => inBackground('redis', this.#beat())),
      HEARTBEAT_MS,
    ).unref()
  }

  async #beat(): Promise<void> {
    const client = this.#client
    const epoch = client.socketEpoch
    if (!client.isReady) return
    const isAlive = this.#blocked > 0 ? await this.#isBlockedRightly() : await this.#answers()
    if (!client.isReady || client.socketEpoch !== epoch) return
    if (isAlive) {
      this.#beatLater()
      return
    }
    const why = new RedisSilentError(ALIVE_TIMEOUT_MS)
    this.drop(why)
    for (const other of this.#family) if (other !== this) other.suspect(why)
  }

  /** What is asked behind a blocking command is answered after it. */
  async #isBlockedRightly(): Promise<boolean> {
    await turnsOfTheLoop()
    return this.#blocked === 0 || performance.now() < this.#blockedUntilMs
  }

  async #answers(): Promise<boolean> {
    let isAnswered = false
    const answered = (): void => {
      isAnswered = true
    }
    const ping = this.#client.sendCommand(['PING']).then(answered, answered)
    const late = new AbortController()
    const timer = sleep(ALIVE_TIMEOUT_MS, undefined, { signal: late.signal, ref: false }).catch(() => {})
    await Promise.race([ping, timer])
    late.abort()
    if (!isAnswered) await turnsOfTheLoop()
    return isAnswered
  }
}

/** A process that was suspended finds its timers due before the answers that have long been there. */
async function turnsOfTheLoop(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

const nameOf = (args: Args): string => String(args[0]).toUpperCase()

/** How long a blocking command may be silent; undefined: it isn't one. */
function blockMs(args: Args): number | undefined {
  const name = nameOf(args)
  if (!BLOCKING.test(name)) return undefined
  const timeoutS = Number(/^B[ZL]MPOP$/.test(name) ? args[1] : args.at(-1))
  return (Number.isFinite(timeoutS) ? timeoutS : 0) * 1_000
}
