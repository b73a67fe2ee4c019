import { createHash } from 'node:crypto'
import { addressNetwork } from '../../runtime/lib/address-network.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/**
 * How often something may be tried that strangers can guess at or that sends mail. Each kind counts by itself, twice: an account
 * from one address, and an address across accounts. Only failures count. Nothing counts against an account as such, so that a
 * stranger can't lock anybody out by guessing; a guesser with many addresses is slowed at each of them.
 */

const WINDOW_S = 900
const MOST_A_PAIR = 10
const MOST_AN_ADDRESS = 200
const MAIL_WINDOW_S = 3_600
const MOST_MAILS_AN_ACCOUNT = 5

export type AttemptKind = 'login' | 'signup' | 'forgotten' | 'verification'

export interface LoginAttempt {
  kind: AttemptKind
  /** E-mail address, as it was given. */
  account: string
  address: string
  requestId: string
  /**
   * Whether the account has used this address before: then what others tried there doesn't count against it. Asked once the
   * address is locked.
   */
  isKnownHere?(): Promise<boolean>
}

export interface LoginThrottle {
  /**
   * Runs `work`, whose refusal by a PatchbayError of 4xx counts as a failure; success forgets the pair's failures. Throws
   * `too_many_attempts` with Retry-After, which doesn't count.
   */
  guard<T>(attempt: LoginAttempt, work: () => Promise<T>): Promise<T>
  /** Counts an attempt whatever comes of it. Throws `too_many_attempts` with Retry-After. */
  count(attempt: LoginAttempt): Promise<void>
  /** Takes back what `count` counted. */
  forgive(attempt: LoginAttempt): Promise<void>
  /** Counts a mail to the account, from any address; false when the hourly limit is reached. */
  mayMail(kind: AttemptKind, account: string): Promise<boolean>
}

const hashOf = (account: string) => createHash('sha256').update(account.toLowerCase()).digest('base64url')

/** @param lockedOut called when a failure reaches a limit */
export function createLoginThrottle(
  redis: RedisClient,
  lockedOut: (attempt: LoginAttempt) => void = () => undefined,
): LoginThrottle {
  const underWay = new UnderWay()
  const keysOf = ({ kind, account, address }: LoginAttempt) => {
    const from = addressNetwork(address)
    const prefix = `patchbay:attempts:${kind}:`
    return { pair: `${prefix}${hashOf(account)}:${from}`, address: `${prefix}${from}` }
  }
  const countOne = async (key: string, windowS = WINDOW_S): Promise<number> => {
    const [n] = await redis.multi().incr(key).expire(key, windowS, 'NX').exec()
    return Number(n)
  }

  /** Waits while the attempts under way at this node could, if all failed, reach the limit. */
  async function takePlace(key: string, most: number, isExempt?: () => Promise<boolean>): Promise<() => void> {
    for (;;) {
      const failures = Number((await redis.get(key)) ?? 0)
      if (failures >= most) {
        if ((await isExempt?.()) === true) return () => undefined
        const leftS = await redis.ttl(key)
        throw new PatchbayError('too_many_attempts', { headers: { 'retry-after': String(Math.max(leftS, 1)) } })
      }
      if (failures + underWay.of(key) < most) return underWay.begin(key)
      await underWay.nextEnd(key)
    }
  }

  async function failed(attempt: LoginAttempt): Promise<void> {
    const keys = keysOf(attempt)
    const [ofPair, ofAddress] = await Promise.all([countOne(keys.pair), countOne(keys.address)])
    if (ofPair === MOST_A_PAIR || ofAddress === MOST_AN_ADDRESS) lockedOut(attempt)
  }

  async function within<T>(attempt: LoginAttempt, work: () => Promise<T>): Promise<T> {
    const keys = keysOf(attempt)
    const leavePair = await takePlace(keys.pair, MOST_A_PAIR)
    let leaveAddress: (() => void) | undefined
    try {
      leaveAddress = await takePlace(keys.address, MOST_AN_ADDRESS, attempt.isKnownHere)
      return await work()
    } finally {
      leaveAddress?.()
      leavePair()
    }
  }

  return {
    guard: (attempt, work) =>
      within(attempt, async () => {
        const result = await work().catch(async (error: unknown) => {
          if (error instanceof PatchbayError && error.status < 500) await failed(attempt)
          throw error
        })
        await redis.del(keysOf(attempt).pair)
        return result
      }),
    count: (attempt) => within(attempt, () => failed(attempt)),
    async forgive(attempt) {
      const keys = keysOf(attempt)
      // A window that has ended meanwhile begins anew, and ends, too.
      await Promise.all([
        redis.del(keys.pair),
        redis.multi().decr(keys.address).expire(keys.address, WINDOW_S, 'NX').exec(),
      ])
    },
    async mayMail(kind, account) {
      return (await countOne(`patchbay:mailed:${kind}:${hashOf(account)}`, MAIL_WINDOW_S)) <= MOST_MAILS_AN_ACCOUNT
    },
  }
}

/** How many attempts of a key run at this node. */
class UnderWay {
  readonly #places = new Map<string, { taken: number; waiting: (() => void)[] }>()

  of(key: string): number {
    return this.#places.get(key)?.taken ?? 0
  }

  /** Returns the function that ends it. */
  begin(key: string): () => void {
    const place = this.#places.get(key) ?? { taken: 0, waiting: [] }
    this.#places.set(key, place)
    place.taken++
    return () => {
      place.taken--
      if (place.taken === 0) this.#places.delete(key)
      for (const go of place.waiting.splice(0)) go()
    }
  }

  nextEnd(key: string): Promise<void> {
    const place = this.#places.get(key)
    return place === undefined ? Promise.resolve() : new Promise((resolve) => place.waiting.push(resolve))
  }
}
