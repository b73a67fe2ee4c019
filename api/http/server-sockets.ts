import type { TemplatedApp, HttpResponse as UwsResponse, WebSocket } from 'uWebSockets.js'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Socket, SocketHandlers, UpgradeRequest, WebSocketRoute } from '../../runtime/process/web-socket.ts'
import { TOO_LARGE } from '../realtime/closing.ts'
import { type HttpResponse, writeHead } from './http-response.ts'

/** The WebSockets of the server. */

const INTERNAL_ERROR = 1011

export interface SocketOptions {
  /** The HTTP answer to a refused upgrade. */
  refuse(error: unknown, request: UpgradeRequest): HttpResponse
  requestId(header: string): string
  /** Said with every answer that doesn't say them itself. */
  headers?: HttpResponse['headers']
}

export interface SocketData {
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
function corkUpgrade(res: UwsResponse, sockets: ReadonlySet<WebSocket<SocketData>>, upgrade: () => void): void {
  const [other] = sockets
  if (other === undefined) upgrade()
  else
    other.cork(() => {
      res.cork(upgrade)
    })
}

/** Handlers of the library, whose throws would end the process: here they end the one socket. */
const guarded = <F extends (ws: WebSocket<SocketData>, ...args: never[]) => unknown>(handler: F): F =>
  boundary('websocket', handler, (ws) => ws.getUserData().socket?.close(INTERNAL_ERROR, 'internal error'))

export function addWebSocket(
  app: TemplatedApp,
  route: WebSocketRoute,
  options: SocketOptions,
  sockets: Set<WebSocket<SocketData>>,
): void {
  app.ws<SocketData>(route.path, {
    // The library cuts a longer message off without a close frame.
    maxPayloadLength: 2 * route.maxPayloadBytes,
    maxBackpressure: route.maxBackpressureBytes,
    idleTimeout: route.idleTimeoutS,
    sendPingsAutomatically: true,
    upgrade: boundary('websocket', async (res, req, context) => {
      let gone = false
      res.onAborted(() => {
        gone = true
      })
      try {
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
        const answer = await answerUpgrade(route, request, options)
        if (gone) return
        if (typeof answer === 'function') {
          corkUpgrade(res, sockets, () => {
            res.upgrade<SocketData>(
              { accept: answer },
              header('sec-websocket-key'),
              chosenProtocol(route, header('sec-websocket-protocol')),
              header('sec-websocket-extensions'),
              context,
            )
          })
          return
        }
        res.cork(() => {
          writeHead(res, answer, options.headers ?? [])
          res.end(answer.body as string)
        })
      } catch (error) {
        if (!gone) res.close()
        throw error
      }
    }),
    open: guarded((ws) => {
      const data = ws.getUserData()
      sockets.add(ws)
      data.socket = new UwsSocket(ws)
      data.handlers = data.accept(data.socket)
    }),
    message: guarded((ws, message, isBinary) => {
      const { socket, handlers } = ws.getUserData()
      if (message.byteLength > route.maxPayloadBytes) return socket?.close(TOO_LARGE.code, TOO_LARGE.reason)
      return handlers?.message(isBinary ? new Uint8Array(message) : Buffer.from(message).toString())
    }),
    drain: guarded((ws) => ws.getUserData().handlers?.drain?.()),
    pong: guarded((ws) => ws.getUserData().handlers?.pong?.()),
    close: boundary('websocket', (ws, code) => {
      sockets.delete(ws)
      const { socket, handlers } = ws.getUserData()
      if (socket) socket.open = false
      return handlers?.close(code)
    }),
  })
}

/** What the server speaks of what the client offers; empty: nothing of it. */
const chosenProtocol = ({ protocol }: WebSocketRoute, offered: string): string =>
  protocol !== undefined && offered.split(',').some((one) => one.trim() === protocol) ? protocol : ''

type Accept = SocketData['accept']

/** What opens the socket, or the answer of a refusal. */
async function answerUpgrade(
  route: WebSocketRoute,
  request: UpgradeRequest,
  { refuse }: SocketOptions,
): Promise<Accept | HttpResponse> {
  try {
    return await route.upgrade(request)
  } catch (error) {
    return refuse(error, request)
  }
}
