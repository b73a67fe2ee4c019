import type { ProcessUsage } from '../../process/process-usage.ts'

/** How often a process is looked at that has something to do, and one that has not. */
export const LOOK_EVERY_MS = 100
export const BEAT_EVERY_MS = 500
/**
 * One that is silent for the first of these and was busy meanwhile is stuck in a loop; a machine that is busy with others may
 * leave it without a turn for longer.
 */
const STUCK_AFTER_MS = 2_000
const STUCK_CPU_MS = 800
const SILENT_AFTER_MS = 15_000
/** Share of one core over this window: with more it takes time from the calls' audio. */
const HOG_SHARE = 0.6
const HOG_WINDOW_MS = 300
/** Below this for this long, its priority is restored. */
const MODEST_SHARE = 0.3
const MODEST_AFTER_MS = 5_000

/** What is to be done about a process. */
export type WatchAction = { end: string } | { yields: boolean } | undefined

/**
 * Judges how a plugin's process uses the machine: ended for its memory or for a loop, and given the lowest priority while it
 * takes more of a core than speech needs. Pure.
 */
export class ProcessWatch {
  readonly #maxMemoryBytes: number
  #beatAtMs: number
  /** CPU time it had used when it last beat in time. */
  #cpuAtBeatMs = 0
  #window: { atMs: number; cpuMs: number } | undefined
  #modestSinceMs: number | undefined
  #yields = false

  constructor(maxMemoryBytes: number, nowMs: number) {
    this.#maxMemoryBytes = maxMemoryBytes
    this.#beatAtMs = nowMs
  }

  beat(nowMs: number): void {
    this.#beatAtMs = nowMs
  }

  /** `isLoaded`: until then it compiles, and answers nothing. */
  look(nowMs: number, usage: Pick<ProcessUsage, 'memoryBytes' | 'cpuMs'>, isLoaded: boolean): WatchAction {
    const { memoryBytes, cpuMs } = usage
    if (memoryBytes > this.#maxMemoryBytes) return { end: `it took ${Math.round(memoryBytes / 2 ** 20)} MiB of memory` }
    const silentMs = nowMs - this.#beatAtMs
    if (!isLoaded || silentMs <= STUCK_AFTER_MS) this.#cpuAtBeatMs = cpuMs
    else if (cpuMs - this.#cpuAtBeatMs > STUCK_CPU_MS || silentMs > SILENT_AFTER_MS) {
      return { end: `it did not answer for ${Math.round(silentMs)} ms` }
    }
    return isLoaded ? this.#share(nowMs, cpuMs) : undefined
  }

  #share(nowMs: number, cpuMs: number): WatchAction {
    const window = this.#window
    if (window !== undefined && nowMs - window.atMs < HOG_WINDOW_MS) return undefined
    this.#window = { atMs: nowMs, cpuMs }
    if (window === undefined) return undefined
    const share = (cpuMs - window.cpuMs) / (nowMs - window.atMs)
    if (share > MODEST_SHARE) this.#modestSinceMs = undefined
    else this.#modestSinceMs ??= nowMs
    const yields = share > HOG_SHARE || (this.#yields && nowMs - (this.#modestSinceMs ?? nowMs) < MODEST_AFTER_MS)
    if (yields === this.#yields) return undefined
    this.#yields = yields
    return { yields }
  }
}
