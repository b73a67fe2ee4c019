import WebSocket from 'ws'
import type { ServerMessage } from '../../api/realtime/messages.ts'

/** The two ends of a realtime session as its client sees them: text messages and audio. */
export interface RealtimeEvents {
  message(message: ServerMessage): void
  audio(samples: Int16Array<ArrayBuffer>): void
  closed(code: number): void
}

export interface RealtimeSession {
  send(message: Record<string, unknown>): void
  sendAudio(samples: Int16Array): void
  /** Ends the connection without a word, as a client that vanished would. */
  terminate(): void
  /** Reads nothing more, pings included, but keeps the connection: a client that lost its network. */
  freeze(): void
}

const OPEN_TIMEOUT_MS = 15_000

/**
 * Opens the WebSocket of a session. Rejects when it is refused (the message holds the HTTP status) or does not open in
 * 15 s. No message is lost: they are delivered from the moment it resolves.
 */
export async function openRealtime(url: string, events: RealtimeEvents): Promise<RealtimeSession> {
  // One message a turn: who awaited the one before listens when the next is told, also where both came at once.
  const socket = new WebSocket(url, { handshakeTimeout: OPEN_TIMEOUT_MS, allowSynchronousEvents: false })
  socket.binaryType = 'nodebuffer'
  socket.on('message', (data: Buffer, binary) => {
    if (!binary) events.message(JSON.parse(data.toString()) as ServerMessage)
    else events.audio(new Int16Array(Uint8Array.from(data).buffer, 0, data.length >> 1))
  })
  socket.on('close', (code) => events.closed(code))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  // A broken connection is told by `closed`.
  socket.on('error', () => {})
  return {
    send: (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message)),
    sendAudio: (samples) => {
      if (socket.readyState !== WebSocket.OPEN) return
      socket.send(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength))
    },
    terminate: () => socket.terminate(),
    freeze: () => socket.pause(),
  }
}
