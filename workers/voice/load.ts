import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../runtime/clock.ts'

const SAMPLE_EVERY_MS = 1000
const RESOLUTION_MS = 10
/** One stall is an accident (a garbage collection); this many seconds with one each are overload. */
const OVERLOADED_AFTER_SAMPLES = 2
/** It is over once the lag stays below this share of the limit as long. */
const RECOVERED_BELOW = 0.5

/** Tells sustained lag from single stalls. Pure. */
export class LagGate {
  readonly #limitMs: number
  #above = 0
  #below = 0
  overloaded = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Takes the longest stall of the last second. */
  sample(lagMs: number): void {
    this.#above = lagMs > this.#limitMs ? this.#above + 1 : 0
    this.#below = lagMs < this.#limitMs * RECOVERED_BELOW ? this.#below + 1 : 0
    if (this.#above >= OVERLOADED_AFTER_SAMPLES) this.overloaded = true
    if (this.#below >= OVERLOADED_AFTER_SAMPLES) this.overloaded = false
  }
}

/** How busy this process is, measured once a second. */
export interface ProcessLoad {
  /** Share of one core. */
  readonly cpuUtilization: number
  /** Longest stall of the event loop in the last second. */
  readonly eventLoopLagMs: number
  readonly overloaded: boolean
  stop(): void
}

export function watchLoad(maxLagMs: number, clock: Clock): ProcessLoad {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const gate = new LagGate(maxLagMs)
  let cpuUtilization = 0
  let eventLoopLagMs = 0
  let cpu = process.cpuUsage()
  let atMs = clock.monotonicMs()
  const timer = setInterval(() => {
    eventLoopLagMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS)
    delays.reset()
    gate.sample(eventLoopLagMs)
    const nowMs = clock.monotonicMs()
    const used = process.cpuUsage(cpu)
    cpuUtilization = (used.user + used.system) / 1000 / Math.max(1, nowMs - atMs)
    cpu = process.cpuUsage()
    atMs = nowMs
  }, SAMPLE_EVERY_MS)
  return {
    get cpuUtilization() {
      return cpuUtilization
    },
    get eventLoopLagMs() {
      return eventLoopLagMs
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
