import { OpusEncoder } from '../../../runtime/media/codecs/opus.ts'
import { OPUS_SILENCE } from '../../../runtime/media/codecs/opus-packet.ts'
import { OPUS_RATE_HZ, OpusRepair, prepareOpusRepair } from '../../../runtime/media/codecs/opus-repair.ts'
import { WebRtcPeer } from '../../../scripts/webrtc-peer.ts'
import { RealtimeClient, type RealtimeNode, until } from '../instance/realtime-node.ts'
import type { Teardown } from '../instance/services.ts'

const FRAME = OPUS_RATE_HZ / 50

/** A client of a session over WebRTC: a WebSocket and a peer connection that answers what is offered. */
export class WebRtcClient {
  readonly peer: WebRtcPeer
  line: RealtimeClient
  /** Packets of the agent, and those among them that are no silence. */
  packets = 0
  speech = 0
  #loudest = 0
  #session: string | undefined
  /** What it takes an offer for. */
  readonly #offered: (sdp: string) => Promise<string>
  /** It sends no sound, and says nothing of its connection. */
  readonly #listens: boolean
  readonly #decoder = new OpusRepair()
  readonly #encoder = new OpusEncoder(OPUS_RATE_HZ)
  readonly #beat: NodeJS.Timeout
  readonly #answering: NodeJS.Timeout
  #voice: Int16Array[] = []
  /** When a tone began to leave, in monotonic milliseconds. */
  readonly spokeAtMs: number[] = []
  #spoke = false

  private constructor(line: RealtimeClient, offered: (sdp: string) => Promise<string>, listens: boolean) {
    this.line = line
    this.#offered = offered
    this.#listens = listens
    const packet = (payload: Uint8Array) => {
      this.packets++
      if (payload.length > OPUS_SILENCE.length) this.speech++
      for (const sample of this.#decoder.decode(payload)) this.#loudest = Math.max(this.#loudest, Math.abs(sample))
    }
    this.peer = new WebRtcPeer(packet, () => {
      if (!listens) this.line.send({ type: 'webrtc.connected' })
    })
    this.#beat = setInterval(() => {
      const frame = this.#voice.shift()
      const speaks = frame?.some((sample) => sample !== 0) === true
      if (speaks && !this.#spoke) this.spokeAtMs.push(performance.now())
      this.#spoke = speaks
      if (!this.#listens) this.peer.send(frame === undefined ? OPUS_SILENCE : this.#encoder.encode(frame))
    }, 20)
    this.#answering = setInterval(() => void this.#answer(), 10)
  }

  /** Opens a session with this token; `offered` may change where its media go; `listens`: and does nothing else. */
  static async open(
    t: Teardown,
    node: Pick<RealtimeNode, 'url'>,
    token: string,
    offered: (sdp: string) => Promise<string> = async (sdp) => sdp,
    listens = false,
  ): Promise<WebRtcClient> {
    await prepareOpusRepair()
    const client = new WebRtcClient(new RealtimeClient(node, token, '&media=webrtc'), offered, listens)
    t.teardown(() => client.close())
    return client
  }

  /** Goes on over another WebSocket. */
  over(line: RealtimeClient): void {
    this.line = line
  }

  get offers(): string[] {
    return this.line.messages.flatMap(({ type, sdp }) => (type === 'webrtc.offer' ? [String(sdp)] : []))
  }

  /** The loudest sample since this was asked last. */
  takeLoudest(): number {
    const loudest = this.#loudest
    this.#loudest = 0
    return loudest
  }

  /** Speaks a tone. */
  speak(ms: number): void {
    for (let i = 0; i < ms / 20; i++) {
      this.#voice.push(Int16Array.from({ length: FRAME }, (_, n) => 8_000 * Math.sin((i * FRAME + n) / 12)))
    }
  }

  /** Says nothing for so long. */
  pause(ms: number): void {
    for (let i = 0; i < ms / 20; i++) this.#voice.push(new Int16Array(FRAME))
  }

  /** Nothing is left to be said. */
  get hasSpoken(): boolean {
    return this.#voice.length === 0
  }

  /** Waits until sound comes. */
  async hears(): Promise<void> {
    const before = this.packets
    await until(
      () => this.packets > before + 5,
      () => `packets after ${before}`,
    )
  }

  close(): void {
    clearInterval(this.#beat)
    clearInterval(this.#answering)
    this.peer.close()
    this.line.socket.terminate()
  }

  /** An offer of a transport that is there already has new addresses for it: this library takes none, and goes on over the old ones. */
  async #answer(): Promise<void> {
    const { offers } = this
    const offer = offers.at(-1)
    const [, session] = /^o=- (\d+) /m.exec(offer ?? '') ?? []
    if (offer === undefined || session === this.#session) return
    this.#session = session
    const sdp = await this.peer.answer(await this.#offered(offer))
    this.line.send({ type: 'webrtc.answer', sdp, ...(this.#listens ? {} : { says_connected: true }) })
  }
}
