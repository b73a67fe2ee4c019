import { createHash } from 'node:crypto'
import { isIP, type Socket } from 'node:net'
import { networkOf } from '../../../runtime/lib/address-range.ts'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import type { Listener, PluginHost, UdpSocket } from '../../../runtime/plugin/contract.ts'
import { MessageFraming } from '../message/framing.ts'
import { answerToMalformed } from '../message/malformed.ts'
import { type SipMessage, SipParseError } from '../message/message.ts'
import { parseMessage } from '../message/parser.ts'
import { serializeRequest, serializeResponse } from '../message/serializer.ts'
import type { Timers } from '../transaction/timers.ts'
import { connectFaultOf, handshakeFaultOf } from './connect-fault.ts'
import type { Flow, Protocol } from './flow.ts'
import type { Gatekeeper } from './gatekeeper.ts'
import { localAddressFor } from './local-address.ts'

const MAX_CONNECTIONS = 2_000
/** Idle connections are closed after this. */
const IDLE_MS = 15 * 60_000
/** How long an inbound connection may stay unauthenticated, unless from a trunk's address. */
const UNPROVEN_MS = 30_000
/** Connections that others opened, of one trunk, of one network that proved itself, of one that did not, and of all those. */
const MAX_OF_TRUNK = 500
const MAX_OF_PROVEN = 100
const MAX_OF_STRANGER = 20
const MAX_OF_STRANGERS = 1_000
const STRANGERS = 'strangers'
/** What a peer that doesn't read may have waiting. */
const MAX_WAITING_BYTES = 1024 * 1024
const MAX_PING_BYTES = 4
/** How long this machine's own addresses are assumed not to change. */
const LOCAL_ADDRESS_MS = 1_000
/** How long a peer may take to accept a connection for a request that is too large for UDP, and how long a refusal is remembered. */
const LARGE_CONNECT_MS = 1_500
const WITHOUT_TCP_MS = 10 * 60_000
const MAX_WITHOUT_TCP = 1_000
const PONG = Buffer.from('\r\n', 'latin1')

interface TransportOptions {
  host: PluginHost
  /** Port and address of UDP and TCP. */
  port: number
  address: string
  publicAddress: string | undefined
  tls: { port: number; key: Uint8Array; cert: Uint8Array } | undefined
  gatekeeper: Gatekeeper
  /** The trunk that has an address. */
  trunkAt(address: string): string | undefined
  timers: Timers
  receive(message: SipMessage, flow: Flow): void
  /** A message passes, either way. */
  seen?(direction: 'in' | 'out', bytes: Uint8Array, flow: Flow): void
  /** A connection is gone. */
  closed?(flow: Flow): void
}

interface Connection {
  readonly flow: Flow
  readonly socket: Socket
  /** As Flow's `send`, over this connection and no other. */
  write(bytes: Uint8Array, failed?: () => void): void
}

/** Who has to be at the other end of a connection over TLS. */
interface Identity {
  /** The name or address its certificate must be for. */
  host: string
  /** PEM of those who may vouch for it; undefined: those this machine trusts anyhow. */
  ca: string | undefined
  /** What we show in return, where we are asked (mutual TLS). PEM. */
  own: { cert: string; key: string } | undefined
}

/** UDP, TCP and TLS (RFC 3261, section 18): bytes to messages, and flows back to where they came from. */
export class Transport {
  readonly #options: TransportOptions
  #udp: UdpSocket | undefined
  #listeners: Listener[] = []
  /** Open connections by protocol, address and port, in both directions. */
  readonly #connections = new Map<string, Connection>()
  /** Inbound connections, by remote address. */
  readonly #entered = new Map<string, number>()
  readonly #connecting = new Map<string, Promise<Connection>>()
  /** Peers that take no TCP, by address and port: until when they are not asked again. */
  readonly #withoutTcp = new Map<string, number>()
  #tlsPort = 5061
  /** Own addresses by peer, for a moment: to ask the system for its interfaces costs more than to read a message. */
  readonly #localAddresses = new Map<string, string>()
  #localAddressesAtMs = Number.NEGATIVE_INFINITY

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** The port of UDP and TCP. */
  get port(): number {
    return this.#udp?.port ?? this.#options.port
  }

