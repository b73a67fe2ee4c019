import dgram from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What is not an RTP packet: STUN, DTLS, RTCP (RFC 7983, RFC 5761). */
const FIRST_RTP = 0x80
const LAST_RTP = 0xbf
const FIRST_RTCP = 192
const LAST_RTCP = 223

export interface BadLineOptions {
  /** Of the datagrams, each way: 0 to 1. */
  loss: number
  /** Each way. */
  delayMs: number
  random: () => number
}

/**
 * A bad network between a client and the servers of this machine: datagrams are lost and late, streams late. A relay, for a kernel
 * without `sch_netem` has no network namespace that does it.
 */
export class BadLine {
  readonly #options: BadLineOptions
  readonly #sockets = new Set<{ close(): unknown }>()
  /** By the address they stand before. */
  readonly #fronts = new Map<string, Promise<number>>()
  /** Lost RTP packets on their way to the server: how many runs of each length. */
  readonly runs = new Map<number, number>()
  /** RTP packets to the server, the lost ones, too. */
  packets = 0

  constructor(options: BadLineOptions) {
    this.#options = options
  }

  /** The offer of a server, that leads over this line. */
  async offered(sdp: string): Promise<string> {
    const [, host = '', port] = /^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host/im.exec(sdp) ?? []
    const address = `${host}:${port}`
    const known = this.#fronts.get(address) ?? this.#datagrams(host, Number(port))
    this.#fronts.set(address, known)
    const lines = sdp.split('\r\n').filter((line) => !line.startsWith('a=candidate:'))
    lines.splice(-1, 0, `a=candidate:1 1 udp 1 127.0.0.1 ${await known} typ host`)
    return lines.join('\r\n')
  }

  /** A TCP port that leads to that one. */
  async streamsTo(port: number): Promise<number> {
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      this.#late(near, far)
      this.#late(far, near)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#sockets.add(server)
    return (server.address() as AddressInfo).port
  }

  close(): void {
    for (const socket of this.#sockets) socket.close()
  }

  #late(from: Socket, to: Socket): void {
    from.setNoDelay(true)
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), this.#options.delayMs))
    from.on('close', () => setTimeout(() => to.destroy(), this.#options.delayMs))
    from.on('error', () => undefined)
  }

  async #datagrams(host: string, port: number): Promise<number> {
    const front = this.#socket()
    const backs = new Map<string, dgram.Socket>()
    front.on('message', (packet, from) => {
      const name = `${from.address}:${from.port}`
      let back = backs.get(name)
      if (back === undefined) {
        back = this.#socket()
        back.on('message', (answer) => {
          if (!this.#isLost())
            setTimeout(() => this.#send(front, answer, from.port, from.address), this.#options.delayMs)
        })
        backs.set(name, back)
      }
      const to = back
      const isLost = this.#isLost()
      if (isRtp(packet)) this.#count(name, isLost)
      if (!isLost) setTimeout(() => this.#send(to, packet, port, host), this.#options.delayMs)
    })
    front.bind(0, '127.0.0.1')
    await once(front, 'listening')
    return front.address().port
  }

  readonly #running = new Map<string, number>()

  #count(name: string, isLost: boolean): void {
    this.packets++
    const running = this.#running.get(name) ?? 0
    if (!isLost && running > 0) this.runs.set(running, (this.runs.get(running) ?? 0) + 1)
    this.#running.set(name, isLost ? running + 1 : 0)
  }

  #isLost(): boolean {
    return this.#options.random() < this.#options.loss
  }

  #socket(): dgram.Socket {
    const socket = dgram.createSocket('udp4')
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
    this.#sockets.add(socket)
    return socket
  }

  #send(socket: dgram.Socket, packet: Uint8Array, port: number, host: string): void {
    if (this.#sockets.has(socket)) socket.send(packet, port, host)
  }
}

function isRtp(packet: Uint8Array): boolean {
  const [first = 0, second = 0] = packet
  return first >= FIRST_RTP && first <= LAST_RTP && !(second >= FIRST_RTCP && second <= LAST_RTCP)
}
