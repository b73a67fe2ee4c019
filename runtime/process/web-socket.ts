/** WebSockets as everybody but the server sees them; only api/http/server.ts knows uWebSockets.js. */

export interface UpgradeRequest {
  readonly query: URLSearchParams
  header(name: string): string | undefined
  readonly remoteAddress: string
  readonly requestId: string
}

export interface Socket {
  /** False when the peer reads too slowly and the message was dropped. */
  send(data: string | Uint8Array): boolean
  bufferedBytes(): number
  /** Asks the peer to say that it is there. */
  ping(): void
  /** Sends what is buffered, then a close frame. */
  close(code: number, reason: string): void
  /** Ends the connection at once. */
  terminate(): void
}

export interface SocketHandlers {
  /** `data` is valid during the call only: copy what is kept. A string was a text frame. */
  message(data: string | Uint8Array): void
  drain?(): void
  /** The answer to a ping. */
  pong?(): void
  /** The last call. */
  close(code: number): void
}

export interface WebSocketRoute {
  readonly path: string
  /** The subprotocol it speaks, chosen where the client offers it. */
  readonly protocol?: string
  /** A longer message closes the connection: with 1009 up to twice that, at once beyond. */
  readonly maxPayloadBytes: number
  readonly maxBackpressureBytes: number
  /** Closes a peer that is silent this long; pings are sent in time. */
  readonly idleTimeoutS: number
  /** Accepts with a function that is called once the socket is open, or throws a PatchbayError (sent as an HTTP answer). */
  upgrade(request: UpgradeRequest): Promise<(socket: Socket) => SocketHandlers>
}
