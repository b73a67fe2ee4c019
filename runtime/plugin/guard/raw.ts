import { resolve } from 'node:path'
import { isAnswer } from '../answer.ts'
import { allowsUnixSocket, formatTarget } from '../grants/net-rule.ts'
import type { Policy } from './policy.ts'

type RawMethod = (this: unknown, ...args: unknown[]) => unknown
type RawClass = { prototype: Record<string, RawMethod> }

/** libuv's code of "permission denied": what a raw socket answers instead of throwing. */
const EACCES = -13

/**
 * The raw sockets below Node's own: what reaches the system by any way at all, a captured prototype or a handle taken
 * out of a socket, meets the check here. By then there are no names any more: an address passes that is granted, or
 * that a granted name stood for.
 */
export function guardRawSockets(policy: Policy): void {
  const binding = (process as unknown as { binding(name: string): Record<string, RawClass> }).binding
  const { TCP } = binding('tcp_wrap')
  const { UDP } = binding('udp_wrap')
  const { Pipe } = binding('pipe_wrap')
  if (TCP === undefined || UDP === undefined || Pipe === undefined) throw new Error('Node has no raw sockets to guard')
  const byAddress = (target: RawClass, name: string, addressAt: number, portAt: number): void => {
    const original = target.prototype[name] as RawMethod
    target.prototype[name] = function guarded(this: unknown, ...args) {
      // Without an address it is a datagram of a connected socket.
      if (typeof args[portAt] === 'boolean' || isAnswer()) return original.apply(this, args)
      const address = String(args[addressAt])
      const port = Number(args[portAt])
      if (!policy.allowsRaw(address, port)) {
        policy.refuse('net', formatTarget(address, port))
        return EACCES
      }
      const fixed = [...args]
      fixed[addressAt] = address
      fixed[portAt] = port
      return original.apply(this, fixed)
    }
  }
  byAddress(TCP, 'connect', 1, 2)
  byAddress(TCP, 'connect6', 1, 2)
  byAddress(UDP, 'connect', 0, 1)
  byAddress(UDP, 'connect6', 0, 1)
  byAddress(UDP, 'send', 4, 3)
  byAddress(UDP, 'send6', 4, 3)
  const connect = Pipe.prototype.connect as RawMethod
  Pipe.prototype.connect = function guarded(this: unknown, request, path) {
    const full = resolve(String(path))
    if (policy.net().some((rules) => allowsUnixSocket(rules, full))) return connect.call(this, request, full)
    policy.refuse('net', `unix:${full}`)
    return EACCES
  }
}
