import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../runtime/lib/clock.ts'
import { type DigestAlgorithm, formatChallenge, parseDigestAnswer, verifyAnswer } from '../message/digest.ts'
import { headerOf, type SipHeader, SipParseError, type SipRequest } from '../message/message.ts'

const REALM = 'patchbay'
/** An answer to an older challenge is stale. */
const NONCE_LIFE_MS = 60_000
const MAX_USED = 20_000
/** Much of what is in use takes the first challenge or none, and knows MD5 alone. */
const ALGORITHMS: readonly DigestAlgorithm[] = ['MD5', 'SHA-256']

type Proof =
  | { verdict: 'missing' }
  | { verdict: 'stale' }
  | { verdict: 'wrong'; username: string | undefined }
  /** The owner that `credentialsOf` returned for this username. */
  | { verdict: 'proven'; username: string; index: number }

/** Asks callers from unknown addresses for a password (RFC 3261, section 22; RFC 8760). Nonces carry their own time. */
export class Challenger {
  readonly #clock: Clock
  readonly #key = randomBytes(32)
  /** Nonce with its count, so that an answer is not taken twice. */
  readonly #used = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The headers of a 401. */
  challenge(stale: boolean, algorithms = ALGORITHMS): SipHeader[] {
    const nonce = this.#nonce(this.#clock.nowMs().toString(36))
    return algorithms.map((algorithm) => ({
      name: 'www-authenticate',
      value: formatChallenge({ realm: REALM, nonce, algorithm, stale }),
    }))
  }

  #nonce(time: string): string {
    return `${time}.${createHmac('sha256', this.#key).update(time).digest('base64url')}`
  }

  /** Who sent the request, by its Authorization header. @param passwordsOf those that belong to a username */
  check(request: SipRequest, passwordsOf: (username: string) => readonly string[]): Proof {
    const value = headerOf(request, 'authorization')
    if (value === undefined) return { verdict: 'missing' }
    try {
      const answer = parseDigestAnswer(value)
      if (answer === undefined || answer.realm !== REALM) return { verdict: 'missing' }
      const { username } = answer
      if (!this.#isFresh(answer.nonce)) return { verdict: 'stale' }
      const index = passwordsOf(username).findIndex((password) =>
        verifyAnswer(answer, { username, password }, { method: request.method, body: request.body }),
      )
      if (index < 0) return { verdict: 'wrong', username }
      return this.#isFirstUse(`${answer.nonce} ${answer.nc} ${answer.cnonce}`)
        ? { verdict: 'proven', username, index }
        : { verdict: 'stale' }
    } catch (error) {
      if (error instanceof SipParseError) return { verdict: 'wrong', username: undefined }
      throw error
    }
  }

  /** Who a request says it is, without any proof; undefined: it says nothing. */
  claimed(request: SipRequest): string | undefined {
    try {
      const answer = parseDigestAnswer(headerOf(request, 'authorization') ?? '')
      return answer?.realm === REALM ? answer.username : undefined
    } catch (error) {
      if (error instanceof SipParseError) return undefined
      throw error
    }
  }

  #isFresh(nonce: string): boolean {
    const [time = ''] = nonce.split('.')
    const expected = Buffer.from(this.#nonce(time))
    const given = Buffer.from(nonce)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
    return this.#clock.nowMs() - Number.parseInt(time, 36) < NONCE_LIFE_MS
  }

  #isFirstUse(use: string): boolean {
    const nowMs = this.#clock.nowMs()
    for (const [old, atMs] of this.#used) {
      if (nowMs - atMs < NONCE_LIFE_MS && this.#used.size < MAX_USED) break
      this.#used.delete(old)
    }
    if (this.#used.has(use)) return false
    this.#used.set(use, nowMs)
    return true
  }
}