  /** Throws what opening a port throws; then none is open. */
  async open(): Promise<void> {
    const { host, port, address, tls } = this.#options
    try {
      const udp = await host.net.udp({ port, address })
      this.#udp = udp
      udp.receive(boundary('sip', (bytes, from) => this.#datagram(bytes, from)))
      this.#listeners.push(await this.#listen('tcp', { port: udp.port, address }))
      if (tls === undefined) return
      const { port: tlsPort, key, cert } = tls
      const listener = await this.#listen('tls', { port: tlsPort, address, key, cert })
      this.#tlsPort = listener.port
      this.#listeners.push(listener)
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.#udp?.close()
    for (const listener of this.#listeners) listener.close()
    for (const { socket } of this.#connections.values()) socket.destroy()
    this.#listeners = []
  }

  /** The address of ours that this peer sees. */
  localAddress(peer: string): string {
    const nowMs = performance.now()
    if (nowMs - this.#localAddressesAtMs > LOCAL_ADDRESS_MS) {
      this.#localAddresses.clear()
      this.#localAddressesAtMs = nowMs
    }
    const known = this.#localAddresses.get(peer)
    if (known !== undefined) return known
    const { address: bound, publicAddress } = this.#options
    const local = localAddressFor(peer, { bound, publicAddress })
    this.#localAddresses.set(peer, local)
    return local
  }

  /**
   * The way to an address. A connection is opened once and shared, over TLS by those who expect the same identity; one that
   * is lost is opened anew with the next message. Throws Error with a sentence for the operator.
   */
  async flowTo(protocol: Protocol, address: string, port: number, identity: Identity): Promise<Flow> {
    if (protocol === 'udp') return this.#udpFlow(address, port)
    return (await this.#connection(protocol, address, port, identity)).flow
  }

  #connection(protocol: Protocol, address: string, port: number, identity: Identity): Promise<Connection> {
    const key = keyOf(protocol, address, port, protocol === 'tls' ? identity : undefined)
    const open = this.#connections.get(key)
    if (open !== undefined) return Promise.resolve(open)
    let connecting = this.#connecting.get(key)
    if (connecting === undefined) {
      const flow = this.streamFlow(protocol, address, port, identity)
      connecting = this.#connect(protocol, address, port, identity)
        .then((socket) => this.#connected(socket, key, flow))
        .finally(() => this.#connecting.delete(key))
      this.#connecting.set(key, connecting)
    }
    return connecting
  }

  /** A way over a connection that is opened with the first message, unless it is there. */
  streamFlow(protocol: Protocol, address: string, port: number, identity: Identity): Flow {
    return {
      ...{ protocol, address, port },
      local: this.#localOf(protocol, address),
      isOpen: true,
      send: (bytes, failed) => {
        this.#connection(protocol, address, port, identity).then(
          (connection) => {
            this.#sent(bytes, connection.flow)
            connection.write(bytes, failed)
          },
          () => failed?.(),
        )
      },
    }
  }

  #localOf(protocol: Protocol, peer: string): Flow['local'] {
    return { host: this.localAddress(peer), port: protocol === 'tls' ? this.#tlsPort : this.port }
  }

  async #connect(protocol: Protocol, address: string, port: number, { host, ca, own }: Identity): Promise<Socket> {
    const target =
      protocol === 'tls'
        ? { tls: true, ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }), ...own }
        : {}
    try {
      return await this.#options.host.net.connect({ host: address, port, ...target })
    } catch (error) {
      throw new Error(connectFaultOf(error, `${host}:${port}`), { cause: error })
    }
  }

  /** A way that needs no connection to be opened: UDP, or a connection that is there. */
  openFlow(protocol: Protocol, address: string, port: number): Flow | undefined {
    if (protocol === 'udp') return this.#udpFlow(address, port)
    return this.#connections.get(keyOf(protocol, address, port))?.flow
  }

  #udpFlow(address: string, port: number): Flow {
    const flow: Flow = {
      protocol: 'udp',
      address,
      port,
      local: { host: this.localAddress(address), port: this.port },
      isOpen: true,
      at: (other) => this.#udpFlow(address, other),
      larger: () => this.#tcpBeside(address, port),
      send: (bytes) => {
        this.#sent(bytes, flow)
        this.#udp?.send(bytes, port, address)
      },
    }
    return flow
  }

  /** The same peer over TCP, if it accepts a connection soon; asked at most once in ten minutes where it does not. */
  async #tcpBeside(address: string, port: number): Promise<Flow | undefined> {
    const peer = `${address} ${port}`
    const nowMs = performance.now()
    if ((this.#withoutTcp.get(peer) ?? 0) > nowMs) return undefined
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const cancel = this.#options.timers.after(LARGE_CONNECT_MS, () => resolve(undefined))
    const identity = { host: address, ca: undefined, own: undefined }
    const connecting = this.#connection('tcp', address, port, identity).catch(() => undefined)
    const connection = await Promise.race([connecting, late]).finally(cancel)
    this.#withoutTcp.delete(peer)
    if (connection !== undefined) return connection.flow
    if (this.#withoutTcp.size >= MAX_WITHOUT_TCP) this.#withoutTcp.clear()
    this.#withoutTcp.set(peer, nowMs + WITHOUT_TCP_MS)
    return undefined
  }

  /** Something that is no SIP, such as a capture for a collector. */
  sendDatagram(bytes: Uint8Array, port: number, address: string): void {
    this.#udp?.send(bytes, port, address)
  }

  #sent(bytes: Uint8Array, flow: Flow): void {
    if (bytes.length > MAX_PING_BYTES) this.#options.seen?.('out', bytes, flow)
  }

  #received(message: SipMessage, flow: Flow): void {
    if (this.#options.seen !== undefined) this.#options.seen('in', bytesOf(message), flow)
    this.#options.receive(message, flow)
  }

  #datagram(bytes: Buffer, { address, port }: { address: string; port: number }): void {
    const { gatekeeper } = this.#options
    // Keep-alives are a few bytes of nothing.
    if (bytes.length < 12 || !gatekeeper.admits(address, bytes.length)) return
    const flow = this.#udpFlow(address, port)
    try {
      this.#received(parseMessage(bytes), flow)
    } catch (error) {
      const { status } = this.#malformed(error, address)
      // Strangers learn nothing by it.
      const answer = gatekeeper.isKnown(address) ? answerToMalformed(bytes, status) : undefined
      if (answer !== undefined) flow.send(answer)
    }
  }

  #malformed(error: unknown, address: string): SipParseError {
    if (!(error instanceof SipParseError)) throw error
    this.#options.gatekeeper.refuse('malformed', address, error.message)
    return error
  }

  #listen(protocol: Protocol, where: { port: number; address: string; key?: Uint8Array; cert?: Uint8Array }) {
    return this.#options.host.net.listen({
      ...where,
      maxConnections: MAX_CONNECTIONS,
      admits: ({ address }) => this.#options.gatekeeper.admits(address) && this.#enter(address),
      failed: (error, { address }) => this.#options.gatekeeper.refuse('no_tls', address, handshakeFaultOf(error)),
      accept: (socket, from) => {
        const key = keyOf(protocol, from.address, from.port)
        const local = this.#localOf(protocol, from.address)
        const write = writerOf(socket)
        const accepted: Flow = {
          ...{ protocol, ...from, local },
          send: (bytes, failed) => {
            this.#sent(bytes, accepted)
            write(bytes, failed)
          },
          get isOpen() {
            return socket.writable
          },
        }
        this.#connected(socket, key, accepted)
        const cancel = this.#options.timers.after(UNPROVEN_MS, () => {
          if (!this.#isKnown(from.address)) socket.destroy()
        })
        socket.once('close', boundary('sip', cancel))
      },
    })
  }

  #isKnown(address: string): boolean {
    return this.#options.trunkAt(address) !== undefined || this.#options.gatekeeper.isProven(address)
  }

  /** Takes a place for an inbound connection; the function releases it. False: full. */
  #enter(address: string): false | (() => void) {
    const places = this.#placesOf(address)
    if (places.some(([key, most]) => (this.#entered.get(key) ?? 0) >= most)) {
      this.#options.gatekeeper.refuse('overloaded', address, 'Too many connections at once')
      return false
    }
    const count = (more: number): void => {
      for (const [key] of places) {
        const entered = (this.#entered.get(key) ?? 0) + more
        if (entered > 0) this.#entered.set(key, entered)
        else this.#entered.delete(key)
      }
    }
    count(1)
    return () => count(-1)
  }

  #placesOf(address: string): [key: string, most: number][] {
    const trunk = this.#options.trunkAt(address)
    if (trunk !== undefined) return [[`trunk ${trunk}`, MAX_OF_TRUNK]]
    const network = networkOf(address)
    if (this.#options.gatekeeper.isProven(address)) return [[network, MAX_OF_PROVEN]]
    return [
      [network, MAX_OF_STRANGER],
      [STRANGERS, MAX_OF_STRANGERS],
    ]
  }

  /** @param flow the way that what comes over this connection is answered by */
  #connected(socket: Socket, key: string, flow: Flow): Connection {
    const { address } = flow
    const framing = new MessageFraming(() => socket.write(PONG))
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    socket.on(
      'data',
      boundary('sip', (bytes: Buffer) => {
        try {
          for (const message of framing.push(bytes)) {
            if (!this.#options.gatekeeper.admits(address)) break
            this.#received(message, flow)
          }
        } catch (error) {
          socket.destroy()
          this.#malformed(error, address)
        }
      }),
    )
    socket.on('error', () => socket.destroy())
    socket.once(
      'close',
      boundary('sip', () => {
        if (this.#connections.get(key)?.socket === socket) this.#connections.delete(key)
        this.#options.closed?.(flow)
      }),
    )
    const connection = { flow, socket, write: writerOf(socket) }
    this.#connections.set(key, connection)
    return connection
  }
}

/** As it was received, but for the length and the case of header names. */
function bytesOf(message: SipMessage): Buffer {
  const { headers, body } = message
  if (message.kind === 'response')
    return serializeResponse({ status: message.status, reason: message.reason, headers, body })
  return serializeRequest({ method: message.method, uri: message.uri.text, headers, body })
}

function writerOf(socket: Socket): Connection['write'] {
  return (bytes, failed) => {
    if (socket.writable && socket.writableLength <= MAX_WAITING_BYTES) {
      socket.write(bytes)
      return
    }
    socket.destroy()
    // The sender is notified only after it has finished sending.
    if (failed !== undefined) queueMicrotask(boundary('sip', failed))
  }
}

/** Our outbound TLS connections are keyed by verified identity: trunks never share one. */
function keyOf(protocol: Protocol, address: string, port: number, identity?: Identity): string {
  const where = `${protocol} ${address} ${port}`
  if (identity === undefined) return where
  const ca = createHash('sha256')
    .update(`${identity.ca ?? ''} ${identity.own?.cert ?? ''}`)
    .digest('base64')
  return `${where} ${identity.host} ${ca}`
}
