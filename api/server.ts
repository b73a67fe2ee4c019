import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket, WebSocket } from 'uWebSockets.js'
import type { Socket, SocketHandlers, UpgradeRequest, WebSocketRoute } from '../runtime/web-socket.ts'
import { RequestBody } from './body.ts'
import { listenFault } from './listen-fault.ts'
import { loadServerLibrary } from './server-library.ts'

const uWS = loadServerLibrary()

/** A streamed reply is given up when the client takes nothing for this long. */
const SLOW_READER_TIMEOUT_MS = 30_000
const PAUSE_RENEWAL_MS = 3000
const TICK_INTERVAL_MS = 500
/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it two processes would silently share the port. */
const EXCLUSIVE_PORT = 1

/** An HTTP request. Headers are read before the first await; they are gone afterwards. */
export interface Incoming {
  readonly method: string
  readonly path: string
  /** Without the question mark, still encoded. */
  readonly query: string
  /** Value of a header named in lower case; empty when absent. */
  header(name: string): string
  /** All headers by their names in lower case. */
  headers(): Record<string, string>
  readonly body: RequestBody
  /** The next server on the way could see the body end elsewhere; the connection ends with the answer. */
  readonly isAmbiguous: boolean
  /** Aborts when the client goes away or the server is closed over it. */
  readonly signal: AbortSignal
  readonly remoteAddress: string
  /** Answers; called once. */
  send(outgoing: Outgoing): void
}

export interface Outgoing {
  status: number
  headers: readonly (readonly [name: string, value: string])[]
  /** A stream is sent as it is made, at the client's pace; its iterator is ended when the client goes away. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

export interface ServerOptions {
  host: string
  /** 0: any free port. */
  port: number
  /** Sends one answer, soon or late, and never throws. */
  handle(incoming: Incoming): void
  webSockets: readonly WebSocketRoute[]
  /** The HTTP answer to a refused upgrade. */
  refuse(error: unknown, request: UpgradeRequest): Outgoing
  requestId(header: string): string
  /** Said with every answer that doesn't say them itself. */
  headers?: readonly (readonly [name: string, value: string])[]
}

export interface Server {
  readonly port: number
  /** Takes no new connection; what is connected stays. */
  refuseConnections(): void
  /** Takes no new connection, lets requests in flight finish for at most `graceMs`, then closes everything. */
  close(graceMs: number): Promise<void>
}

/** Listens, or throws `configuration` with the cure when the port can't be had. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const app = uWS.App()
  const traffic: Traffic = { open: new Set(), closing: false, idle: undefined, headers: options.headers ?? [] }

  const sockets = new Set<WebSocket<SocketData>>()
  for (const route of options.webSockets) addWebSocket(app, route, options, sockets)
  app.any('/*', (res, req) => {
    new Exchange(res, req, traffic).begin(options.handle)
  })

  const listening = await listen(app, options.host, options.port)
  const port = uWS.us_socket_local_port(listening as unknown as Parameters<typeof uWS.us_socket_local_port>[0])
  const ticking = setInterval(() => {
    const nowMs = performance.now()
    for (const exchange of traffic.open) exchange.body.tick(nowMs)
  }, TICK_INTERVAL_MS).unref()
  const refuseConnections = () => {
    if (!traffic.closing) uWS.us_listen_socket_close(listening)
    traffic.closing = true
  }
  return {
    port,
    refuseConnections,
    async close(graceMs) {
      refuseConnections()
      if (traffic.open.size > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, graceMs)
          traffic.idle = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      app.close()
      clearInterval(ticking)
    },
  }
}

/** What the exchanges of a server share. */
interface Traffic {
  readonly open: Set<Exchange>
  closing: boolean
  /** Called when nothing is open any more. */
  idle: (() => void) | undefined
  readonly headers: Outgoing['headers']
}

/** One request and its response. Every use of `#res` after its end or abort would throw, hence `#over`. */
class Exchange implements Incoming {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: RequestBody
  readonly isAmbiguous: boolean
  readonly #res: HttpResponse
  readonly #traffic: Traffic
  #req: HttpRequest | undefined
  #over = false
  /** Within a call by the library, which sends what is written meanwhile in one piece. */
  #corked = false
  #abort: AbortController | undefined
  #paused: NodeJS.Timeout | undefined
  #writable: (() => void) | undefined

