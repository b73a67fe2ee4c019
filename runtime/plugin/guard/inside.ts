import diagnostics_channel from 'node:diagnostics_channel'
import inspector from 'node:inspector'
import v8 from 'node:v8'
import { isOwnAct } from '../../process/plugin-scope.ts'
import type { Policy } from './policy.ts'

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

/** What Node tells of its own requests, sockets and programs: with headers, so with keys. */
const CHANNELS_OF_NODE = /^(undici|http|http2|https|net|tls|dgram|child_process|worker_threads|process|module)\b/

/**
 * Node's own windows into the process: the inspector, heap snapshots, the events of its HTTP clients, extensions of its
 * SQLite. Through each of them code would read what belongs to another plugin, or run native code.
 */
export function guardInside(policy: Policy): void {
  guardInspector(policy)
  guardHeap(policy)
  guardChannels(policy)
  guardSqlite(policy)
}

/** Puts a refusal before the method. */
function refuseUnlessOwn(policy: Policy, target: object, name: string, shown: string): void {
  const methods = target as Record<string, AnyFunction | undefined>
  const original = methods[name]
  if (typeof original !== 'function') return
  methods[name] = function guarded(this: unknown, ...args: unknown[]) {
    if (!isOwnAct()) throw policy.refuse('run', shown)
    return original.apply(this, args)
  }
}

function guardInspector(policy: Policy): void {
  refuseUnlessOwn(policy, inspector.Session.prototype, 'connect', 'node:inspector')
  refuseUnlessOwn(policy, inspector.Session.prototype, 'connectToMainThread', 'node:inspector')
  refuseUnlessOwn(policy, inspector, 'open', 'node:inspector')
}

function guardHeap(policy: Policy): void {
  for (const name of ['getHeapSnapshot', 'writeHeapSnapshot', 'setFlagsFromString']) {
    refuseUnlessOwn(policy, v8, name, `node:v8 ${name}`)
  }
}

function guardChannels(policy: Policy): void {
  const check = (name: unknown): void => {
    if (!isOwnAct() && CHANNELS_OF_NODE.test(String(name))) {
      throw policy.refuse('run', `node:diagnostics_channel ${String(name)}`)
    }
  }
  const wrap = (target: object, name: string, nameOf: (self: unknown, args: unknown[]) => unknown): void => {
    const methods = target as Record<string, AnyFunction | undefined>
    const original = methods[name]
    if (typeof original !== 'function') return
    methods[name] = function guarded(this: unknown, ...args: unknown[]) {
      check(nameOf(this, args))
      return original.apply(this, args)
    }
  }
  // A channel with subscribers has another prototype than one without.
  const probe = diagnostics_channel.channel('patchbay.guard')
  const quiet = Object.getPrototypeOf(probe) as object
  const listener = (): void => undefined
  probe.subscribe(listener)
  const active = Object.getPrototypeOf(probe) as object
  probe.unsubscribe(listener)
  for (const prototype of new Set([quiet, active])) {
    for (const name of ['subscribe', 'bindStore']) wrap(prototype, name, (self) => (self as { name: unknown }).name)
  }
  wrap(diagnostics_channel, 'subscribe', (_self, [name]) => name)
}

function guardSqlite(policy: Policy): void {
  // Loading it prints an experimental warning that doesn't concern us.
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync?: { prototype: object } } | undefined
    if (sqlite?.DatabaseSync === undefined) return
    for (const name of ['loadExtension', 'enableLoadExtension']) {
      refuseUnlessOwn(policy, sqlite.DatabaseSync.prototype, name, 'node:sqlite loadExtension')
    }
  } finally {
    process.emitWarning = emitWarning
  }
}
