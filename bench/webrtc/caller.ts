import WebSocket from 'ws'
import { FRAME_MS } from '../../runtime/media/frame.ts'
import { WebRtcPeer } from '../../scripts/webrtc-peer.ts'
import type { BadLine } from './bad-line.ts'

const OPUS_BYTES = 80
const PCM_BYTES = 960
/** A frame of one channel in wide band (RFC 6716, section 3.1). */
const OPUS_HEAD = 0x68

export type Media = 'webrtc' | 'websocket'

export interface CallerOptions {
  /** Of the node. */
  port: number
  media: Media
  /** Over which its packets go. */
  line?: BadLine | undefined
  /** Of the address, such as whose words are to be told. */
  query?: string
}

/** One caller: sends 20 ms after 20 ms, each with the time it left, and notes how old it is when it comes back. */
export class Caller {
  readonly agesMs: number[] = []
  /** Packets that were to come back. */
  spoken = 0
  /** From the click to the agent's first word. */
  readonly setupMs: Promise<number>
  readonly #audible: () => void
  readonly #socket: WebSocket
  readonly #peer: WebRtcPeer | undefined
  #beat: NodeJS.Timeout | undefined

  constructor({ port, media, line, query = '' }: CallerOptions) {
    const startMs = performance.now()
    const begun = Promise.withResolvers<void>()
    const audible = Promise.withResolvers<void>()
    this.#audible = audible.resolve
    this.setupMs = Promise.all([begun.promise, audible.promise]).then(() => performance.now() - startMs)
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/?media=${media}${query}`)
    // As our own client says it: who only listens is waited for otherwise.
    const connected = () => this.#socket.send(JSON.stringify({ type: 'webrtc.connected' }))
    const peer = media === 'webrtc' ? new WebRtcPeer((payload) => this.#back(payload, 1), connected) : undefined
    this.#peer = peer
    this.#socket.on('error', begun.reject)
    this.#socket.on('message', async (data: Buffer, isBinary) => {
      if (isBinary) return this.#back(data, 0)
      const { type, sdp, reason } = JSON.parse(data.toString()) as Record<string, string>
      if (type === 'webrtc.offer') {
        const offer = line === undefined ? sdp! : await line.offered(sdp!)
        this.#socket.send(
          JSON.stringify({ type: 'webrtc.answer', sdp: await peer!.answer(offer), says_connected: true }),
        )
      } else if (type === 'session.started') begun.resolve()
      else if (type === 'session.ended') begun.reject(new Error(reason))
    })
  }

  speak(): void {
    const frame = Buffer.alloc(this.#peer === undefined ? PCM_BYTES : OPUS_BYTES, 0)
    const at = this.#peer === undefined ? 0 : 1
    if (at === 1) frame[0] = OPUS_HEAD
    this.#beat = setInterval(() => {
      frame.writeDoubleBE(performance.now(), at)
      this.spoken++
      if (this.#peer === undefined) this.#socket.send(frame)
      else this.#peer.send(frame)
    }, FRAME_MS)
  }

  /** Sends these packets of Opus, one each 20 ms; resolves when all have left. */
  async say(packets: readonly Uint8Array[]): Promise<void> {
    const startMs = performance.now()
    let sent = 0
    await new Promise<void>((resolve) => {
      this.#beat = setInterval(() => {
        const due = Math.min(packets.length, Math.floor((performance.now() - startMs) / FRAME_MS))
        for (; sent < due; sent++) this.#peer?.send(packets[sent]!)
        if (sent < packets.length) return
        clearInterval(this.#beat)
        resolve()
      }, FRAME_MS / 2)
    })
  }

  close(): void {
    clearInterval(this.#beat)
    this.#peer?.close()
    this.#socket.close(1000)
  }

  #back(payload: Uint8Array, at: number): void {
    if (payload.length < OPUS_BYTES) return
    const leftMs = Buffer.from(payload.buffer, payload.byteOffset, payload.length).readDoubleBE(at)
    if (leftMs === 0) this.#audible()
    else this.agesMs.push(performance.now() - leftMs)
  }
}
