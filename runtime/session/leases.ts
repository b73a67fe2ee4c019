import type { RedisClient } from '../../store/redis/client.ts'
import { loadScript } from '../../store/redis/scripts/run.ts'
import type { Logger } from '../log.ts'
import { type HeldSlot, renewSlots } from './slots.ts'

/**
 * What this api node holds in Redis: the calls whose legs it has and the slots they use, renewed while it lives. A node
 * that dies renews nothing, and the reaper ends its calls.
 */

export const LEASE_MS = 20_000
const RENEW_MS = 5_000
const LEASES = 'patchbay:{calls}:leases'

const renewScript = loadScript('renew-leases-1.lua')
const unleasedScript = loadScript('unleased-calls-1.lua')

/** Those of the calls that no api node holds. */
export async function unleasedCalls(redis: RedisClient, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return []
  return (await unleasedScript.run(redis, [LEASES], callIds)) as string[]
}

export class Leases {
  readonly #redis: RedisClient
  readonly #log: Logger
  readonly #calls = new Set<string>()
  readonly #slots = new Map<string, HeldSlot>()
  readonly #timer: NodeJS.Timeout
  #renewing = false

  constructor(redis: RedisClient, log: Logger) {
    this.#redis = redis
    this.#log = log
    this.#timer = setInterval(() => void this.renew(), RENEW_MS)
    // A Redis that comes back may have forgotten everything.
    redis.on('ready', this.renew)
  }

  /** Resolves once the call is leased. */
  async holdCall(callId: string): Promise<void> {
    this.#calls.add(callId)
    await renewScript.run(this.#redis, [LEASES], [LEASE_MS, callId])
  }

  async dropCall(callId: string): Promise<void> {
    this.#calls.delete(callId)
    await this.#redis.zRem(LEASES, callId)
  }

  holdSlot(held: HeldSlot): void {
    this.#slots.set(held.slot, held)
  }

  dropSlot(held: HeldSlot): void {
    if (this.#slots.get(held.slot)?.holder === held.holder) this.#slots.delete(held.slot)
  }

  readonly renew = async (): Promise<void> => {
    if (this.#renewing) return
    this.#renewing = true
    try {
      if (this.#calls.size > 0) await renewScript.run(this.#redis, [LEASES], [LEASE_MS, ...this.#calls])
      if (this.#slots.size > 0) {
        const lost = await renewSlots(this.#redis, [...this.#slots.values()], LEASE_MS)
        // The session goes on: its worker counts it, and takes no more than it has room for.
        for (const slot of lost) this.#slots.delete(slot)
        if (lost.length > 0) this.#log.warn({ slots: lost }, 'Slots of running sessions were given to others')
      }
    } catch (err) {
      this.#log.warn({ err }, 'Leases could not be renewed')
    } finally {
      this.#renewing = false
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#redis.off('ready', this.renew)
  }
}
