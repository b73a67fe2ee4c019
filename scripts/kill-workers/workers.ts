import { setTimeout as sleep } from 'node:timers/promises'
import type { RestClient } from '../demo/rest.ts'

const READY_TIMEOUT_MS = 90_000
const POLL_MS = 200

interface Workload {
  workers: { worker_id: string; state: string }[]
}

/** The voice workers of an instance on this machine, as its API names them. */
export class Workers {
  readonly #rest: RestClient
  readonly #signal: AbortSignal
  readonly #dead = new Set<string>()

  constructor(rest: RestClient, signal: AbortSignal) {
    this.#rest = rest
    this.#signal = signal
  }

  /** Waits until so many live. */
  async ready(count: number): Promise<void> {
    const deadlineMs = performance.now() + READY_TIMEOUT_MS
    while ((await this.#living()).length < count) {
      if (performance.now() > deadlineMs) throw new Error(`Not all of ${count} voice workers came back`)
      await sleep(POLL_MS, undefined, { signal: this.#signal })
    }
  }

  /** Kills one of them at that moment, or all, without any warning. Returns how many. */
  async killSome(afterMs: number, all: boolean, random: () => number): Promise<number> {
    const living = await this.#living()
    const chosen = all ? living : [living[Math.floor(random() * living.length)]!]
    await sleep(afterMs, undefined, { signal: this.#signal })
    for (const id of chosen) {
      this.#dead.add(id)
      process.kill(Number(/-(\d+)-[0-9a-f]+$/.exec(id)?.[1]), 'SIGKILL')
    }
    return chosen.length
  }

  async #living(): Promise<string[]> {
    const { workers } = await this.#rest.send<Workload>('GET', '/reports/workload')
    return workers
      .filter(({ worker_id, state }) => state === 'ready' && !this.#dead.has(worker_id))
      .map((one) => one.worker_id)
  }
}
