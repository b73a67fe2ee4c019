import { addressNetwork } from '../../lib/address-network.ts'
import type { Clock } from '../../lib/clock.ts'

const WINDOW_MS = 60_000
const MOST_WRONG = 20
const MOST_NETWORKS = 10_000

/** Wrong link tokens by network: beyond 20 a minute a network is refused unheard, unless a voice worker has linked from there. */
export class WrongTokens {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #counts = new Map<string, { sinceMs: number; wrong: number }>()
  readonly #known = new Set<string>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  isRefused(address: string): boolean {
    const network = addressNetwork(address)
    const count = this.#counts.get(network)
    if (count === undefined || this.#known.has(network)) return false
    return count.wrong >= MOST_WRONG && this.#clock.monotonicMs() - count.sinceMs < WINDOW_MS
  }

  wrong(address: string): void {
    const network = addressNetwork(address)
    const nowMs = this.#clock.monotonicMs()
    const count = this.#counts.get(network)
    if (count !== undefined && nowMs - count.sinceMs < WINDOW_MS) {
      count.wrong++
      return
    }
    this.#counts.delete(network)
    if (this.#counts.size >= MOST_NETWORKS) this.#counts.delete(this.#counts.keys().next().value as string)
    this.#counts.set(network, { sinceMs: nowMs, wrong: 1 })
  }

  right(address: string): void {
    const network = addressNetwork(address)
    this.#counts.delete(network)
    this.#known.add(network)
  }
}
