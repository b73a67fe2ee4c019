/** An open WebSocket as the stream engine sees it. */
export interface StreamSocket {
  /** False when the peer reads too slowly and the message was dropped. */
  send(text: string): boolean
  bufferedBytes(): number
  /** Sends what is buffered, then a close frame. */
  close(code: number, reason: string): void
  terminate(): void
}

/** What the engine does with what arrives. */
export interface StreamHandlers {
  message(data: string | Uint8Array): void
  /** The last call. */
  close(code: number): void
}
