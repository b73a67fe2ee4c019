import dgram from 'node:dgram'
import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import net, { BlockList, isIP, isIPv6 } from 'node:net'
import tls from 'node:tls'
import type { Logger } from 'pino'
import { boundary } from '../lib/async/boundary.ts'
import { sendAnswer } from './answer.ts'
import type { Listener, ListenOptions, SrvRecord, UdpSocket } from './contract.ts'
import { allowsListen } from './grants/listen-rule.ts'
import { allowsHost, type NetRule, normalizeHost } from './grants/net-rule.ts'
import { type Grants, permissionDenied } from './grants/permissions.ts'
import { pluginScope } from './plugin-scope.ts'

/** The handles of plugins that listen. */

/** A burst of 200 calls' packets must not be lost while the process does something else. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

/** Never the other side of a call: link-local (cloud metadata too), multicast, broadcast, nowhere. */
const NOBODY = new BlockList()
for (const [base, bits] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  NOBODY.addSubnet(base, bits, 'ipv4')
}
for (const [base, bits] of [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  NOBODY.addSubnet(base, bits, 'ipv6')

interface PluginSocketOptions {
  plugin: string
  grants: Grants
  log: Logger
  signal: AbortSignal
}

/** Opens a UDP port. What it sends is not held to `net`: a listener answers its callers. */
export async function openUdp(
  options: PluginSocketOptions,
  { port, address = '0.0.0.0' }: { port: number; address?: string },
): Promise<UdpSocket> {
  const { plugin, grants, signal, log } = options
  if (!allowsListen(grants.listen, 'udp', port)) throw permissionDenied(plugin, 'listen', `udp:${port}`)
  signal.throwIfAborted()
  const ipv6 = isIPv6(address)
  // Only addresses are sent to: a lookup would cost a turn of the event loop for every packet.
  const asIs: net.LookupFunction = (host, _options, callback) => callback(null, host, ipv6 ? 6 : 4)
  const socket = dgram.createSocket({ type: ipv6 ? 'udp6' : 'udp4', lookup: asIs as never })
  try {
    // Without a lookup it may be bound before bind() returns.
    const listening = once(socket, 'listening', { signal })
    socket.bind(port, address)
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  // ICMP errors of earlier datagrams arrive here; UDP promises nothing, and neither do we.
  socket.on(
    'error',
    boundary('plugin', (err) => log.debug({ err }, 'UDP socket failed')),
  )
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
  } catch (err) {
    log.debug({ err }, 'The receive buffer could not be enlarged')
  }
  const bound = socket.address()
  const close = boundary('plugin', (): void => {
    signal.removeEventListener('abort', close)
    try {
      socket.close()
    } catch {
      // It is closed already.
    }
  })
  signal.addEventListener('abort', close, { once: true })
  let lastAddress = ''
  let lastTo = ''
  let closed = false
  socket.once(
    'close',
    boundary('plugin', () => {
      closed = true
    }),
  )
  return {
    address: bound.address,
    port: bound.port,
    send(bytes, toPort, toAddress) {
      if (closed || toPort < 1 || toPort > 65535) return
      // Fifty packets a second go to the same address: it is looked at once.
      if (toAddress !== lastAddress) {
        const family = isIP(toAddress)
        if (family === 0 || NOBODY.check(toAddress, family === 6 ? 'ipv6' : 'ipv4')) return
        lastAddress = toAddress
        lastTo = ipv6 && family === 4 ? `::ffff:${toAddress}` : toAddress
      }
      const to = lastTo
      // Without a callback a packet costs no event-loop turn; failures are socket events or ignored.
      sendAnswer(socket, bytes, toPort, to)
    },
    receive(handler) {
      socket.on(
        'message',
        boundary('plugin', (bytes, from) => handler(bytes, { address: plainAddress(from.address), port: from.port })),
      )
    },
    close,
  }
}

/** A peer that takes longer over a TLS handshake is not one. */
const HANDSHAKE_TIMEOUT_MS = 10_000

/** Opens a TCP port, or a TLS port when it is given a key. */
export async function openListener(
  options: PluginSocketOptions,
  { port, address = '0.0.0.0', key, cert, maxConnections, admits, failed, accept }: ListenOptions,
): Promise<Listener> {
  const { plugin, grants, signal } = options
  if (!allowsListen(grants.listen, 'tcp', port)) throw permissionDenied(plugin, 'listen', `tcp:${port}`)
  signal.throwIfAborted()
  const open = new Set<net.Socket>()
  const greet = boundary(
    'plugin',
    (socket: net.Socket): void => {
      if (socket.destroyed) return
      open.add(socket)
      socket.once(
        'close',
        boundary('plugin', () => open.delete(socket)),
      )
      socket.on('error', () => socket.destroy())
      accept(socket, peerOf(socket))
    },
    (socket) => socket.destroy(),
  )
  const server =
    key === undefined || cert === undefined
      ? net.createServer({ noDelay: true }, greet)
      : tls.createServer(
          {
            ...{ key: Buffer.from(key), cert: Buffer.from(cert), noDelay: true },
            handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
          },
          greet,
        )
  server.maxConnections = maxConnections
  // Before the server's own listener: a socket that is destroyed gets no handshake.
  server.prependListener(
    'connection',
    boundary('plugin', (socket: net.Socket) => {
      const admitted = admits?.(peerOf(socket))
      if (admitted === false) socket.destroy()
      else if (typeof admitted === 'function') socket.once('close', boundary('plugin', admitted))
    }),
  )
  server.on(
    'tlsClientError',
    boundary('plugin', (error: Error, socket: tls.TLSSocket) => {
      // A connection that was not admitted has no address any more.
      if (socket.remoteAddress !== undefined) failed?.(error, peerOf(socket))
      socket.destroy()
    }),
  )
  server.listen(port, address)
  try {
    await once(server, 'listening', { signal })
  } catch (error) {
    server.close()
    throw error
  }
  const bound = server.address() as net.AddressInfo
  const close = boundary('plugin', (): void => {
    signal.removeEventListener('abort', close)
    server.close()
    for (const socket of open) socket.destroy()
  })
  signal.addEventListener('abort', close, { once: true })
  return { port: bound.port, close }
}

/** The addresses of a name. A plugin that listens may ask for any: it has to find those who take its calls. */
export async function resolveName(options: PluginSocketOptions, host: string): Promise<string[]> {
  const { plugin, grants, signal } = options
  const name = normalizeHost(host)
  if (isIP(name) !== 0) return [name]
  if (grants.listen.length === 0 && !allowsHost(grants.net, name, undefined)) {
    throw permissionDenied(plugin, 'net', name)
  }
  signal.throwIfAborted()
  const rule: NetRule = { kind: 'name', name, port: undefined, reach: 'anywhere' }
  const found = await pluginScope.run({ plugin, only: { ...grants, net: [rule] } }, () => lookup(name, { all: true }))
  return found.map((one) => one.address)
}

const SERVICE_TIMEOUT_MS = 2_000

/** The servers of a service, under the same rule. Throws where there are none. */
export async function resolveService(options: PluginSocketOptions, name: string): Promise<SrvRecord[]> {
  const { plugin, grants, signal } = options
  if (grants.listen.length === 0 && !allowsHost(grants.net, name, undefined))
    throw permissionDenied(plugin, 'net', name)
  signal.throwIfAborted()
  const rule: NetRule = { kind: 'name', name: normalizeHost(name), port: undefined, reach: 'anywhere' }
  const resolver = new Resolver({ timeout: SERVICE_TIMEOUT_MS, tries: 2 })
  return pluginScope.run({ plugin, only: { ...grants, net: [rule] } }, () => resolver.resolveSrv(name))
}

function peerOf(socket: net.Socket): { address: string; port: number } {
  return { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 }
}

/** An IPv4 address that came over an IPv6 socket, as itself. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}
