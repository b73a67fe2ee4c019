import type { ProviderFault } from '../../plugin-sdk/provider-error.ts'

/** So many failures within the window, and the provider is left alone for a while. */
const FAILURES = 3
const WINDOW_MS = 30_000
const FIRST_REST_MS = 10_000
const MAX_REST_MS = 120_000
/** A key that is refused or an account without credit does not mend by itself within a call. */
const HOPELESS_REST_MS = 60_000
/** A trial that said nothing of itself within this is forgotten, and another may be made. */
const TRIAL_MS = 15_000

/**
 * Keeps calls from waiting for a provider that is known to be down. Closed: everything goes through. Open: nothing
 * does until its rest is over. Then one caller tries it: success closes it, failure doubles the rest. Pure: time is
 * passed in, in monotonic milliseconds.
 */
export class CircuitBreaker {
  #failedAtMs: number[] = []
  #openUntilMs: number | undefined
  #restMs = FIRST_REST_MS
  #trialAtMs: number | undefined

  state(nowMs: number): 'closed' | 'open' | 'half_open' {
    if (this.#openUntilMs === undefined) return 'closed'
    return nowMs < this.#openUntilMs ? 'open' : 'half_open'
  }

  /** Whether the provider is worth a request now. */
  allows(nowMs: number): boolean {
    const state = this.state(nowMs)
    if (state !== 'half_open') return state === 'closed'
    return this.#trialAtMs === undefined || nowMs - this.#trialAtMs >= TRIAL_MS
  }

  /** A request begins; while half open it is the one trial. */
  began(nowMs: number): void {
    if (this.state(nowMs) === 'half_open') this.#trialAtMs = nowMs
  }

  succeeded(): void {
    this.#failedAtMs = []
    this.#openUntilMs = undefined
    this.#trialAtMs = undefined
    this.#restMs = FIRST_REST_MS
  }

  /** A request failed. One that was itself wrong says nothing about the provider. */
  failed(fault: ProviderFault, nowMs: number): void {
    if (fault === 'bad_request') {
      this.#trialAtMs = undefined
      return
    }
    if (fault === 'authentication' || fault === 'quota') {
      this.#open(nowMs, HOPELESS_REST_MS)
      return
    }
    const state = this.state(nowMs)
    // Requests that began before it opened end later: they are no news.
    if (state === 'open') return
    if (state === 'half_open') {
      this.#restMs = Math.min(this.#restMs * 2, MAX_REST_MS)
      this.#open(nowMs, this.#restMs)
      return
    }
    this.#failedAtMs = [...this.#failedAtMs.filter((atMs) => nowMs - atMs < WINDOW_MS), nowMs]
    if (this.#failedAtMs.length >= FAILURES) this.#open(nowMs, this.#restMs)
  }

  #open(nowMs: number, restMs: number): void {
    this.#failedAtMs = []
    this.#trialAtMs = undefined
    this.#openUntilMs = nowMs + restMs
  }
}

/** More providers and models than this are forgotten, the oldest first. */
const MAX_BREAKERS = 1_000

/** The breakers of a process: what one session learns of a provider spares the others the wait. */
export class Breakers {
  readonly #breakers = new Map<string, CircuitBreaker>()

  of(stage: string, provider: string, model: string): CircuitBreaker {
    const key = JSON.stringify([stage, provider, model])
    const known = this.#breakers.get(key)
    if (known !== undefined) return known
    const breaker = new CircuitBreaker()
    this.#breakers.set(key, breaker)
    if (this.#breakers.size > MAX_BREAKERS) this.#breakers.delete(this.#breakers.keys().next().value!)
    return breaker
  }
}
