import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../instance/services.ts'

/** Where a connection leads: a port of this machine, or a unix socket. */
export type Upstream = { port: number; host?: string } | { path: string }

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** Chunks on their way, in order. */
  toClient: Promise<unknown>
  toServer: Promise<unknown>
  isSilent: boolean
}

/** A TCP proxy between a program and something it depends on, with the faults that networks and failovers have. */
export async function startFaultProxy(t: Teardown, first: Upstream) {
  const proxy = new FaultProxy(first)
  await proxy.listen(0)
  t.teardown(() => proxy.close())
  return proxy
}

export class FaultProxy {
  port = 0
  #upstream: Upstream
  readonly #pairs = new Set<Pair>()
  #server = createServer()
  #cutAtMs = 0
  #accepted = 0
  #isCut = false
  #isBlackHole = false
  #delayMs = 0
  #late = new AbortController()
  #resetEvery = 0
  #answerBytesLeft = Number.POSITIVE_INFINITY

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  /** How many connections were made so far. */
  get accepted(): number {
    return this.#accepted
  }

  /** Ends all connections with a reset, and each new one at once. */
  readonly cut = (): void => {
    this.#isCut = true
    this.#cutAtMs = performance.now()
    this.reset()
  }

  /** Ends the open connections with a reset; new ones are served. */
  readonly reset = (): void => {
    for (const { client, server } of this.#pairs) {
      resetSocket(client)
      server.destroy()
    }
  }

  /** Nobody listens any more; open connections are reset. */
  readonly refuse = async (): Promise<void> => {
    this.#cutAtMs = performance.now()
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.reset()
    await closed
  }

  /** Takes connections and bytes, and answers nothing, until `mend`. */
  readonly blackHole = (): void => {
    this.#isBlackHole = true
    for (const pair of this.#pairs) pause(pair)
  }

  /** What is open now never carries anything again, and neither end is told; new connections are served. */
  readonly silence = (): void => {
    for (const pair of this.#pairs) {
      pair.isSilent = true
      pause(pair)
    }
  }

  /** The other side loses its end of what is open now; this side is not told. */
  readonly halfOpen = (): void => {
    for (const pair of this.#pairs) {
      pair.isSilent = true
      pair.client.pause()
      pair.server.destroy()
    }
  }

  /** Each chunk arrives so much later, in both directions; at the end of the fault what waits arrives at once. */
  readonly delay = (delayMs: number): void => {
    this.#delayMs = delayMs
  }

  /** New connections lead elsewhere; those that are open stay where they are. */
  readonly redirect = (upstream: Upstream): void => {
    this.#upstream = upstream
  }

  /** Resets each nth connection as soon as it is made; 0: none. */
  readonly resetEach = (nth: number): void => {
    this.#resetEvery = nth
  }

  /** Resets everything once so many more bytes of answers have passed. */
  readonly cutInAnswer = (bytes: number): void => {
    this.#answerBytesLeft = bytes
  }

  /** Ends every fault; connections that fell silent for good stay so. */
  readonly mend = async (): Promise<void> => {
    this.#isCut = false
    this.#isBlackHole = false
    this.#delayMs = 0
    this.#late.abort()
    this.#late = new AbortController()
    this.#resetEvery = 0
    this.#answerBytesLeft = Number.POSITIVE_INFINITY
    for (const pair of this.#pairs) {
      if (pair.isSilent) continue
      pair.client.resume()
      pair.server.resume()
    }
    if (!this.#server.listening) await this.listen(this.port)
  }

  /** Mends it so long after it was cut. */
  readonly mendAfter = async (awayMs: number): Promise<void> => {
    await sleep(Math.max(0, this.#cutAtMs + awayMs - performance.now()))
    await this.mend()
  }

  async listen(port: number): Promise<void> {
    this.#server = createServer((client) => this.#join(client))
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #join(client: Socket): void {
    this.#accepted++
    client.on('error', () => {})
    if (this.#isCut || (this.#resetEvery > 0 && this.#accepted % this.#resetEvery === 0)) {
      resetSocket(client)
      return
    }
    const server = connect(this.#upstream)
    const pair: Pair = { client, server, toClient: Promise.resolve(), toServer: Promise.resolve(), isSilent: false }
    this.#pairs.add(pair)
    server.on('error', () => {})
    client.on('data', (bytes) => {
      pair.toServer = this.#pass(pair.toServer, bytes, server)
    })
    server.on('data', (bytes) => {
      this.#answerBytesLeft -= bytes.length
      const passed = this.#answerBytesLeft < 0 ? bytes.subarray(0, bytes.length + this.#answerBytesLeft) : bytes
      pair.toClient = this.#pass(pair.toClient, passed, client)
      if (this.#answerBytesLeft < 0) {
        this.#answerBytesLeft = Number.POSITIVE_INFINITY
        setImmediate(this.reset)
      }
    })
    client.on('close', () => {
      this.#pairs.delete(pair)
      void pair.toServer.then(() => server.destroy())
    })
    server.on('close', () => {
      if (!pair.isSilent) void pair.toClient.then(() => client.destroy())
    })
    if (this.#isBlackHole) pause(pair)
  }

  #pass(before: Promise<unknown>, bytes: Uint8Array, to: Socket): Promise<unknown> {
    if (this.#delayMs === 0) return before.then(() => to.write(bytes))
    const due = sleep(this.#delayMs, undefined, { signal: this.#late.signal }).catch(() => {})
    return before.then(() => due).then(() => to.write(bytes))
  }
}

/** A reset of a socket that is being ended would never close its handle. */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}

function pause({ client, server }: Pair): void {
  client.pause()
  server.pause()
}