  constructor(res: HttpResponse, req: HttpRequest, traffic: Traffic) {
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.#res = res
    this.#req = req
    this.#traffic = traffic
    this.body = new RequestBody(this)
    this.isAmbiguous = isAmbiguous(req)
    res.onAborted(() => this.#end(true))
    if (this.method !== 'GET' && this.method !== 'HEAD') res.onData((chunk, last) => this.#receive(chunk, last))
  }

  header(name: string): string {
    if (this.#req === undefined) throw new Error(`Header "${name}" was read after the first await`)
    return this.#req.getHeader(name)
  }

  headers(): Record<string, string> {
    const all: Record<string, string> = {}
    this.#req?.forEach((name, value) => {
      all[name] = value
    })
    return all
  }

  /** Has the request handled. Headers can be read until this returns. */
  begin(handle: ServerOptions['handle']): void {
    this.#traffic.open.add(this)
    this.#corked = true
    handle(this)
    this.#corked = false
    this.#req = undefined
  }

  #receive(chunk: ArrayBuffer, last: boolean): void {
    this.#corked = true
    this.body.push(chunk, last)
    this.#corked = false
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#over) this.#abort.abort()
    }
    return this.#abort.signal
  }

  get remoteAddress(): string {
    return this.#over ? '' : Buffer.from(this.#res.getRemoteAddressAsText()).toString()
  }

  /** The library would cut off a silent client after 10 s, although it is us who don't listen; resuming starts anew. */
  pause(): void {
    if (this.#over) return
    this.#res.pause()
    this.#paused = setInterval(() => {
      this.#res.resume()
      this.#res.pause()
    }, PAUSE_RENEWAL_MS)
  }

  resume(): void {
    clearInterval(this.#paused)
    if (!this.#over) this.#res.resume()
  }

  send(outgoing: Outgoing): void {
    const closing = this.#traffic.closing || this.isAmbiguous
    if (this.#over) {
      if (isStream(outgoing.body)) void outgoing.body[Symbol.asyncIterator]().return?.()
      return
    }
    this.body.discard()
    const { body } = outgoing
    if (isStream(body) && this.method !== 'HEAD') {
      void this.#stream(outgoing, body, closing)
      return
    }
    this.#cork(() => {
      this.#head(outgoing)
      if (this.method !== 'HEAD') this.#res.end(body as string | Uint8Array | undefined, closing)
      else this.#res.endWithoutBody(lengthOf(body), closing)
    })
    this.#end(false)
  }

  /** Asking the library for what it does already would only cost a way there and back. */
  #cork(write: () => void): void {
    if (this.#corked) write()
    else this.#res.cork(write)
  }

  #head(outgoing: Outgoing): void {
    writeHead(this.#res, outgoing, this.#traffic.headers)
  }

  async #stream(outgoing: Outgoing, body: AsyncIterable<string | Uint8Array>, closing: boolean): Promise<void> {
    const res = this.#res
    res.onWritable(() => {
      this.#writable?.()
      return true
    })
    res.cork(() => this.#head(outgoing))
    try {
      for await (const chunk of body) {
        if (this.#over) return
        let accepted = true
        res.cork(() => {
          accepted = res.write(chunk)
        })
        if (!accepted) await this.#drained()
        if (this.#over) return
      }
      if (this.#over) return
      res.cork(() => res.end(undefined, closing))
      this.#end(false)
    } catch {
      // The head is sent: only a cut connection can tell the client that the body is not whole.
      if (!this.#over) res.close()
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (!this.#over) this.#res.close()
      }, SLOW_READER_TIMEOUT_MS)
      this.#writable = () => {
        this.#writable = undefined
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #end(aborted: boolean): void {
    if (this.#over) return
    this.#over = true
    clearInterval(this.#paused)
    if (aborted) {
      this.body.abort()
      this.#abort?.abort()
    }
    this.#writable?.()
    const { open, idle } = this.#traffic
    open.delete(this)
    if (open.size === 0) idle?.()
  }
}

interface SocketData {
  accept: (socket: Socket) => SocketHandlers
  handlers?: SocketHandlers
  socket?: UwsSocket
}

class UwsSocket implements Socket {
  readonly #ws: WebSocket<SocketData>
  open = true

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws
  }

  send(data: string | Uint8Array): boolean {
    // 2: over the backpressure limit, dropped. 0: queued behind a slow peer.
    return this.open && this.#ws.send(data, typeof data !== 'string') !== 2
  }

  bufferedBytes(): number {
    return this.open ? this.#ws.getBufferedAmount() : 0
  }

  ping(): void {
    if (this.open) this.#ws.ping()
  }

  close(code: number, reason: string): void {
    if (this.open) this.#ws.end(code, reason)
  }

  terminate(): void {
    if (this.open) this.#ws.close()
  }
}

/**
 * Upgrades as the library wants it, which warns of writes that are not corked. After a check that waited the response's own
 * cork would be wrong: where the socket keeps its address over the upgrade, that cork takes it for HTTP still and, reading the
 * WebSocket's state as a response's, may close it. Within another's, as within the library's call, it leaves the socket alone; a
 * node has that of a voice worker's link at least, and the first of all sockets is worth a warning.
 */
function corkUpgrade(res: HttpResponse, sockets: ReadonlySet<WebSocket<SocketData>>, upgrade: () => void): void {
  const [other] = sockets
  if (other === undefined) upgrade()
  else other.cork(() => void res.cork(upgrade))
}

function addWebSocket(
  app: TemplatedApp,
  route: WebSocketRoute,
  options: ServerOptions,
  sockets: Set<WebSocket<SocketData>>,
): void {
  app.ws<SocketData>(route.path, {
    maxPayloadLength: route.maxPayloadBytes,
    maxBackpressure: route.maxBackpressureBytes,
    idleTimeout: route.idleTimeoutS,
    sendPingsAutomatically: true,
    upgrade: async (res, req, context) => {
      let gone = false
      res.onAborted(() => {
        gone = true
      })
      const headers = new Map<string, string>()
      req.forEach((name, value) => {
        headers.set(name, value)
      })
      const request: UpgradeRequest = {
        query: new URLSearchParams(req.getQuery()),
        header: (name) => headers.get(name),
        remoteAddress: Buffer.from(res.getRemoteAddressAsText()).toString(),
        requestId: options.requestId(headers.get('x-request-id') ?? ''),
      }
      const header = (name: string) => headers.get(name) ?? ''
      try {
        const accept = await route.upgrade(request)
        if (gone) return
        corkUpgrade(res, sockets, () => {
          res.upgrade<SocketData>(
            { accept },
            header('sec-websocket-key'),
            header('sec-websocket-protocol'),
            header('sec-websocket-extensions'),
            context,
          )
        })
      } catch (error) {
        if (gone) return
        const refusal = options.refuse(error, request)
        res.cork(() => {
          writeHead(res, refusal, options.headers ?? [])
          res.end(refusal.body as string)
        })
      }
    },
    open: (ws) => {
      const data = ws.getUserData()
      sockets.add(ws)
      data.socket = new UwsSocket(ws)
      data.handlers = data.accept(data.socket)
    },
    message: (ws, message, isBinary) => {
      ws.getUserData().handlers?.message(isBinary ? new Uint8Array(message) : Buffer.from(message).toString())
    },
    drain: (ws) => ws.getUserData().handlers?.drain?.(),
    pong: (ws) => ws.getUserData().handlers?.pong?.(),
    close: (ws, code) => {
      sockets.delete(ws)
      const { socket, handlers } = ws.getUserData()
      if (socket) socket.open = false
      handlers?.close(code)
    },
  })
}

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void

async function listen(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  const listening = await new Promise<us_listen_socket | false>((resolve) => {
    // The typings lack the overload with host and options.
    ;(app.listen as unknown as Listen).call(app, host, port, EXCLUSIVE_PORT, resolve)
  })
  if (listening) return listening
  throw await listenFault(host, port)
}

/** More than one length, or an encoding other than `chunked`, by which the library reads it (RFC 9112, 6.1 and 6.3). */
function isAmbiguous(req: HttpRequest): boolean {
  const encoding = req.getHeader('transfer-encoding')
  if (encoding === '' && req.getHeader('content-length') === '') return false
  let framings = 0
  req.forEach((name) => {
    if (name === 'content-length' || name === 'transfer-encoding') framings++
  })
  return framings > 1 || (encoding !== '' && encoding.toLowerCase() !== 'chunked')
}

function writeHead(res: HttpResponse, { status, headers }: Outgoing, standing: Outgoing['headers']): void {
  res.writeStatus(STATUS_LINES[status] ?? String(status))
  for (const [name, value] of headers) res.writeHeader(name, value)
  for (const [name, value] of standing) {
    if (!headers.some(([said]) => said === name)) res.writeHeader(name, value)
  }
}

/** Of a body that is no stream, in bytes. */
function lengthOf(body: Outgoing['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : 0
}

function isStream(body: Outgoing['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  204: '204 No Content',
  206: '206 Partial Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  416: '416 Range Not Satisfiable',
  422: '422 Unprocessable Entity',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
}
