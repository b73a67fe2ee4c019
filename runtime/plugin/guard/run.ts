import child_process from 'node:child_process'
import { realpathSync } from 'node:fs'
import module from 'node:module'
import { join, sep } from 'node:path'
import worker_threads from 'node:worker_threads'
import { isOwnAct } from '../../process/plugin-scope.ts'
import { grantedProgram, PROGRAM_ENV } from '../program.ts'
import { guardNativeSockets } from './native.ts'
import type { Policy } from './policy.ts'

interface SpawnOptions {
  file: string
  envPairs?: readonly string[]
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

/** The environment must not make a granted program run or load something else: only these variables may differ. */
const FREE_VARIABLES: ReadonlySet<string> = new Set(PROGRAM_ENV)

/** Node's raw bindings, by which everything here could be walked around. */
const RAW_BINDINGS = new Set([
  ...['cares_wrap', 'fs_event_wrap', 'inspector', 'js_stream', 'pipe_wrap', 'process_wrap', 'spawn_sync'],
  ...['stream_wrap', 'tcp_wrap', 'tls_wrap', 'udp_wrap', 'worker'],
])

/** Native code is loaded from the packages of this checkout alone. */
const PACKAGES = realpathSync(join(import.meta.dirname, '../../..')) + sep

/**
 * Started programs, worker threads and native code. spawn, exec, execFile and fork come down to the `spawn` of the raw
 * process object; the synchronous ones are replaced one by one. A refusal is thrown, as Node's own permission model does.
 */
export function guardPrograms(policy: Policy): void {
  guardSpawn(policy)
  guardSync(policy)
  guardThreads(policy)
  guardNativeCode(policy)
}

/** The path to run, or a throw. */
function checkProgram(policy: Policy, file: string, env: readonly (readonly [string, string])[]): string {
  if (isOwnAct()) return file
  const { grants, searchPath } = policy.run()
  const path = grantedProgram(grants, file, searchPath)
  if (path === undefined) throw policy.refuse('run', file)
  for (const [name, value] of env) {
    if (!FREE_VARIABLES.has(name) && value !== process.env[name]) {
      throw policy.refuse('run', file, `(with its own ${name})`)
    }
  }
  return path
}

/** The class behind every ChildProcess: process objects made by hand are checked, too. */
function guardSpawn(policy: Policy): void {
  const { _handle: raw } = new child_process.ChildProcess() as unknown as { _handle: object & { close?(): void } }
  const prototype = Object.getPrototypeOf(raw) as { spawn(this: unknown, options: SpawnOptions): number }
  const original = prototype.spawn
  prototype.spawn = function spawn(options) {
    // A copy, each value read once: a getter can't answer the check otherwise than the system.
    const { file, envPairs, ...rest } = options
    const pairs = envPairs === undefined ? [] : Array.from(envPairs, String)
    const env = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
    const path = checkProgram(policy, String(file), env)
    return original.call(this, { ...rest, file: path, ...(envPairs === undefined ? {} : { envPairs: pairs }) })
  }
}

function guardSync(policy: Policy): void {
  const functions = child_process as unknown as Record<string, AnyFunction>
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
    const original = functions[name] as AnyFunction
    functions[name] = (file, ...rest) => {
      const args = Array.isArray(rest[0]) ? Array.from(rest[0], String) : []
      const given = Array.isArray(rest[0]) ? rest[1] : (rest[0] ?? rest[1])
      const options = { ...(given as { shell?: unknown; env?: Record<string, unknown>; argv0?: string } | undefined) }
      const env = Object.entries(options.env ?? {}).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, String(value)] as const],
      )
      const fixed = { ...options, ...(options.env === undefined ? {} : { env: Object.fromEntries(env) }) }
      const shell = name === 'execSync' || fixed.shell ? shellOf(fixed.shell) : undefined
      const program = shell ?? String(file)
      const path = checkProgram(policy, program, env)
      if (shell !== undefined) {
        return name === 'execSync' ? original(String(file), fixed) : original(String(file), args, fixed)
      }
      return original(path, args, { argv0: program, ...fixed })
    }
  }
}

function shellOf(shell: unknown): string {
  return typeof shell === 'string' ? shell : '/bin/sh'
}

/**
 * A worker thread has fresh, unguarded modules of its own, and module hooks change what others import: both are programs
 * as far as permissions go.
 */
function guardThreads(policy: Policy): void {
  const checkThread = (): void => {
    if (!isOwnAct() && !policy.run().grants.run.has('worker_threads')) throw policy.refuse('run', 'worker_threads')
  }
  // Not a subclass: its prototype would hand out the original.
  const guarded = new Proxy(worker_threads.Worker, {
    construct(original, args, newTarget) {
      checkThread()
      return Reflect.construct(original, args, newTarget) as object
    },
  })
  Object.defineProperty(worker_threads.Worker.prototype, 'constructor', { value: guarded })
  worker_threads.Worker = guarded
  const hooks = module as unknown as Record<'register' | 'registerHooks', AnyFunction | undefined>
  for (const name of ['register', 'registerHooks'] as const) {
    const original = hooks[name]
    if (original === undefined) continue
    hooks[name] = (...args) => {
      checkThread()
      return original.apply(module, args)
    }
  }
}

function guardNativeCode(policy: Policy): void {
  const target = process as unknown as {
    binding(name: string): unknown
    execve?: AnyFunction
    dlopen(this: unknown, holder: unknown, file: unknown, ...rest: unknown[]): unknown
  }
  const { binding, dlopen } = target
  target.binding = (given) => {
    // Read once: an object may call itself otherwise the second time.
    const name = String(given)
    if (RAW_BINDINGS.has(name)) throw policy.refuse('run', `process.binding(${name})`)
    return binding.call(process, name)
  }
  if (target.execve) {
    target.execve = (file) => {
      throw policy.refuse('run', String(file))
    }
  }
  target.dlopen = (holder, given, ...rest) => {
    const file = String(given)
    if (!isOwnAct() && !isOwnPackage(file)) throw policy.refuse('run', file, '(native code)')
    const result = dlopen.call(process, holder, file, ...rest)
    guardNativeSockets(policy, (holder as { exports?: object } | undefined)?.exports)
    return result
  }
}

function isOwnPackage(file: string): boolean {
  try {
    const real = realpathSync(file)
    return real.startsWith(PACKAGES) && real.includes(`${sep}node_modules${sep}`)
  } catch {
    return false
  }
}
