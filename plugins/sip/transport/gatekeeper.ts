import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../runtime/log.ts'

/** Datagrams a second from one address before anything of them is read: 100 calls a second with all that belongs to them. */
const KNOWN = { perSecond: 2_000, burst: 4_000 }
/** From an address nobody expects calls from, where some trunk lets callers prove themselves by password. */
const STRANGER = { perSecond: 5, burst: 20 }
/** From all of those together: senders' addresses can be made up. */
const STRANGERS = { perSecond: 200, burst: 400 }
const MAX_SOURCES = 10_000
/** Whoever proved who they are may say as much as a trunk's own address, so long. */
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

  take(nowMs: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) / 1_000) * this.#perSecond)
    this.#atMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}

/** Decides who may speak at all, before a byte is parsed, and keeps the books of those who may not. */
export class Gatekeeper {
  readonly refusals = new Map<string, number>()
  readonly #clock: Clock
  readonly #log: Logger
  readonly #knows: (address: string) => boolean
  readonly #takesStrangers: () => boolean
  readonly #known = new Map<string, TokenBucket>()
  readonly #unknown = new Map<string, TokenBucket>()
  readonly #strangers: TokenBucket
  /** Addresses whose callers gave the right password, and until when that counts. */
  readonly #proven = new Map<string, number>()
  readonly #guesses = new Map<string, { wrong: number; locks: number; untilMs: number }>()
  readonly #told = new Map<string, number>()
  readonly #tellings = new Map<Refusal, { fromMs: number; times: number }>()

  /** @param takesStrangers is there a trunk whose callers prove themselves by password, from anywhere? */
  constructor(options: {
    clock: Clock
    log: Logger
    knows(address: string): boolean
    takesStrangers(): boolean
  }) {
    this.#clock = options.clock
    this.#log = options.log
    this.#knows = options.knows
    this.#takesStrangers = options.takesStrangers
    this.#strangers = new TokenBucket(STRANGERS, options.clock.monotonicMs())
  }

  /** Does a trunk have this address? */
  isKnown(address: string): boolean {
    return this.#knows(address)
  }

  /** May this datagram or connection be read? */
  admits(address: string): boolean {
    const known = this.#knows(address)
    if (!known && !this.#takesStrangers()) {
      this.refuse('unknown_source', address, 'No trunk has this address in its list')
      return false
    }
    const nowMs = this.#clock.monotonicMs()
    if (!known && (this.#guesses.get(address)?.untilMs ?? 0) > nowMs) {
      this.refuse('locked_out', address, 'Too many wrong passwords')
      return false
    }
    const trusted = known || this.isProven(address)
    // A flood of made-up addresses takes the place of its own kind, never of those who are known.
    const bucket = bucketOf(trusted ? this.#known : this.#unknown, address, trusted ? KNOWN : STRANGER, nowMs)
    if (bucket.take(nowMs) && (trusted || this.#strangers.take(nowMs))) return true
    this.refuse('rate_limited', address, 'More messages a second than an honest peer sends')
    return false
  }

  /** Did somebody there give the right password, not long ago? */
  isProven(address: string): boolean {
    return (this.#proven.get(address) ?? 0) > this.#clock.monotonicMs()
  }

  /** Somebody there gave the right password. */
  proved(address: string): void {
    this.#guesses.delete(address)
    remember(this.#proven, address, this.#clock.monotonicMs() + PROVEN_MS)
  }

  /** Somebody there gave a wrong password: after too many nobody there is heard for a while. */
  guessed(address: string): void {
    const nowMs = this.#clock.monotonicMs()
    const before = this.#guesses.get(address) ?? { wrong: 0, locks: 0, untilMs: 0 }
    const wrong = before.wrong + 1
    const locked = wrong >= MAX_WRONG
    remember(this.#guesses, address, {
      wrong: locked ? 0 : wrong,
      locks: before.locks + (locked ? 1 : 0),
      untilMs: locked ? nowMs + Math.min(LOCKED_MS * 2 ** before.locks, MAX_LOCKED_MS) : before.untilMs,
    })
    if (locked) this.#proven.delete(address)
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
      this.#log.warn({ reason }, 'SIP refused: the same of more addresses than are told of; the counters have them all')
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
