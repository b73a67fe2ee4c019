import { createHash } from 'node:crypto'
import { addressNetwork } from '../../runtime/address-network.ts'
import { PatchbayError } from '../../runtime/errors.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/**
 * How often a password may be wrong. Two counts, both of failures alone: of an account from one address, and of an address
 * whatever the account. Nothing counts against an account as such, so that a stranger can't lock anybody out by guessing;
 * whoever guesses from many addresses is slowed by each of them.
 */

const WINDOW_S = 900
const MOST_A_PAIR = 10
const MOST_AN_ADDRESS = 100
const PREFIX = 'patchbay:login:'

export interface LoginThrottle {
  /** Throws `too_many_attempts` with Retry-After. Counts an attempt beforehand, so that those at once count too. */
  enter(email: string, address: string): Promise<void>
  /** Takes back what `enter` counted: the password was right. */
  succeeded(email: string, address: string): Promise<void>
}

export function createLoginThrottle(redis: RedisClient): LoginThrottle {
  const keysOf = (email: string, address: string) => {
    const from = addressNetwork(address)
    const account = createHash('sha256').update(email.toLowerCase()).digest('base64url')
    return { pair: `${PREFIX}${account}:${from}`, address: `${PREFIX}${from}` }
  }
  const count = async (key: string): Promise<number> => {
    const [n] = await redis.multi().incr(key).expire(key, WINDOW_S, 'NX').exec()
    return Number(n)
  }
  return {
    async enter(email, address) {
      const keys = keysOf(email, address)
      const [ofPair, ofAddress] = await Promise.all([count(keys.pair), count(keys.address)])
      if (ofPair <= MOST_A_PAIR && ofAddress <= MOST_AN_ADDRESS) return
      const leftS = await redis.ttl(ofPair > MOST_A_PAIR ? keys.pair : keys.address)
      throw new PatchbayError('too_many_attempts', { headers: { 'retry-after': String(Math.max(leftS, 1)) } })
    },
    async succeeded(email, address) {
      const keys = keysOf(email, address)
      await Promise.all([redis.del(keys.pair), redis.decr(keys.address)])
    },
  }
}
