import { monitorEventLoopDelay } from 'node:perf_hooks'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'

const SAMPLE_EVERY_MS = 1000
const RESOLUTION_MS = 10
/** It is over once the lag stays below this share of the limit as long. */
const RECOVERED_BELOW = 0.5

/**
 * Tells sustained lag from single stalls: one is an accident (a garbage collection), two seconds with one each are
 * overload, and two quiet ones end it. It is overloaded exactly while `lagMs` is above `limitMs`. Pure.
 */
export class LagGate {
  readonly #limitMs: number
  #last: [number, number] = [0, 0]
  overloaded = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The number judged: the smaller stall of the last two seconds, while overloaded the longer. */
  get lagMs(): number {
    return this.overloaded ? Math.max(...this.#last) : Math.min(...this.#last)
  }

  /** What it is judged by: lower while overloaded. */
  get limitMs(): number {
    return this.overloaded ? this.#limitMs * RECOVERED_BELOW : this.#limitMs
  }

  /** Takes the longest stall of the last second. */
  sample(lagMs: number): void {
    this.#last = [this.#last[1], lagMs]
    this.overloaded = this.lagMs > this.limitMs
  }
}

/** How busy this process is, measured once a second. */
interface ProcessLoad {
  /** Share of one core. */
  readonly cpuUtilization: number
  /** How long the event loop stalls, as it is judged. */
  readonly eventLoopLagMs: number
  /** Overloaded above this. */
  readonly limitMs: number
  readonly overloaded: boolean
  stop(): void
}

export function watchLoad(maxLagMs: number, clock: Clock): ProcessLoad {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const gate = new LagGate(maxLagMs)
  let cpuUtilization = 0
  let cpu = process.cpuUsage()
  let atMs = clock.monotonicMs()
  const timer = setInterval(
    boundary('call', () => {
      gate.sample(Math.max(0, delays.max / 1e6 - RESOLUTION_MS))
      delays.reset()
      const nowMs = clock.monotonicMs()
      const used = process.cpuUsage(cpu)
      cpuUtilization = (used.user + used.system) / 1000 / Math.max(1, nowMs - atMs)
      cpu = process.cpuUsage()
      atMs = nowMs
    }),
    SAMPLE_EVERY_MS,
  )
  return {
    get cpuUtilization() {
      return cpuUtilization
    },
    get eventLoopLagMs() {
      return gate.lagMs
    },
    get limitMs() {
      return gate.limitMs
    },
    get overloaded() {
      return gate.overloaded
    },
    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}
