import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeOptionsOf } from '../../../cli/node-options.ts'
import { type Teardown, testDataDir } from './services.ts'

const MAIN = join(import.meta.dirname, '../../../main.ts')
const START_TIMEOUT_MS = 180_000

/** A whole Patchbay as an operator runs it: `main.ts start` in a process of its own. */
export interface Instance {
  readonly url: string
  readonly dataDir: string
  readonly child: ChildProcess
  /** All it printed so far: its log and its progress. */
  output(): string
  /** Sends the signal and resolves with the exit code, or null when the signal itself ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a command of main.ts that is expected to end by itself. */
export async function runMain(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawnMain(args, env)
  const output = collect(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

/** A role of an installation in a process of its own. */
export interface RoleProcess {
  readonly child: ChildProcess
  /** All it printed so far. */
  output(): string
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>
}

/** A command that runs what follows it elsewhere than in the test's own surroundings, and Node's place there. */
export interface Within {
  command: readonly string[]
  node: string
  env: NodeJS.ProcessEnv
  /** The main.ts that it runs; default: that of this checkout. */
  main?: string
}

/** Starts roles as an operator of several machines does: `main.ts api`. Ended when `t` ends. */
export function startRole(
  t: Teardown,
  roles: readonly string[],
  env: Record<string, string>,
  within?: Within,
): RoleProcess {
  const child = spawnMain(roles, { PATCHBAY_WEBRTC: 'off', ...env }, [], within)
  const output = collect(child)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  return { child, output: () => output.stdout + output.stderr, ended }
}

/** For an instance nobody speaks with. */
export const SILENT = { PATCHBAY_VOICE_WORKERS: '0' }

/** Starts an instance on free ports with a data folder of its own, its first start behind it; it is ended when `t` ends. */
export async function startInstance(
  t: Teardown,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<Instance> {
  const dataDir = env.PATCHBAY_DATA_DIR ?? (await testDataDir(t))
  const child = spawnMain(
    ['start'],
    {
      PORT: '0',
      PATCHBAY_HOST: '127.0.0.1',
      PATCHBAY_ADMIN_PORT: '0',
      PATCHBAY_DATA_DIR: dataDir,
      PATCHBAY_SIP_PORT: '0',
      // Its media worker is a matter of the tests that want one.
      PATCHBAY_WEBRTC: 'off',
      PATCHBAY_DRAIN_MS: '2000',
      ...env,
    },
    nodeOptions,
  )
  const output = collect(child)
  const text = (): string => output.stdout + output.stderr
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'close')
    }
    return child.exitCode
  }
  t.teardown(() => stop())
  const endMs = performance.now() + START_TIMEOUT_MS
  for (;;) {
    const url = output.stderr.match(/^Patchbay listens on (\S+)$/m)?.[1]
    if (url !== undefined) return { url, dataDir, child, output: text, stop }
    if (child.exitCode !== null || performance.now() > endMs) throw new Error(`Patchbay did not start: ${text()}`)
    await sleep(20)
  }
}

/** Process ids of the living children of a process (Linux). */
export async function childrenOf(pid: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** The command line of a process, words separated by blanks; empty when it is gone (Linux). */
export async function commandLineOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
}

/** The processes that an instance started itself and whose command line is such. */
export async function childrenWith(
  { child }: Pick<Instance, 'child'>,
  is: (command: string) => boolean,
): Promise<number[]> {
  const pids = await childrenOf(child.pid)
  const commands = await Promise.all(pids.map(commandLineOf))
  return pids.filter((_, n) => is(commands[n] ?? ''))
}

/** Those that hold conversations. */
export const voiceWorkersOf = (instance: Pick<Instance, 'child'>): Promise<number[]> =>
  childrenWith(instance, (command) => / voice( |$)/.test(command))

function spawnMain(
  args: readonly string[],
  env: Record<string, string>,
  nodeOptions: readonly string[] = [],
  within: Within = { command: [], node: process.execPath, env: {} },
): ChildProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  // tap has every child process load its modules over a thread of tap's own, by NODE_OPTIONS: an operator's doesn't.
  const node = [within.node, ...nodeOptionsOf(args), ...nodeOptions, within.main ?? MAIN, ...args]
  const [program = 'env', ...command] = [...within.command, 'env', '-u', 'NODE_OPTIONS', ...node]
  const settings = {
    PATCHBAY_ENV_FILE: 'none',
    // In real time it would go before the tests' own callers, which are elsewhere in life.
    PATCHBAY_AUDIO_FIRST: 'nice',
    // A voice worker that lags takes no call, and beside other tests each may.
    PATCHBAY_WORKER_MAX_LAG_MS: '60000',
    // Nobody is hung up on for saying nothing while a slow machine looks at something else.
    PATCHBAY_IDLE_TIMEOUT_MS: '600000',
  }
  const { NODE_HOME } = within.env
  return spawn(program, command, {
    env: {
      PATH,
      HOME,
      ...(NODE_HOME && { NODE_HOME }),
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      ...settings,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return output
}
