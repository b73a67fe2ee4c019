import { networkOf } from '../../../runtime/lib/address-range.ts'
import { plainAddress } from '../../../runtime/lib/client-address.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import type { Logger } from '../../../runtime/process/log.ts'

/** Messages a second of one trunk before anything of them is read: 100 calls a second with all that belongs to them. */
const KNOWN = { perSecond: 2_000, burst: 4_000 }
/** From an unknown address, where some trunk accepts calls by password. */
const STRANGER = { perSecond: 5, burst: 20 }
/** From all of those together: senders' addresses can be made up. */
const STRANGERS = { perSecond: 200, burst: 400 }
const MAX_SOURCES = 10_000
/** A longer message counts as several: it costs as much to read, to log and to keep while its transaction lasts. */
const BYTES_OF_ONE = 4_096
/** How long an authenticated source may send as much as a trunk's own address. */
const PROVEN_MS = 3_600_000
/** Wrong passwords in a row, after which an address is heard no more, and for how long; doubled with each time. */
const MAX_WRONG = 10
const LOCKED_MS = 60_000
const MAX_LOCKED_MS = 3_600_000
/** How often the log tells of the same reason from the same address. */
const TELL_EVERY_MS = 60_000
/** Of how many addresses it tells the same in that time: a flood must not fill the disk. */
const MAX_TOLD = 50

/** Tools that look for phone systems to abuse. Real phones never call themselves that. */
const SCANNERS =
  /friendly-scanner|sipvicious|sipcli|sip-scan|sipsak|sundayddr|pplsip|vaxsipuseragent|iwar|siparmyknife/i

/** Why something was turned away; each has its counter. */
export type Refusal =
  | 'unknown_source'
  | 'rate_limited'
  | 'malformed'
  | 'no_tls'
  | 'scanner'
  | 'wrong_credentials'
  | 'locked_out'
  | 'trunk_busy'
  | 'trunk_rate'
  | 'unknown_number'
  | 'no_agent'
  | 'no_capacity'
  | 'no_media'
  | 'forbidden'
  | 'failed'
  | 'country_not_allowed'
  | 'premium_number'
  | 'overloaded'

/** A bucket of tokens: so many a second, and so many at once. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #atMs: number

  constructor(limit: { perSecond: number; burst: number }, nowMs: number) {
    this.#perSecond = limit.perSecond
    this.#burst = limit.burst
    this.#tokens = limit.burst
    this.#atMs = nowMs
  }

  take(nowMs: number, tokens = 1): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) / 1_000) * this.#perSecond)
    this.#atMs = nowMs
    if (this.#tokens < tokens) return false
    this.#tokens -= tokens
    return true
  }
}

interface Guesses {
  /** How many, by the username. */
  readonly wrong: Map<string, number>
  readonly locks: number
  readonly untilMs: number
}

/** Decides who may speak at all, before a byte is parsed, and keeps the books of those who may not. */
export class Gatekeeper {
  readonly refusals = new Map<string, number>()
  readonly #clock: Clock
  readonly #log: Logger
  readonly #trunkAt: (address: string) => string | undefined
  readonly #takesStrangers: () => boolean
  readonly #known = new Map<string, TokenBucket>()
  readonly #unknown = new Map<string, TokenBucket>()
  readonly #strangers: TokenBucket
  /** Addresses whose callers gave the right password, and until when that counts. */
  readonly #proven = new Map<string, number>()
  /** Wrong passwords by network, and whose they were to be. */
  readonly #guesses = new Map<string, Guesses>()
  readonly #told = new Map<string, number>()
  readonly #tellings = new Map<Refusal, { fromMs: number; times: number }>()

  /**
   * @param trunkAt the trunk that has the address in its list; only what is that trunk's is let in by it
   * @param takesStrangers is there a trunk whose callers prove themselves by password, from anywhere?
   */
  constructor(options: {
    clock: Clock
    log: Logger
    trunkAt(address: string): string | undefined
    takesStrangers(): boolean
  }) {
    this.#clock = options.clock
    this.#log = options.log
    this.#trunkAt = options.trunkAt
    this.#takesStrangers = options.takesStrangers
    this.#strangers = new TokenBucket(STRANGERS, options.clock.monotonicMs())
  }

  /** Does a trunk have this address? */
  isKnown(address: string): boolean {
    return this.#trunkAt(address) !== undefined
  }

