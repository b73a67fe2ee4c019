import { createHash } from 'node:crypto'
import { addressNetwork } from '../../runtime/lib/address-network.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/**
 * How often something may be tried that strangers can guess at or that sends mail. Each kind counts by itself, twice: an account
 * from one address, and an address across accounts. Nothing counts against an account as such, so that a stranger can't lock
 * anybody out by guessing; a guesser with many addresses is slowed at each of them.
 */

const WINDOW_S = 900
const MOST_A_PAIR = 10
const MOST_AN_ADDRESS = 100
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
  /** Throws `too_many_attempts` with Retry-After. Counts an attempt beforehand, so that those at once count too. */
  enter(attempt: LoginAttempt): Promise<void>
  /** Takes back what `enter` counted. */
  succeeded(attempt: LoginAttempt): Promise<void>
  /** Counts a mail to the account, from any address; false when the hourly limit is reached. */
  mayMail(kind: AttemptKind, account: string): Promise<boolean>
}

const hashOf = (account: string) => createHash('sha256').update(account.toLowerCase()).digest('base64url')

/** @param lockedOut called at the first refused attempt of a window */
export function createLoginThrottle(
  redis: RedisClient,
  lockedOut: (attempt: LoginAttempt) => void = () => undefined,
): LoginThrottle {
  const keysOf = ({ kind, account, address }: LoginAttempt) => {
    const from = addressNetwork(address)
    const prefix = `patchbay:attempts:${kind}:`
    return { pair: `${prefix}${hashOf(account)}:${from}`, address: `${prefix}${from}` }
  }
  const count = async (key: string, windowS = WINDOW_S): Promise<number> => {
    const [n] = await redis.multi().incr(key).expire(key, windowS, 'NX').exec()
    return Number(n)
  }
  return {
    async enter(attempt) {
      const keys = keysOf(attempt)
      const [ofPair, ofAddress] = await Promise.all([count(keys.pair), count(keys.address)])
      const isPairLocked = ofPair > MOST_A_PAIR
      if (!isPairLocked && (ofAddress <= MOST_AN_ADDRESS || (await attempt.isKnownHere?.()) === true)) return
      if (ofPair === MOST_A_PAIR + 1 || (!isPairLocked && ofAddress === MOST_AN_ADDRESS + 1)) lockedOut(attempt)
      const leftS = await redis.ttl(isPairLocked ? keys.pair : keys.address)
      throw new PatchbayError('too_many_attempts', { headers: { 'retry-after': String(Math.max(leftS, 1)) } })
    },
    async succeeded(attempt) {
      const keys = keysOf(attempt)
      // A window that has ended meanwhile begins anew, and ends, too.
      await Promise.all([
        redis.del(keys.pair),
        redis.multi().decr(keys.address).expire(keys.address, WINDOW_S, 'NX').exec(),
      ])
    },
    async mayMail(kind, account) {
      return (await count(`patchbay:mailed:${kind}:${hashOf(account)}`, MAIL_WINDOW_S)) <= MOST_MAILS_AN_ACCOUNT
    },
  }
}
