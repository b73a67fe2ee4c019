import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import { resolve } from 'node:path'
import { boundary } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { isAnswer } from '../answer.ts'
import { formatTarget } from '../grants/net-rule.ts'
import { guardedLookup } from '../lookup.ts'
import { pluginScope } from '../plugin-scope.ts'
import type { Policy } from './policy.ts'
import { type AnyFunction, rawBinding, replace } from './replace.ts'

/** The system's lookup from before any plugin was loaded: the caller can't choose what a name resolves to. */
const systemLookup = dns.lookup

interface ConnectOptions {
  host?: unknown
  port?: unknown
  path?: unknown
  lookup?: net.LookupFunction
}

/** How Node reads the forms `connect(options)`, `connect(path)` and `connect(port, host)`. */
type NormalizeArgs = (args: unknown[]) => [ConnectOptions, (() => void) | null]
const { _normalizeArgs: normalizeArgs } = net as unknown as { _normalizeArgs: NormalizeArgs }

/**
 * TCP, TLS and Unix sockets, and with them http, https, fetch, WebSocket and every client library: all of them come
 * down to `net.Socket.prototype.connect`. A refused socket fails as an unreachable one does, with an `error` event.
 */
export function guardSockets(policy: Policy): void {
  replace(net.Socket.prototype, 'connect', (original, args, self) => {
    // net.connect hands on what it has read already.
    const [options, callback] = Array.isArray(args[0]) ? (args[0] as ReturnType<NormalizeArgs>) : normalizeArgs(args)
    const checked = checkConnect(policy, { ...options })
    if (!(checked instanceof PatchbayError)) return original.call(self, checked, callback ?? undefined)
    process.nextTick(boundary('plugin', () => (self as net.Socket).destroy(checked)))
    return self
  })
}

/** The options to connect with, or the refusal. What was checked is what is used: a getter can't change it between. */
function checkConnect(policy: Policy, options: ConnectOptions): ConnectOptions | PatchbayError {
  if (options.path) {
    const path = resolve(String(options.path))
    return policy.allowsUnixSocket(path) ? { ...options, path } : policy.refuse('net', `unix:${path}`)
  }
  const host = String(options.host || 'localhost')
  const port = Number(options.port)
  if (!policy.allowsHost(host, port)) return policy.refuse('net', formatTarget(host, port))
  // An address is connected to a moment later: what allowed it now counts then.
  if (net.isIP(host) !== 0) policy.approve(host, port)
  // Only the core's own requests, which are bound to rules of their own, may bring a lookup.
  const own = pluginScope.getStore()?.only === undefined ? undefined : options.lookup
  return { ...options, host, port, lookup: lookupFor(policy, host, port, own) }
}

/** A lookup for one target: what it hands on may be sent to. */
function lookupFor(
  policy: Policy,
  host: string,
  port: number,
  own = systemLookup as net.LookupFunction,
): net.LookupFunction {
  const deny = (target: string, why: string): PatchbayError => policy.refuse('net', target, why)
  return guardedLookup(own, policy.net(), host, port, deny, (address) => policy.approve(address, port))
}

/**
 * UDP by name or address. A refused datagram fails as an undeliverable one does: to the callback, else as an `error` event.
 * A datagram without an address goes to this machine or to where its socket is connected: the raw socket checks it.
 */
export function guardDatagrams(policy: Policy): void {
  replace(dgram.Socket.prototype, 'send', (original, args, self) => {
    // As Node tells send(msg, offset, length, port, address, cb) from send(msg, port, address, cb).
    const portAt = args[4] || (args[3] && typeof args[3] !== 'function') ? 3 : 1
    sendTo(self as dgram.Socket, policy, args, portAt, original)
  })
  replace(dgram.Socket.prototype, 'connect', (original, args, self) => {
    sendTo(self as dgram.Socket, policy, args, 0, original)
  })
}

/** Checks the port at `args[at]` and the address behind it, resolves a name itself, then calls on with the address. */
function sendTo(socket: dgram.Socket, policy: Policy, args: unknown[], at: number, original: AnyFunction): void {
  const host = args[at + 1]
  if (typeof host !== 'string' || host === '') {
    original.apply(socket, args)
    return
  }
  const port = Number(args[at])
  const last = args[args.length - 1]
  const fail = boundary('plugin', (error: Error): void => {
    if (typeof last === 'function') last(error)
    else socket.emit('error', error)
  })
  const sendOn = (address: string): void => {
    original.apply(socket, [...args.slice(0, at), port, address, ...args.slice(at + 2)])
  }
  const isAddress = net.isIP(host) !== 0
  const isAllowed = isAddress ? policy.allowsAddress(host, port) : policy.allowsHost(host, port)
  if (!isAllowed) process.nextTick(fail, policy.refuse('net', formatTarget(host, port)))
  else if (isAddress) sendOn(host)
  else {
    const family = (socket as unknown as { type: string }).type === 'udp6' ? 6 : 4
    lookupFor(policy, host, port)(host, { family }, (error, address) => {
      if (error) fail(error)
      else sendOn(String(address))
    })
  }
}

/** libuv's code of "permission denied": what a raw socket answers instead of throwing. */
const EACCES = -13

/** Where the raw sockets take the address and the port. */
const ADDRESS_AND_PORT = [
  ...[
    ['tcp_wrap', 'TCP', 'connect', 1, 2],
    ['tcp_wrap', 'TCP', 'connect6', 1, 2],
  ],
  ...[
    ['udp_wrap', 'UDP', 'connect', 0, 1],
    ['udp_wrap', 'UDP', 'connect6', 0, 1],
  ],
  ...[
    ['udp_wrap', 'UDP', 'send', 4, 3],
    ['udp_wrap', 'UDP', 'send6', 4, 3],
  ],
] as const

/**
 * The raw sockets below Node's own: what reaches the system by any way at all, a captured prototype or a handle taken
 * out of a socket, meets the check here. By then there are no names any more: an address passes that is granted, or
 * that a granted name stood for.
 */
export function guardRawSockets(policy: Policy): void {
  for (const [binding, name, method, addressAt, portAt] of ADDRESS_AND_PORT) {
    replace(rawClass(binding, name), method, (original, args, self) => {
      // Without an address it is a datagram of a connected socket.
      if (typeof args[portAt] === 'boolean' || isAnswer()) return original.apply(self, args)
      const address = String(args[addressAt])
      const port = Number(args[portAt])
      if (policy.allowsAddress(address, port)) {
        return original.apply(self, args.with(addressAt, address).with(portAt, port))
      }
      policy.refuse('net', formatTarget(address, port))
      return EACCES
    })
  }
  replace(rawClass('pipe_wrap', 'Pipe'), 'connect', (original, [request, given], self) => {
    const path = resolve(String(given))
    if (policy.allowsUnixSocket(path)) return original.call(self, request, path)
    policy.refuse('net', `unix:${path}`)
    return EACCES
  })
}

function rawClass(binding: string, name: string): object {
  return (rawBinding(binding)[name] as { prototype: object }).prototype
}

/** fetch hides why a connection failed behind `fetch failed`; a refusal must reach who called, with its cure. */
export function guardFetch(): void {
  const original = globalThis.fetch
  globalThis.fetch = async function fetch(...args: Parameters<typeof original>): Promise<Response> {
    try {
      return await original(...args)
    } catch (error) {
      throw error instanceof Error && error.cause instanceof PatchbayError ? error.cause : error
    }
  }
}
