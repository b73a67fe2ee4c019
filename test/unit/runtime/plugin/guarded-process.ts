/**
 * The process that the guard's tests run: it loads the plugins of a folder, installs the guard, lets the plugin `probe`
 * try what it is told, and prints what came of each try.
 */
import { spawnSync } from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import type { GrantFlags } from '../../../../runtime/plugin/grants/permissions.ts'

export interface GuardedRun {
  dir: string
  flags: GrantFlags
  env: Record<string, string>
  infrastructure: string[]
  /** What names stand for, in place of the system's lookup. */
  hosts?: Record<string, string>
  /** Bodies of async functions over `host` and `args`, by name. */
  probes: string[]
  args: Record<string, unknown>
  /** A try that takes longer is given up. */
  patienceMs?: number
}

export interface GuardedResult {
  /** What the process itself could start, beside what the plugin tried. */
  own: { program: number | null; thread: number }
  outcomes: Record<string, { value?: unknown; error?: string; code?: string }>
  refusals: Record<string, number>
  logged: string[]
}

const run = JSON.parse(process.argv[2] ?? '{}') as GuardedRun
const { hosts } = run
if (hosts !== undefined) {
  const standIn = (name: string, options: { all?: boolean }, answer: (...result: unknown[]) => void): void => {
    const address = hosts[name] ?? '203.0.113.1'
    if (options.all) answer(null, [{ address, family: 4 }])
    else answer(null, address, 4)
  }
  dns.lookup = standIn as unknown as typeof dns.lookup
}
const { allowInfrastructure, installGuard } = await import('../../../../runtime/plugin/guard/guard.ts')
const { loadPlugins } = await import('../../../../runtime/plugin/host.ts')
const { asProcess } = await import('../../../../runtime/process/own-act.ts')
const stop = new AbortController()
const logged: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) })
const registry = await loadPlugins({
  dir: run.dir,
  settingsFile: `${run.dir}/none.json`,
  config: run.flags,
  env: run.env,
  log,
  signal: stop.signal,
})
const refusals: Record<string, number> = {}
installGuard({
  grants: () => registry.grants.values(),
  pluginFolders: registry.plugins.map(({ dir }) => dir),
  env: run.env,
  hide: registry.variables,
  log,
  refusals: {
    inc({ permission, plugin }) {
      const key = `${plugin} ${permission}`
      refusals[key] = (refusals[key] ?? 0) + 1
    },
  },
})
allowInfrastructure(run.infrastructure)
const probe = (await registry.create('llm', 'probe')) as unknown as {
  chat(name: string, args: unknown): Promise<unknown>
}
const givingUp = (): Promise<never> =>
  new Promise((_, reject) => setTimeout(() => reject(new Error('Nothing came of it')), run.patienceMs ?? 120_000))
const outcomes: GuardedResult['outcomes'] = {}
for (const name of run.probes) {
  try {
    outcomes[name] = { value: await Promise.race([probe.chat(name, run.args), givingUp()]) }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    outcomes[name] = { error: message, ...(code ? { code } : {}) }
  }
}
const program = asProcess(() => spawnSync('id')).status
const [thread] = await once(
  asProcess(() => new Worker('process.exit(3)', { eval: true })),
  'exit',
)
const own = { program, thread: Number(thread) }
stop.abort()
process.stdout.write(`\n${JSON.stringify({ own, outcomes, refusals, logged } satisfies GuardedResult)}`, () =>
  process.exit(0),
)
