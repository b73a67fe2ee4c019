import { AnsweringPeer } from './answering-peer.ts'
import type { ClientMessage } from './protocol.ts'
import type { Speaker } from './speaker.ts'

const LOOK_MS = 100
/** The server sends fifty packets a second: a line without any for so long is dead, whatever the browser believes of it. */
const SILENT_MS = 1_000
const RESTART_EVERY_MS = 1_200

export interface PeerAudioOptions {
  iceServers: RTCIceServer[]
  speaker: Speaker
  send(message: ClientMessage): void
  level(side: 'microphone' | 'agent', level: number): void
  /** Nothing is heard of the server any more; it is asked for another way. */
  lost(): void
  found(): void
}

/** How the line is, as the browser has it. */
export interface PeerStats {
  roundTripMs?: number
  jitterMs?: number
  /** Of the agent's packets, those that never came: 0–1. */
  loss?: number
  /** TCP where the network lets no UDP through. */
  protocol?: 'udp' | 'tcp'
}

/** Audio of a session over a peer connection, and a watch that sound comes. */
export class PeerAudio {
  readonly #options: PeerAudioOptions
  readonly #peer: AnsweringPeer
  #watch: ReturnType<typeof setInterval> | undefined
  #packets = 0
  #heardAtMs = 0
  #askedAtMs = 0
  #isLost = false
  #stats: PeerStats = {}

  constructor(options: PeerAudioOptions, microphone: MediaStream | undefined) {
    this.#options = options
    const { iceServers, send, speaker } = options
    this.#peer = new AnsweringPeer(
      {
        iceServers,
        send,
        opened: () => {
          this.#packets = 0
        },
        connected: () => send({ type: 'webrtc.connected' }),
        heard: (stream) => void speaker.play(stream),
      },
      microphone,
    )
  }

  get stats(): PeerStats {
    return this.#stats
  }

  /** One offer after the other. */
  offered(sdp: string): void {
    // It is given its time.
    this.#askedAtMs = performance.now()
    this.#peer.offered(sdp)
  }

  /** The session has begun: from now on sound comes all the time. */
  started(): void {
    this.#heardAtMs = performance.now()
    this.#watch = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS)
  }

  setMicrophone(stream: MediaStream | undefined): void {
    this.#peer.setMicrophone(stream)
  }

  close(): void {
    clearInterval(this.#watch)
    this.#peer.close()
  }

  async #look(): Promise<void> {
    const pc = this.#peer.connection
    const stats = await pc?.getStats()
    if (stats === undefined || pc !== this.#peer.connection) return
    const { level, send } = this.#options
    let packets = 0
    stats.forEach((one) => {
      if (one.type === 'inbound-rtp') {
        packets = one.packetsReceived
        level('agent', one.audioLevel ?? 0)
        const all = packets + Math.max(0, one.packetsLost)
        this.#stats.loss = all === 0 ? 0 : 1 - packets / all
        this.#stats.jitterMs = one.jitter * 1000
      } else if (one.type === 'media-source') level('microphone', one.audioLevel ?? 0)
      else if (one.type === 'candidate-pair' && one.nominated && one.state === 'succeeded') {
        if (one.currentRoundTripTime !== undefined) this.#stats.roundTripMs = one.currentRoundTripTime * 1000
        const { protocol } = stats.get(one.localCandidateId) ?? {}
        if (protocol !== undefined) this.#stats.protocol = protocol
      }
    })
    const nowMs = performance.now()
    if (packets > this.#packets) {
      this.#packets = packets
      this.#heardAtMs = nowMs
      if (this.#isLost) this.#options.found()
      this.#isLost = false
    }
    if (nowMs - this.#heardAtMs < SILENT_MS) return
    if (!this.#isLost) this.#options.lost()
    this.#isLost = true
    if (nowMs - this.#askedAtMs < RESTART_EVERY_MS) return
    this.#askedAtMs = nowMs
    send({ type: 'webrtc.restart' })
  }
}
