import type { SupervisorSignal } from '../../../../api/supervision/messages.ts'
import { AnsweringPeer, type AnsweringPeerOptions } from '../../../../packages/web/src/answering-peer.ts'

const LEVEL_EVERY_MS = 100

interface ListenPeerOptions extends Pick<AnsweringPeerOptions, 'iceServers'> {
  send(message: SupervisorSignal): void
  /** Loudness of a side, 0 to 1, ten times a second. */
  level(side: 'microphone' | 'agent', level: number): void
}

/** A call that is listened to over a peer connection: the caller on the left, the agent on the right, the microphone back. */
export class ListenPeer {
  readonly #options: ListenPeerOptions
  readonly #audio = new Audio()
  readonly #peer: AnsweringPeer
  #context: AudioContext | undefined
  #levels: ReturnType<typeof setInterval> | undefined

  constructor(options: ListenPeerOptions) {
    this.#options = options
    const { iceServers, send } = options
    this.#peer = new AnsweringPeer({
      ...{ iceServers, send, stereo: true },
      connected: () => send({ type: 'webrtc.connected' }),
      heard: (stream) => this.#hear(stream),
    })
  }

  offered(sdp: string): void {
    this.#peer.offered(sdp)
  }

  setMicrophone(stream: MediaStream | undefined): void {
    this.#peer.setMicrophone(stream)
  }

  close(): void {
    clearInterval(this.#levels)
    void this.#context?.close()
    this.#peer.close()
    this.#audio.srcObject = null
  }

  #hear(stream: MediaStream): void {
    this.#audio.srcObject = stream
    void this.#audio.play().catch(() => undefined)
    void this.#context?.close()
    const context = new AudioContext()
    this.#context = context
    const split = context.createChannelSplitter(2)
    context.createMediaStreamSource(stream).connect(split)
    const sides = (['microphone', 'agent'] as const).map((side, channel) => {
      const analyser = context.createAnalyser()
      split.connect(analyser, channel)
      return { side, analyser, samples: new Float32Array(analyser.fftSize) }
    })
    clearInterval(this.#levels)
    this.#levels = setInterval(() => {
      for (const { side, analyser, samples } of sides) {
        analyser.getFloatTimeDomainData(samples)
        this.#options.level(side, Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length))
      }
    }, LEVEL_EVERY_MS)
  }
}
