import type { Clock } from '../../lib/clock.ts'
import { explainFailure, type ProviderFailure, type ProviderIdentity } from '../../plugin-sdk/provider-error.ts'
import type { CircuitBreaker } from './breaker.ts'

export type ProviderKind = 'stt' | 'llm' | 'tts'

/** One provider of a stage, as this conversation made it. */
export interface Candidate<T> {
  readonly instance: T
  readonly provider: string
  readonly identity: ProviderIdentity
  readonly breaker: CircuitBreaker
  /** A voice whose sound comes by itself, whatever text it is given. */
  readonly speaksByItself?: boolean
}

export interface ChainEvents {
  /** A provider failed. `message` is for the operator: what happened, what to do, and what was done. */
  failed(stage: ProviderKind, message: string, failure: ProviderFailure, error: unknown): void
  /** Another provider served than the one before, at first the one the agent names first. */
  switched?(stage: ProviderKind, from: string, to: string): void
}

/** The providers of a stage in the order the agent names them, with what is known of their health. */
export class Chain<T> {
  readonly stage: ProviderKind
  readonly candidates: readonly Candidate<T>[]
  readonly #clock: Clock
  readonly #events: ChainEvents
  /** Of the last failure, in words an operator understands. */
  lastFailure: string | undefined
  /** The last failure will be the same next time: the key or the account is the reason. */
  hopeless = false
  /** Who served last. */
  #serving: string | undefined

  constructor(stage: ProviderKind, candidates: readonly Candidate<T>[], clock: Clock, events: ChainEvents) {
    this.stage = stage
    this.candidates = candidates
    this.#clock = clock
    this.#events = events
    this.#serving = candidates[0]?.provider
  }

  /** The same behind another one, for one use. */
  behind(first: Candidate<T>): Chain<T> {
    return new Chain(this.stage, [first, ...this.candidates], this.#clock, this.#events)
  }

  /** The one the agent names first. */
  get first(): T {
    return this.candidates[0]!.instance
  }

  /** All of them in the order to try: those worth a request, then, lest nothing is tried at all, the others. */
  order(): Candidate<T>[] {
    const nowMs = this.#clock.monotonicMs()
    const worth = this.candidates.filter(({ breaker }) => breaker.allows(nowMs))
    return [...worth, ...this.candidates.filter((candidate) => !worth.includes(candidate))]
  }

  began(candidate: Candidate<T>): void {
    candidate.breaker.began(this.#clock.monotonicMs())
  }

  succeeded(candidate: Candidate<T>): void {
    candidate.breaker.succeeded()
    if (this.#serving === undefined || candidate.provider === this.#serving) return
    this.#events.switched?.(this.stage, this.#serving, candidate.provider)
    this.#serving = candidate.provider
  }

  /** Something is odd about an answer that was given all the same. */
  noted(words: string): void {
    const title = this.candidates.find(({ provider }) => provider === this.#serving)?.identity.title ?? 'A provider'
    const message = `${title} gave an answer that is not whole: ${words}`
    const failure = { fault: 'transient', status: undefined, retryable: false, message } as const
    this.#events.failed(this.stage, message, failure, undefined)
  }

  /** Judges the failure, remembers it and tells it. `next`: who is tried instead. */
  failed(candidate: Candidate<T>, error: unknown, next: Candidate<T> | undefined): ProviderFailure {
    const failure = explainFailure(candidate.identity, error)
    candidate.breaker.failed(failure.fault, this.#clock.monotonicMs())
    const went = next === undefined || next === candidate ? '' : `; went on with ${next.identity.title}`
    this.lastFailure = failure.message
    this.hopeless = failure.fault === 'authentication' || failure.fault === 'quota'
    this.#events.failed(this.stage, `${failure.message}${went}`, failure, error)
    return failure
  }
}
