import diagnostics_channel from 'node:diagnostics_channel'
import inspector from 'node:inspector'
import v8 from 'node:v8'
import { isOwnAct } from '../../process/own-act.ts'
import type { Policy } from './policy.ts'
import { replace } from './replace.ts'

/** What Node tells of its own requests, sockets and programs: with headers, so with keys. */
const CHANNELS_OF_NODE = /^(undici|http|http2|https|net|tls|dgram|child_process|worker_threads|process|module)\b/

/**
 * Node's own windows into the process: the inspector, heap snapshots, the events of its HTTP clients, extensions of its
 * SQLite. Through each of them code would read what belongs to another plugin, or run native code.
 */
export function guardInside(policy: Policy): void {
  const refuse = (target: object, shown: string, ...names: string[]): void => {
    for (const name of names) {
      replace(target, name, (original, args, self) => {
        if (!isOwnAct()) throw policy.refuse('run', shown)
        return original.apply(self, args)
      })
    }
  }
  refuse(inspector.Session.prototype, 'node:inspector', 'connect', 'connectToMainThread')
  refuse(inspector, 'node:inspector', 'open')
  refuse(v8, 'node:v8', 'getHeapSnapshot', 'writeHeapSnapshot', 'setFlagsFromString')
  refuse(sqlite().DatabaseSync.prototype, 'node:sqlite loadExtension', 'loadExtension', 'enableLoadExtension')

  // A channel with subscribers has another prototype than one without.
  const channel = diagnostics_channel.channel('patchbay.guard')
  const quiet = Object.getPrototypeOf(channel) as object
  const listener = (): void => undefined
  channel.subscribe(listener)
  const active = Object.getPrototypeOf(channel) as object
  channel.unsubscribe(listener)
  for (const prototype of [quiet, active]) {
    for (const name of ['subscribe', 'bindStore']) {
      replace(prototype, name, (original, args, self) => {
        const shown = String((self as { name: unknown }).name)
        if (!isOwnAct() && CHANNELS_OF_NODE.test(shown)) throw policy.refuse('run', `node:diagnostics_channel ${shown}`)
        return original.apply(self, args)
      })
    }
  }
}

/** Node's SQLite, loaded without the warning that it is experimental, which doesn't concern us. */
function sqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
