import child_process from 'node:child_process'
import { realpathSync } from 'node:fs'
import module from 'node:module'
import { join, sep } from 'node:path'
import worker_threads from 'node:worker_threads'
import { isOwnAct } from '../../process/own-act.ts'
import { grantedProgram, PROGRAM_ENV } from '../program.ts'
import { guardLivekit } from './livekit.ts'
import type { Policy } from './policy.ts'
import { rawBinding, replace } from './replace.ts'

/** The environment must not make a granted program run or load something else: only these variables may differ. */
const FREE_VARIABLES: ReadonlySet<string> = new Set(PROGRAM_ENV)

/** Node's raw bindings, by which everything here could be walked around. */
const RAW_BINDINGS = new Set([
  ...['cares_wrap', 'fs_event_wrap', 'inspector', 'js_stream', 'pipe_wrap', 'process_wrap', 'spawn_sync'],
  ...['stream_wrap', 'tcp_wrap', 'tls_wrap', 'udp_wrap', 'worker'],
])

/** Native code is loaded from the packages of this checkout alone. */
const PACKAGES = realpathSync(join(import.meta.dirname, '../../..')) + sep

/** Started programs, worker threads and native code. A refusal is thrown, as Node's own permission model does. */
export function guardPrograms(policy: Policy): void {
  guardSpawn(policy)
  guardThreads(policy)
  guardNativeCode(policy)
}

/** All functions of node:child_process come down to the `spawn` of two raw bindings. */
function guardSpawn(policy: Policy): void {
  // Copies, each value read once: a getter can't answer the check otherwise than the system.
  const checked = (file: string, envPairs: unknown): { file: string; envPairs?: string[] } => {
    const pairs = envPairs === undefined ? {} : { envPairs: Array.from(envPairs as Iterable<unknown>, String) }
    if (isOwnAct()) return { file, ...pairs }
    const { grants, searchPath } = policy.run()
    const path = grantedProgram(grants, file, searchPath)
    if (path === undefined) throw policy.refuse('run', file)
    for (const pair of pairs.envPairs ?? []) {
      const [name = ''] = pair.split('=', 1)
      if (FREE_VARIABLES.has(name) || process.env[name] === pair.slice(name.length + 1)) continue
      throw policy.refuse('run', file, `(with its own ${name})`)
    }
    return { file: path, ...pairs }
  }
  const { _handle: raw } = new child_process.ChildProcess() as unknown as { _handle: object }
  for (const target of [Object.getPrototypeOf(raw) as object, rawBinding('spawn_sync')]) {
    replace(target, 'spawn', (original, [given, ...others], self) => {
      if (typeof given === 'object') {
        const { file, envPairs, ...rest } = given as { file: unknown; envPairs?: unknown }
        return original.call(self, { ...rest, ...checked(String(file), envPairs) })
      }
      // Later Nodes (24): the file, its arguments, the folder, the environment and more.
      const [args, cwd, envPairs, ...rest] = others
      const { file, envPairs: pairs } = checked(String(given), envPairs)
      return original.call(self, file, args, cwd, pairs, ...rest)
    })
  }
}

/**
 * A worker thread has fresh, unguarded modules of its own, and module hooks change what others import: both are programs
 * as far as permissions go.
 */
function guardThreads(policy: Policy): void {
  const check = (): void => {
    if (!isOwnAct() && !policy.run().grants.run.has('worker_threads')) throw policy.refuse('run', 'worker_threads')
  }
  // Not a subclass: its prototype would hand out the original.
  const guarded = new Proxy(worker_threads.Worker, {
    construct(original, args, newTarget) {
      check()
      return Reflect.construct(original, args, newTarget) as object
    },
  })
  Object.defineProperty(worker_threads.Worker.prototype, 'constructor', { value: guarded })
  worker_threads.Worker = guarded
  for (const name of ['register', 'registerHooks']) {
    replace(module, name, (original, args) => {
      check()
      return original.apply(module, args)
    })
  }
}

function guardNativeCode(policy: Policy): void {
  replace(process, 'binding', (original, [given]) => {
    // Read once: an object may call itself otherwise the second time.
    const name = String(given)
    if (RAW_BINDINGS.has(name)) throw policy.refuse('run', `process.binding(${name})`)
    return original.call(process, name)
  })
  // The family of exec(3): another program in place of this one.
  for (const name of Object.keys(process).filter((key) => /^exec[a-z]+$/.test(key))) {
    replace(process, name, (_, [file]) => {
      throw policy.refuse('run', String(file))
    })
  }
  replace(process, nativeLoader(), (original, [holder, given, ...rest]) => {
    const file = String(given)
    if (!isOwnAct() && !isOwnPackage(file)) throw policy.refuse('run', file, '(native code)')
    const result = original.call(process, holder, file, ...rest)
    guardLivekit(policy, (holder as { exports?: object } | undefined)?.exports)
    return result
  })
}

/** The function of `process` by which Node loads native code, as its own loader of such files calls it. */
function nativeLoader(): string {
  const { _extensions: loaders } = module.Module as unknown as { _extensions: Record<string, unknown> }
  const [, name] = /\bprocess\.(\w+)\(/.exec(String(loaders['.node'])) ?? []
  if (name === undefined) throw new Error('Node has no loader of native code to guard')
  return name
}

function isOwnPackage(file: string): boolean {
  try {
    const real = realpathSync(file)
    return real.startsWith(PACKAGES) && real.includes(`${sep}node_modules${sep}`)
  } catch {
    return false
  }
}
