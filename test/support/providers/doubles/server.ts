import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Fault, Faults } from './faults.ts'

/** A provider of our own, on a free port of this machine. */
export interface Double {
  /** `http://127.0.0.1:port`. */
  readonly url: string
  readonly faults: Faults
  /** What was asked, in order: `POST /v1/chat/completions`. */
  readonly requests: string[]
  /** Connections that are open now. */
  open(): number
  /** Cuts every open WebSocket, as a service that restarts does. */
  cut(): void
  stop(): Promise<void>
}

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  url: URL
  body: Buffer
  fault: Fault | undefined
}

export interface DoubleOptions {
  /** Why the request isn't let in; undefined when it is. */
  refuse(request: IncomingMessage): { status: number; body: object } | undefined
  /** The provider's own body for an error. */
  errorBody(status: number, code: string | undefined, message: string | undefined): object
  http: Readonly<Record<string, (exchange: Exchange) => Promise<void> | void>>
  sockets: Readonly<Record<string, (channel: Channel, url: URL, request: IncomingMessage) => void>>
}

const MAX_BODY_BYTES = 32 * 1024 * 1024

/** Serves what a provider serves, with its faults. */
export async function startDouble(options: DoubleOptions): Promise<Double> {
  const faults = new Faults()
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const upgrades = new WebSocketServer({ noServer: true })
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://double')
    const route = `${request.method} ${url.pathname}`
    requests.push(route)
    const body = await bodyOf(request)
    const refused = options.refuse(request)
    if (refused) return json(response, refused.status, refused.body)
    const handler = options.http[route]
    if (handler === undefined) return json(response, 404, options.errorBody(404, 'not_found', `No such path: ${route}`))
    const fault = faults.take()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'slow') await sleep(fault.firstMs)
    if (fault?.kind === 'refuse' || fault?.kind === 'error') {
      if (fault.status === 429) response.setHeader('retry-after', '1')
      return json(response, fault.status, options.errorBody(fault.status, fault.code, fault.message))
    }
    await handler({ request, response, url, body, fault })
  }

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const url = new URL(request.url ?? '/', 'http://double')
    requests.push(`UPGRADE ${url.pathname}`)
    const fault = faults.take()
    const refused =
      fault?.kind === 'refuse'
        ? { status: fault.status, body: options.errorBody(fault.status, fault.code, fault.message) }
        : options.refuse(request)
    const handler = options.sockets[url.pathname]
    if (refused || handler === undefined) {
      const { status, body } = refused ?? { status: 404, body: options.errorBody(404, 'not_found', 'No such path') }
      const text = JSON.stringify(body)
      socket.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      )
      return
    }
    const accept = () =>
      upgrades.handleUpgrade(request, socket, head, (webSocket) => handler(new Channel(webSocket, fault), url, request))
    if (fault?.kind === 'slow') setTimeout(accept, fault.firstMs)
    else if (fault?.kind !== 'hang') accept()
  })
  const cut = () => {
    for (const client of upgrades.clients) client.terminate()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    requests,
    open: () => sockets.size,
    cut,
    async stop() {
      cut()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    length += (part as Buffer).length
    if (length > MAX_BODY_BYTES) throw new Error('The body is too large')
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts)
}

export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A double's end of a WebSocket, with the fault of its connection. */
export class Channel {
  readonly fault: Fault | undefined
  readonly #socket: WebSocket
  readonly #over = new AbortController()
  #sent = 0
  #spoilt = 0

  constructor(socket: WebSocket, fault: Fault | undefined) {
    this.#socket = socket
    this.fault = fault
    socket.on('close', () => this.#over.abort())
    socket.on('error', () => {})
    // A connection that is cut before anything was said.
    if (fault?.kind === 'disconnect' && fault.after === 0) setTimeout(() => socket.terminate(), 20)
  }

  /** Aborts when the connection is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Messages in order; the next one is handled when the one before is done with. */
  onMessage(handle: (data: Buffer, isBinary: boolean) => Promise<void> | void): void {
    let turn: Promise<void> = Promise.resolve()
    this.#socket.on('message', (data, isBinary) => {
      turn = turn.then(async () => {
        if (!this.signal.aborted) await handle(data as Buffer, isBinary)
      })
      turn.catch(() => this.#socket.terminate())
    })
  }

  send(message: object | Uint8Array) {
    this.#put(message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** A message that is more than its JSON. */
  sendText(message: string) {
    this.#put(message)
  }

  #put(message: string | Uint8Array) {
    const { fault } = this
    if (this.signal.aborted || fault?.kind === 'hang') return
    if (fault?.kind === 'disconnect' && this.#sent >= fault.after) return this.#socket.terminate()
    if (fault?.kind === 'malformed' && this.#spoilt < fault.count) {
      this.#spoilt++
      this.#socket.send(this.#spoilt % 2 === 0 ? '[1, 2, 3]' : '{"type": "chu')
    }
    this.#sent++
    this.#socket.send(message)
  }

  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason)
  }
}
