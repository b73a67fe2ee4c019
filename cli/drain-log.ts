import { boundary } from '../runtime/lib/async/boundary.ts'
import type { Role } from '../runtime/plugin/role.ts'
import type { Logger } from '../runtime/process/log.ts'

const INTERVAL_MS = 60_000

interface Draining {
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly roles: readonly Pick<Role, 'name' | 'calls'>[]
  /** A signal, `drain`, or another cause of the stop. */
  readonly reason: string
  readonly limitMs: number
  readonly intervalMs?: number
}

/** Logs that roles stop: why and with what, each minute what remains, and what the limit cut. */
export class DrainLog {
  readonly #draining: Draining
  readonly #startedMs = performance.now()
  readonly #minutes: NodeJS.Timeout
  readonly #limit: NodeJS.Timeout

  constructor(draining: Draining) {
    this.#draining = draining
    const { log, reason, limitMs, intervalMs = INTERVAL_MS } = draining
    const calls = this.#calls()
    const limit = calls === 0 ? '' : `; they may go on for ${spoken(limitMs)}`
    log.info({ ...this.#about(), reason, limitMs }, `Draining because of ${reason}: ${counted(calls)}${limit}`)
    this.#minutes = setInterval(
      boundary('process', () => {
        const left = Math.max(0, limitMs - (performance.now() - this.#startedMs))
        log.info(
          { ...this.#about(), leftMs: Math.round(left) },
          `Draining: ${counted(this.#calls())}, ${spoken(left)} left`,
        )
      }),
      intervalMs,
    )
    this.#limit = setTimeout(
      boundary('process', () => {
        const cut = this.#calls()
        if (cut > 0) log.warn({ ...this.#about(), limitMs }, `The time to drain is over: ${counted(cut)} cut off`)
      }),
      limitMs,
    )
    this.#minutes.unref()
    this.#limit.unref()
  }

  /** A second signal came. */
  forced(): void {
    const { log } = this.#draining
    log.warn(this.#about(), `A second signal stops at once: ${counted(this.#calls())} cut off`)
    this.#end()
  }

  stopped(): void {
    const seconds = Math.round((performance.now() - this.#startedMs) / 1_000)
    this.#end()
    this.#draining.log.info(
      { roles: this.#draining.roles.map(({ name }) => name) },
      `Stopped after ${seconds} s of draining`,
    )
  }

  #end(): void {
    clearInterval(this.#minutes)
    clearTimeout(this.#limit)
  }

  #calls(): number {
    return this.#draining.roles.reduce((sum, role) => sum + (role.calls?.() ?? 0), 0)
  }

  #about(): { roles: string[]; calls: number } {
    return { roles: this.#draining.roles.map(({ name }) => name), calls: this.#calls() }
  }
}

const counted = (calls: number): string => (calls === 1 ? '1 call' : `${calls} calls`)

function spoken(ms: number): string {
  return ms < 60_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}
