import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Supervised, supervise } from '../runtime/process/supervisor.ts'
import type { Run } from './running.ts'

const MAIN = join(import.meta.dirname, '../main.ts')
const READY_TIMEOUT_MS = 60_000

interface ChildRole {
  /** As a log names it. */
  name: string
  role: 'jobs' | 'voice'
  /** What it needs to know; the token of the link and that there is no file to read it is told by itself. */
  env: NodeJS.ProcessEnv
  /** Options of Node beside those of this process. */
  nodeOptions?: readonly string[]
  /** Called with each child that was started. */
  spawned?(child: ChildProcess): void
}

/** Runs a role in a process of its own, again whenever it dies. Resolves once it serves. */
export function childRole({ config, log, flags, reloading }: Run, child: ChildRole): Promise<Supervised> {
  return supervise({
    name: child.name,
    log,
    spawn: () => {
      const started = fork(MAIN, [child.role, ...flags], {
        // A group of its own: a terminal's Ctrl-C reaches the parent, which lets the calls end first.
        detached: true,
        execArgv: [...process.execArgv, ...(child.nodeOptions ?? [])],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: {
          ...child.env,
          ...reloading.variables(),
          PATCHBAY_LINK_TOKEN: config.linkToken,
          PATCHBAY_ENV_FILE: 'none',
        },
      })
      child.spawned?.(started)
      return started
    },
    async ready(started, signal) {
      await once(started, 'message', { signal })
    },
    readyTimeoutMs: READY_TIMEOUT_MS,
    stopSignal: 'SIGTERM',
  })
}
