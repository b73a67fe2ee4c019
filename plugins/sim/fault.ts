import { APIConnectionError, APIStatusError } from '@livekit/agents'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { FaultPlan } from './scenario.ts'

/** Strikes requests of one provider instance as its plan says. */
export class Faults {
  readonly #plan: FaultPlan | undefined
  #requests = 0
  #struck = 0

  constructor(plan: FaultPlan | undefined) {
    this.#plan = plan
  }

  /** Begins a request: how much it may deliver before it is struck. Infinity: it goes well. */
  begin(): number {
    this.#requests++
    const plan = this.#plan
    if (!plan || this.#struck >= (plan.times ?? Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY
    if (plan.request !== undefined && plan.request !== this.#requests) return Number.POSITIVE_INFINITY
    return plan.after ?? 0
  }

  /** Fails as planned, the way a real provider's plugin does; a hang ends with `signal`. */
  async strike(signal: AbortSignal): Promise<never> {
    this.#struck++
    const kind = this.#plan?.kind ?? 'error'
    if (kind === 'hang') await aborted(signal)
    if (kind === 'rate_limit')
      throw new APIStatusError({ message: 'simulated rate limit', options: { statusCode: 429 } })
    if (kind === 'error') throw new APIStatusError({ message: 'simulated failure', options: { statusCode: 500 } })
    throw new APIConnectionError({ message: 'simulated disconnection' })
  }
}

/** Waits, or ends early with `signal`. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = boundary('provider', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    })
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
