import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import { resolve } from 'node:path'
import { boundary } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { pluginScope } from '../../process/plugin-scope.ts'
import { allowsHost, allowsUnixSocket, formatTarget } from '../grants/net-rule.ts'
import { guardedLookup } from '../lookup.ts'
import type { Policy } from './policy.ts'

/** The system's lookup from before any plugin was loaded: the caller can't choose what a name resolves to. */
const systemLookup = dns.lookup

type Callback = (error?: Error | null, ...results: unknown[]) => void

/** Is this host on this port allowed before it is resolved? Else the refusal. */
function checkHost(policy: Policy, host: string, port: number): PatchbayError | undefined {
  if (policy.net().some((rules) => allowsHost(rules, host, port))) return undefined
  return policy.refuse('net', formatTarget(host, port))
}

/**
 * TCP, TLS and Unix sockets, and with them http, https, fetch, WebSocket and every client library: all of them come
 * down to `net.Socket.prototype.connect`. A refused socket fails as an unreachable one does, with an `error` event.
 */
export function guardSockets(policy: Policy): void {
  const original = net.Socket.prototype.connect as (this: net.Socket, options: object, cb?: () => void) => net.Socket

  function connect(this: net.Socket, ...args: unknown[]): net.Socket {
    const { options, callback } = connectArguments(args)
    const checked = checkConnect(policy, options)
    if (checked instanceof PatchbayError) {
      process.nextTick(() => this.destroy(checked))
      return this
    }
    return callback ? original.call(this, checked, callback) : original.call(this, checked)
  }
  net.Socket.prototype.connect = connect as typeof net.Socket.prototype.connect
}

interface ConnectOptions {
  host?: unknown
  port?: unknown
  path?: unknown
  lookup?: net.LookupFunction
}

/** The forms `connect(options)`, `connect(path)`, `connect(port, host)` and the array that net.connect hands on. */
function connectArguments(args: unknown[]): { options: ConnectOptions; callback: (() => void) | undefined } {
  const [first] = args
  const list = Array.isArray(first) ? first : args
  const last: unknown = list[list.length - 1]
  const callback = typeof last === 'function' ? (last as () => void) : undefined
  if (typeof list[0] === 'object' && list[0] !== null) return { options: { ...list[0] }, callback }
  if (typeof first === 'string' && !(Number(first) >= 0)) return { options: { path: first }, callback }
  return { options: { port: first, ...(typeof args[1] === 'string' ? { host: args[1] } : {}) }, callback }
}

/** The options to connect with, or the refusal. What was checked is what is used: a getter can't change it between. */
function checkConnect(policy: Policy, options: ConnectOptions): ConnectOptions | PatchbayError {
  if (options.path) {
    const path = resolve(String(options.path))
    if (policy.net().some((rules) => allowsUnixSocket(rules, path))) return { ...options, path }
    return policy.refuse('net', `unix:${path}`)
  }
  const host = String(options.host || 'localhost')
  const port = Number(options.port)
  const refused = checkHost(policy, host, port)
  if (refused) return refused
  const deny = (target: string, why: string): PatchbayError => policy.refuse('net', target, why)
  // Only the core's own requests, which are bound to rules of their own, may bring a lookup.
  const own = policy.isBound(pluginScope.getStore()?.only) ? options.lookup : undefined
  const approve = (address: string): void => policy.approved.add(formatTarget(address, port))
  // An address is connected to a moment later: what allowed it now counts then.
  if (net.isIP(host) !== 0) approve(host)
  const lookup = guardedLookup(own ?? systemLookup, policy.net(), host, port, deny, approve)
  return { ...options, host, port, lookup }
}

/** UDP. A refused datagram fails as an undeliverable one does: to the callback, else as an `error` event. */
export function guardDatagrams(policy: Policy): void {
  const prototype = dgram.Socket.prototype
  const send = prototype.send as (this: dgram.Socket, ...args: unknown[]) => void
  const connect = prototype.connect as (this: dgram.Socket, ...args: unknown[]) => void

  prototype.send = function guardedSend(this: dgram.Socket, ...args: unknown[]): void {
    // A connected socket was checked when it connected.
    if (isConnected(this)) {
      send.apply(this, args)
      return
    }
    // As Node tells send(msg, offset, length, port, address, cb) from send(msg, port, address, cb).
    const at = args[4] || (args[3] && typeof args[3] !== 'function') ? 3 : 1
    sendTo(this, policy, args, at, send)
  } as typeof prototype.send

  prototype.connect = function guardedConnect(this: dgram.Socket, ...args: unknown[]): void {
    mayBeConnected.add(this)
    sendTo(this, policy, args, 0, connect)
  } as typeof prototype.connect
}

/** Sockets that were connected once: of all others it need not be asked, which costs an exception for each datagram. */
const mayBeConnected = new WeakSet<dgram.Socket>()

function isConnected(socket: dgram.Socket): boolean {
  if (!mayBeConnected.has(socket)) return false
  try {
    socket.remoteAddress()
    return true
  } catch {
    return false
  }
}

/**
 * Addresses that a socket's granted names resolved to. dgram calls `send` again with the address once an unbound socket
 * is bound, and an address a name stands for needs no grant of its own.
 */
const resolvedBy = new WeakMap<dgram.Socket, Set<string>>()
const MAX_RESOLVED = 1000

/** Checks the port at `args[at]` and the address behind it, resolves a name itself, then calls on with the address. */
function sendTo(
  socket: dgram.Socket,
  policy: Policy,
  args: unknown[],
  at: number,
  original: (this: dgram.Socket, ...args: unknown[]) => void,
): void {
  const port = Number(args[at])
  const given = args[at + 1]
  const ipv6 = (socket as unknown as { type: string }).type === 'udp6'
  const host = typeof given === 'string' && given !== '' ? given : ipv6 ? '::1' : '127.0.0.1'
  const last = args[args.length - 1]
  const callback = typeof last === 'function' ? (last as Callback) : undefined
  const fail = boundary('plugin', (error: Error): void => {
    if (callback) callback(error)
    else socket.emit('error', error)
  })
  const refused = resolvedBy.get(socket)?.has(formatTarget(host, port)) ? undefined : checkHost(policy, host, port)
  if (refused) {
    process.nextTick(fail, refused)
    return
  }
  const withAddress = (address: string): unknown[] => [
    ...args.slice(0, at),
    port,
    address,
    ...(callback ? [callback] : []),
  ]
  if (net.isIP(host) !== 0) {
    policy.passing(formatTarget(host, port), () => original.apply(socket, withAddress(host)))
    return
  }
  const deny = (target: string, why: string): PatchbayError => policy.refuse('net', target, why)
  const lookup = guardedLookup(systemLookup, policy.net(), host, port, deny)
  lookup(host, { family: ipv6 ? 6 : 4 }, (error, address) => {
    if (error) return fail(error)
    const known = resolvedBy.get(socket) ?? new Set()
    if (known.size >= MAX_RESOLVED) known.clear()
    const target = formatTarget(String(address), port)
    resolvedBy.set(socket, known.add(target))
    policy.passing(target, () => original.apply(socket, withAddress(String(address))))
  })
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
