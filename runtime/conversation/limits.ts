import type { SessionLimits } from '../link/messages.ts'

/** Ends a call that lasts too long or in which nobody speaks any more. Pure: time is passed in. */
export class CallLimits {
  readonly #limits: SessionLimits
  readonly #answeredMs: number
  #idleSinceMs: number | undefined

  /** @param answeredMs monotonic time at which the call was answered */
  constructor(limits: SessionLimits, answeredMs: number) {
    this.#limits = limits
    this.#answeredMs = answeredMs
  }

  /** The caller did something, or somebody speaks: idleness starts anew. */
  active(): void {
    this.#idleSinceMs = undefined
  }

  /** Call it often. `waiting`: the agent listens and nobody speaks. */
  check(nowMs: number, waiting: boolean): 'idle' | 'max_duration' | undefined {
    if (nowMs - this.#answeredMs >= this.#limits.maxDurationMs) return 'max_duration'
    if (!waiting) this.#idleSinceMs = undefined
    else this.#idleSinceMs ??= nowMs
    return this.#idleSinceMs !== undefined && nowMs - this.#idleSinceMs >= this.#limits.idleMs ? 'idle' : undefined
  }
}
