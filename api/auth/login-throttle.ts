import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressNetwork } from '../../runtime/lib/address-network.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import {
  countFailure,
  forgetFailures,
  secondsLocked,
  takeAttempt,
  takeBackFailure,
} from '../../store/redis/attempts.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/**
 * How often something may be tried that strangers can guess at or that sends mail. Each kind counts by itself, twice: an account
 * from one address, and an address across accounts. Only failures count. Nothing counts against an account as such, so that a
 * stranger can't lock anybody out by guessing; a guesser with many addresses is slowed at each of them.
 */

const WINDOW_S = 900
const MOST_A_PAIR = 10
const MOST_AN_ADDRESS = 200
/** Before it is asked again whether an attempt may begin. */
const WAIT_MS = 25
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
  const keysOf = ({ kind, account, address }: LoginAttempt) => {
    const from = addressNetwork(address)
    const prefix = `attempts:${kind}:`
    return { pair: `${prefix}${hashOf(account)}:${from}`, address: `${prefix}${from}` }
  }
  /** Waits while the attempts under way at all nodes could, if all failed, reach the limit. */
  async function takePlace(key: string, most: number, isExempt?: () => Promise<boolean>): Promise<() => Promise<void>> {
    for (;;) {
      const place = await takeAttempt(redis, key, most)
      if (place.kind === 'taken') return place.release
      if (place.kind === 'wait') await sleep(WAIT_MS)
      else if ((await isExempt?.()) === true) return async () => undefined
      else {
        const headers = { 'retry-after': String(await secondsLocked(redis, key)) }
        throw new PatchbayError('too_many_attempts', { headers })
      }
    }
  }

  async function failed(attempt: LoginAttempt): Promise<void> {
    const keys = keysOf(attempt)
    const [ofPair, ofAddress] = await Promise.all([
      countFailure(redis, keys.pair, WINDOW_S),
      countFailure(redis, keys.address, WINDOW_S),
    ])
    if (ofPair === MOST_A_PAIR || ofAddress === MOST_AN_ADDRESS) lockedOut(attempt)
  }

  async function within<T>(attempt: LoginAttempt, work: () => Promise<T>): Promise<T> {
    const keys = keysOf(attempt)
    const leavePair = await takePlace(keys.pair, MOST_A_PAIR)
    let leaveAddress: (() => Promise<void>) | undefined
    try {
      leaveAddress = await takePlace(keys.address, MOST_AN_ADDRESS, attempt.isKnownHere)
      return await work()
    } finally {
      // A place that can't be given back ends by itself.
      await Promise.allSettled([leaveAddress?.(), leavePair()])
    }
  }

  return {
    guard: (attempt, work) =>
      within(attempt, async () => {
        const result = await work().catch(async (error: unknown) => {
          if (error instanceof PatchbayError && error.status < 500) await failed(attempt)
          throw error
        })
        await forgetFailures(redis, keysOf(attempt).pair)
        return result
      }),
    count: (attempt) => within(attempt, () => failed(attempt)),
    async forgive(attempt) {
      const keys = keysOf(attempt)
      await Promise.all([forgetFailures(redis, keys.pair), takeBackFailure(redis, keys.address, WINDOW_S)])
    },
    async mayMail(kind, account) {
      return (await countFailure(redis, `mailed:${kind}:${hashOf(account)}`, MAIL_WINDOW_S)) <= MOST_MAILS_AN_ACCOUNT
    },
  }
}
