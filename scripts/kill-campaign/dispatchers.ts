import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** An api node, a job worker and a voice worker in one process, with a carrier that writes down whom it calls. */
const PROGRAM = new URL('../../test/support/phone-process.ts', import.meta.url)
const START_TIMEOUT_MS = 60_000

/** Processes that run campaigns; one that dies is replaced. */
export class Dispatchers {
  readonly #args: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #running = new Set<ChildProcess>()
  #stopping = false
  /** Processes that ended without having been killed. */
  readonly faults: string[] = []

  constructor(options: { databaseUrl: string; redisUrl: string; folder: string; env: Record<string, string> }) {
    this.#args = [options.databaseUrl, options.redisUrl, options.folder]
    // They start all the time: what one has compiled, the next need not.
    this.#env = { NODE_COMPILE_CACHE: join(options.folder, 'compiled'), ...process.env, ...options.env }
  }

  get size(): number {
    return this.#running.size
  }

  /** Resolves when it runs campaigns; one that doesn't, because the services were killed meanwhile, is started again. */
  async start(): Promise<void> {
    while (!this.#stopping) {
      const child = fork(PROGRAM, this.#args, { env: this.#env })
      try {
        const signal = AbortSignal.timeout(START_TIMEOUT_MS)
        const died = once(child, 'exit', { signal }).then(([code]) => {
          throw new Error(`It ended with ${code}`)
        })
        await Promise.race([once(child, 'message', { signal }), died])
        died.catch(() => {})
        this.#running.add(child)
        child.once('exit', (code) => {
          if (!this.#running.delete(child) || this.#stopping) return
          this.faults.push(`A process ended by itself with ${code}`)
          void this.start()
        })
        return
      } catch {
        child.kill('SIGKILL')
      }
    }
  }

  /** Kills the nth of those that run, and starts another in its place. False: there is none. */
  killOne(n: number): boolean {
    const all = [...this.#running]
    const victim = all[n % all.length]
    if (victim === undefined) return false
    this.#running.delete(victim)
    victim.kill('SIGKILL')
    void this.start()
    return true
  }

  stop(): void {
    this.#stopping = true
    for (const child of this.#running) child.kill('SIGKILL')
  }
}