  /** May this datagram or connection be read? */
  admits(address: string, bytes = 0): boolean {
    const trunk = this.#trunkAt(address)
    if (trunk === undefined && !this.#takesStrangers()) {
      this.refuse('unknown_source', address, 'No trunk has this address in its list')
      return false
    }
    if (trunk === undefined && this.#refusesLocked(address)) return false
    const nowMs = this.#clock.monotonicMs()
    const messages = Math.max(1, Math.ceil(bytes / BYTES_OF_ONE))
    // A flood of made-up addresses takes the place of its own kind, never of those who are known.
    if (trunk !== undefined || this.isProven(address)) {
      if (bucketOf(this.#known, trunk ?? networkOf(address), KNOWN, nowMs).take(nowMs, messages)) return true
    } else if (this.#takeAsStranger(address, nowMs, messages)) return true
    this.#refuseFlood(address)
    return false
  }

  /**
   * May a request that no list lets in prove itself by a password? A trunk's list opens the way to that trunk alone: to all
   * others, callers from there are untrusted.
   */
  admitsProof(address: string): boolean {
    if (this.#refusesLocked(address)) return false
    // Of strangers the message was counted when it was read.
    if (this.#trunkAt(address) === undefined || this.isProven(address)) return true
    if (this.#takeAsStranger(address, this.#clock.monotonicMs())) return true
    this.#refuseFlood(address)
    return false
  }

  #takeAsStranger(address: string, nowMs: number, messages = 1): boolean {
    const own = bucketOf(this.#unknown, networkOf(address), STRANGER, nowMs)
    return own.take(nowMs, messages) && this.#strangers.take(nowMs, messages)
  }

  #refuseFlood(address: string): void {
    this.refuse('rate_limited', address, 'More messages a second than an honest peer sends')
  }

  #refusesLocked(address: string): boolean {
    if ((this.#guesses.get(networkOf(address))?.untilMs ?? 0) <= this.#clock.monotonicMs()) return false
    this.refuse('locked_out', address, 'Too many wrong passwords')
    return true
  }

  /** Has this source authenticated recently? */
  isProven(address: string): boolean {
    return (this.#proven.get(plainAddress(address)) ?? 0) > this.#clock.monotonicMs()
  }

  /** Correct password of this user: clears the source's failures for this user only. */
  proved(address: string, username: string): void {
    const network = networkOf(address)
    const guesses = this.#guesses.get(network)
    guesses?.wrong.delete(username)
    if (guesses?.wrong.size === 0) this.#guesses.delete(network)
    remember(this.#proven, plainAddress(address), this.#clock.monotonicMs() + PROVEN_MS)
  }

  /** Wrong password: after too many, the source's passwords are not checked for a while. */
  guessed(address: string, username: string): void {
    const nowMs = this.#clock.monotonicMs()
    const network = networkOf(address)
    const { wrong, locks, untilMs } = this.#guesses.get(network) ?? { wrong: new Map(), locks: 0, untilMs: 0 }
    wrong.set(username, (wrong.get(username) ?? 0) + 1)
    const isLocked = [...wrong.values()].reduce((sum, count) => sum + count, 0) >= MAX_WRONG
    if (isLocked) wrong.clear()
    remember(this.#guesses, network, {
      wrong,
      locks: locks + (isLocked ? 1 : 0),
      untilMs: isLocked ? nowMs + Math.min(LOCKED_MS * 2 ** locks, MAX_LOCKED_MS) : untilMs,
    })
    if (isLocked) this.#proven.delete(plainAddress(address))
  }

  /** Trunks changed: who was a stranger may be known now. */
  forget(): void {
    this.#known.clear()
    this.#unknown.clear()
  }

  isScanner(userAgent: string | undefined, address: string): boolean {
    if (userAgent === undefined || !SCANNERS.test(userAgent)) return false
    this.refuse('scanner', address, `It calls itself "${userAgent.slice(0, 60)}"`)
    return true
  }

  /** Counts a refusal; the log says its true reason, which the peer may not learn. */
  refuse(reason: Refusal, address: string, why: string, more: Record<string, unknown> = {}): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1)
    const key = `${reason} ${address}`
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - (this.#told.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return
    const recently = this.#tellings.get(reason)
    const telling =
      recently !== undefined && nowMs - recently.fromMs < TELL_EVERY_MS ? recently : { fromMs: nowMs, times: 0 }
    this.#tellings.set(reason, telling)
    if (telling.times++ > MAX_TOLD) return
    if (telling.times > MAX_TOLD) {
      this.#log.warn({ reason }, 'SIP refused: more addresses than are logged; the counters include all')
      return
    }
    if (this.#told.size >= MAX_SOURCES) this.#told.clear()
    this.#told.set(key, nowMs)
    this.#log.warn({ reason, from: address, ...more }, `SIP refused: ${why}`)
  }
}

/** The bucket of a source; where there are too many, the one that came first is forgotten. */
function bucketOf(
  buckets: Map<string, TokenBucket>,
  address: string,
  limit: { perSecond: number; burst: number },
  nowMs: number,
): TokenBucket {
  const known = buckets.get(address)
  if (known !== undefined) return known
  const [first] = buckets.keys()
  if (first !== undefined && buckets.size >= MAX_SOURCES) buckets.delete(first)
  const made = new TokenBucket(limit, nowMs)
  buckets.set(address, made)
  return made
}

/** Keeps what was noted last of so many sources. */
function remember<T>(notes: Map<string, T>, address: string, note: T): void {
  notes.delete(address)
  const [first] = notes.keys()
  if (first !== undefined && notes.size >= MAX_SOURCES) notes.delete(first)
  notes.set(address, note)
}
