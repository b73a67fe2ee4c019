import type {
  HttpRequest,
  TemplatedApp,
  HttpResponse as UwsResponse,
  us_listen_socket,
  WebSocket,
} from 'uWebSockets.js'
import { createRequire } from 'node:module'
import { boundary, caught, inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { WebSocketRoute } from '../../runtime/process/web-socket.ts'
import { RequestBody } from './body.ts'
import { type HttpResponse, writeHead } from './http-response.ts'
import { listenFault } from './listen-fault.ts'
import { addWebSocket, type SocketData, type SocketOptions } from './server-sockets.ts'

export type { HttpResponse } from './http-response.ts'

// The library reads this once, when it is loaded. Its own limit of 4 KiB is less than a browser's cookies may take.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
const [nodeMajor] = process.versions.node.split('.')
/** The library itself knows no Node after 23; its later binaries are packages of their own. */
const binaries = nodeMajor === '22' ? 'uWebSockets.js' : `@uwsjs/${process.platform}-${process.arch}-${nodeMajor}`
const uWS = createRequire(import.meta.url)(binaries) as typeof import('uWebSockets.js')

/** A streamed reply is given up when the client takes nothing for this long. */
const SLOW_READER_TIMEOUT_MS = 30_000
const PAUSE_RENEWAL_MS = 3000
const TICK_INTERVAL_MS = 500
/** The library gathers so much of what is written within one of its calls. */
const GATHERED_BYTES = 16 * 1024
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
  send(response: HttpResponse): void
}

interface ServerOptions extends SocketOptions {
  host: string
  /** 0: any free port. */
  port: number
  /** Sends one answer. A failure closes the connection. */
  handle(incoming: Incoming): Promise<void> | void
  webSockets: readonly WebSocketRoute[]
}

interface Server {
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
  app.any(
    '/*',
    boundary('http', (res, req) => new IncomingRequest(res, req, traffic).begin(options.handle)),
  )

  const listening = await listen(app, options.host, options.port)
  const port = uWS.us_socket_local_port(listening as unknown as Parameters<typeof uWS.us_socket_local_port>[0])
  const tick = boundary('http', () => {
    const nowMs = performance.now()
    for (const request of traffic.open) request.body.tick(nowMs)
  })
  const ticking = setInterval(tick, TICK_INTERVAL_MS).unref()
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

/** What the requests of a server share. */
interface Traffic {
  readonly open: Set<IncomingRequest>
  closing: boolean
  /** Called when nothing is open any more. */
  idle: (() => void) | undefined
  readonly headers: HttpResponse['headers']
}

/** One request and its response. Every use of `#res` after its end or abort would throw, hence `#over`. */
class IncomingRequest implements Incoming {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: RequestBody
  readonly isAmbiguous: boolean
  readonly #res: UwsResponse
  readonly #traffic: Traffic
  #req: HttpRequest | undefined
  #over = false
  #abort: AbortController | undefined
  #paused: NodeJS.Timeout | undefined
  #writable: (() => void) | undefined

  constructor(res: UwsResponse, req: HttpRequest, traffic: Traffic) {
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.#res = res
    this.#req = req
    this.#traffic = traffic
    this.body = new RequestBody(this)
    this.isAmbiguous = isAmbiguous(req)
    res.onAborted(() => this.#aborted())
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
    try {
      handle(this)?.catch((error: unknown) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
    this.#req = undefined
  }

  #receive(chunk: ArrayBuffer, last: boolean): void {
    try {
      this.body.push(chunk, last)
    } catch (error) {
      this.#fail(error)
    }
  }

  #aborted(): void {
    try {
      this.#end(true)
    } catch (error) {
      caught('http', error)
    }
  }

  /** The client learns by a cut connection that its answer is not whole, or does not come. */
  #fail(error: unknown): void {
    caught('http', error)
    if (!this.#over) this.#res.close()
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
    const renew = boundary('http', () => {
      this.#res.resume()
      this.#res.pause()
    })
    this.#paused = setInterval(renew, PAUSE_RENEWAL_MS)
  }

  resume(): void {
    clearInterval(this.#paused)
    if (!this.#over) this.#res.resume()
  }

  send(response: HttpResponse): void {
    const { closing } = this.#traffic
    const { body } = response
    if (this.#over) {
      this.#leave(body)
      return
    }
    this.body.discard()
    if (this.isAmbiguous) {
      this.#refuse(response)
      return
    }
    if (isStream(body) && this.method !== 'HEAD') {
      inBackground('http', this.#stream(response, body, closing))
      return
    }
    this.#res.cork(() => {
      this.#head(response)
      if (this.method !== 'HEAD') this.#res.end(body as string | Uint8Array | undefined, closing)
      else this.#res.endWithoutBody(lengthOf(body), closing)
    })
    this.#end(false)
    this.#leave(body)
  }

  /**
   * Answers an ambiguous request, and closes before the library takes the rest of the bytes it has for the next request. It would
   * close after those, unless an answer goes beyond what it gathers: hence the spaces.
   */
  #refuse(response: HttpResponse): void {
    if (this.method === 'HEAD' || typeof response.body !== 'string') {
      this.#leave(response.body)
      this.#res.close()
      return
    }
    const text = `${response.body}${' '.repeat(GATHERED_BYTES)}`
    this.#res.cork(() => {
      this.#head(response)
      this.#res.end(text, true)
    })
    this.#end(false)
  }

  /** Nobody will read the body: what makes it ends, also where it has not begun, so that no `finally` of it runs. */
  #leave(body: HttpResponse['body']): void {
    if (!isStream(body)) return
    if (this.#abort === undefined) this.#abort = new AbortController()
    this.#abort.abort()
    inBackground('http', body[Symbol.asyncIterator]().return?.())
  }

  #head(response: HttpResponse): void {
    writeHead(this.#res, response, this.#traffic.headers)
  }

  async #stream(response: HttpResponse, body: AsyncIterable<string | Uint8Array>, closing: boolean): Promise<void> {
    const res = this.#res
    const writable = boundary('http', () => {
      this.#writable?.()
      return true
    })
    res.onWritable(writable)
    res.cork(() => this.#head(response))
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
    } catch (error) {
      if (this.#over) return
      // The head is sent: only a cut connection can tell the client that the body is not whole.
      if (error instanceof PatchbayError && error.status < 500) this.#res.close()
      else this.#fail(error)
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const giveUp = boundary('http', () => {
        if (!this.#over) this.#res.close()
      })
      const timer = setTimeout(giveUp, SLOW_READER_TIMEOUT_MS)
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

/** Of a body that is no stream, in bytes. */
function lengthOf(body: HttpResponse['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : 0
}

function isStream(body: HttpResponse['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}
