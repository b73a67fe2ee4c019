/**
 * The process that the guard's tests run: it loads the plugins of a folder, installs the guard, lets the plugin `probe`
 * try what it is told, and prints what came of each try.
 */
import { pino } from 'pino'
import { allowInfrastructure, installGuard } from '../../../runtime/plugin/guard.ts'
import { loadPlugins } from '../../../runtime/plugin/host.ts'
import type { GrantFlags } from '../../../runtime/plugin/permissions.ts'

export interface GuardedRun {
  dir: string
  flags: GrantFlags
  env: Record<string, string>
  infrastructure: string[]
  /** Bodies of async functions over `host` and `args`, by name. */
  probes: string[]
  args: Record<string, unknown>
}

export interface GuardedResult {
  outcomes: Record<string, { value?: unknown; error?: string; code?: string }>
  refusals: Record<string, number>
  logged: string[]
}

const run = JSON.parse(process.argv[2] ?? '{}') as GuardedRun
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
  grants: registry.grants.values(),
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
const outcomes: GuardedResult['outcomes'] = {}
for (const name of run.probes) {
  try {
    outcomes[name] = { value: await probe.chat(name, run.args) }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    outcomes[name] = { error: message, ...(code ? { code } : {}) }
  }
}
stop.abort()
process.stdout.write(JSON.stringify({ outcomes, refusals, logged } satisfies GuardedResult), () => process.exit(0))
