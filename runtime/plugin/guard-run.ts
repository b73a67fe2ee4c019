import child_process from 'node:child_process'
import module from 'node:module'
import worker_threads from 'node:worker_threads'
import type { Policy } from './guard-policy.ts'
import { grantedProgram } from './program.ts'
import { isOwnAct } from './scope.ts'

interface SpawnOptions {
  file: string
  envPairs?: readonly string[]
}

type SyncFunction = (...args: unknown[]) => unknown

/** Variables by which a granted program could be made to run something else. */
const TAKES_OVER = /^(LD_|DYLD_|NODE_OPTIONS$)/

/** Node's raw bindings, by which everything here could be walked around. */
const RAW_BINDINGS = new Set(['cares_wrap', 'pipe_wrap', 'process_wrap', 'spawn_sync', 'tcp_wrap', 'udp_wrap'])

/**
 * Started programs and worker threads. spawn, exec, execFile and fork come down to `ChildProcess.prototype.spawn`; the
 * synchronous ones are replaced one by one. A refusal is thrown, as Node's own permission model does.
 */
export function guardPrograms(policy: Policy): void {
  guardSpawn(policy)
  guardSync(policy)
  guardThreads(policy)
  guardBindings(policy)
}

/** The path to run, or a throw. */
function checkProgram(policy: Policy, file: string, env: Iterable<readonly [string, unknown]>): string {
  if (isOwnAct()) return file
  const { grants, searchPath } = policy.run()
  const path = grantedProgram(grants, file, searchPath)
  if (path === undefined) throw policy.refuse('run', file)
  for (const [name, value] of env) {
    if (TAKES_OVER.test(name) && value !== undefined && value !== process.env[name]) {
      throw policy.refuse('run', file, `(with its own ${name})`)
    }
  }
  return path
}

function guardSpawn(policy: Policy): void {
  const prototype = child_process.ChildProcess.prototype as unknown as {
    spawn(this: child_process.ChildProcess, options: SpawnOptions): number
  }
  const original = prototype.spawn
  prototype.spawn = function spawn(options) {
    const { envPairs = [] } = options
    const env = envPairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
    return original.call(this, { ...options, file: checkProgram(policy, String(options.file), env) })
  }
}

function guardSync(policy: Policy): void {
  const functions = child_process as unknown as Record<string, SyncFunction>
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
    const original = functions[name] as SyncFunction
    functions[name] = (file, ...rest) => {
      const args = Array.isArray(rest[0]) ? rest[0].map(String) : []
      const given = Array.isArray(rest[0]) ? rest[1] : (rest[0] ?? rest[1])
      const options = { ...(given as { shell?: unknown; env?: Record<string, unknown>; argv0?: string } | undefined) }
      const shell = name === 'execSync' || options.shell ? shellOf(options.shell) : undefined
      const program = shell ?? String(file)
      const path = checkProgram(policy, program, Object.entries(options.env ?? {}))
      if (shell !== undefined) return name === 'execSync' ? original(file, options) : original(file, args, options)
      return original(path, args, { argv0: program, ...options })
    }
  }
}

function shellOf(shell: unknown): string {
  return typeof shell === 'string' ? shell : '/bin/sh'
}

/**
 * A worker thread has fresh, unguarded modules of its own, and so has the thread of module hooks: both are programs as
 * far as permissions go.
 */
function guardThreads(policy: Policy): void {
  const checkThread = (): void => {
    if (!isOwnAct() && !policy.run().grants.run.has('worker_threads')) throw policy.refuse('run', 'worker_threads')
  }
  const Original = worker_threads.Worker
  class Worker extends Original {
    constructor(...args: ConstructorParameters<typeof Original>) {
      checkThread()
      super(...args)
    }
  }
  worker_threads.Worker = Worker
  const register = module.register as SyncFunction
  const guardedRegister: SyncFunction = (...args) => {
    checkThread()
    return register(...args)
  }
  module.register = guardedRegister as typeof module.register
}

function guardBindings(policy: Policy): void {
  const target = process as unknown as { binding(name: string): unknown; execve?: SyncFunction }
  const binding = target.binding
  target.binding = (name) => {
    if (RAW_BINDINGS.has(String(name))) throw policy.refuse('run', `process.binding(${name})`)
    return binding.call(process, String(name))
  }
  if (target.execve) {
    target.execve = (file) => {
      throw policy.refuse('run', String(file))
    }
  }
}
