import type { RedisClient } from '../../store/redis/client.ts'
import { loadScript } from '../../store/redis/scripts/run.ts'
import type { Logger } from '../log.ts'
import { LEASE_MS } from './leases.ts'

/**
 * How many phone calls a workspace, and a number of it, have at once on all api nodes. Like slots they are leased: a node
 * that dies keeps no place.
 */

const RENEW_MS = 5_000

const takeScript = loadScript('take-quota-2.lua')
const renewScript = loadScript('renew-quota-2.lua')

/** What a call counts against; null: no limit. */
export interface QuotaClaim {
  callId: string
  workspaceId: string
  number: string
  workspaceMax: number | null
  numberMax: number | null
}

/** Both keys of a call carry its workspace as their hash tag, so that one script reaches both. */
const keysOf = ({ workspaceId, number }: QuotaClaim): string[] => [
  `patchbay:{quota:${workspaceId}}:workspace`,
  `patchbay:{quota:${workspaceId}}:number:${number}`,
]

export class Quotas {
  readonly #redis: RedisClient
  readonly #log: Logger
  readonly #held = new Map<string, QuotaClaim>()
  readonly #timer: NodeJS.Timeout

  constructor(redis: RedisClient, log: Logger) {
    this.#redis = redis
    this.#log = log
    this.#timer = setInterval(() => void this.#renew(), RENEW_MS)
  }

  /** Takes a place for the call, or says who has none. `release` it once the call is over. */
  async take(claim: QuotaClaim): Promise<'taken' | 'workspace_full' | 'number_full'> {
    const { callId, workspaceMax, numberMax } = claim
    const full = await takeScript.run(this.#redis, keysOf(claim), [
      callId,
      LEASE_MS,
      workspaceMax ?? -1,
      numberMax ?? -1,
    ])
    if (full === 1) return 'workspace_full'
    if (full === 2) return 'number_full'
    this.#held.set(callId, claim)
    return 'taken'
  }

  /** A call that took no place is no error. A Redis that is away forgets the place by itself. */
  release(callId: string): void {
    const claim = this.#held.get(callId)
    if (claim === undefined) return
    this.#held.delete(callId)
    Promise.all(keysOf(claim).map((key) => this.#redis.zRem(key, callId))).catch((err) => {
      this.#log.warn({ err, callId }, 'The place of an ended call is given back late')
    })
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    try {
      for (const claim of [...this.#held.values()]) {
        await renewScript.run(this.#redis, keysOf(claim), [claim.callId, LEASE_MS])
        if (!this.#held.has(claim.callId))
          await Promise.all(keysOf(claim).map((key) => this.#redis.zRem(key, claim.callId)))
      }
    } catch (err) {
      this.#log.warn({ err }, 'Places of running calls could not be renewed')
    }
  }
}
