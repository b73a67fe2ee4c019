const LEVEL_EVERY_MS = 100

export interface ListenPeerOptions {
  iceServers: RTCIceServer[]
  send(message: { type: 'webrtc.answer'; sdp: string } | { type: 'webrtc.restart' }): void
  /** Loudness of a side, 0 to 1, ten times a second. */
  level(side: 'microphone' | 'agent', level: number): void
}

/** A call that is listened to over a peer connection: the caller on the left, the agent on the right, the microphone back. */
export class ListenPeer {
  readonly #options: ListenPeerOptions
  readonly #audio = new Audio()
  #pc: RTCPeerConnection | undefined
  #session: string | undefined
  #microphone: MediaStream | undefined
  #context: AudioContext | undefined
  #levels: ReturnType<typeof setInterval> | undefined
  #busy = Promise.resolve()

  constructor(options: ListenPeerOptions) {
    this.#options = options
  }

  /** One offer after the other. */
  offered(sdp: string): void {
    this.#busy = this.#busy.then(() => this.#answer(sdp)).catch(() => undefined)
  }

  setMicrophone(stream: MediaStream | undefined): void {
    this.#microphone = stream
    const [transceiver] = this.#pc?.getTransceivers() ?? []
    const isNew = transceiver?.currentDirection === 'recvonly' && stream !== undefined
    void transceiver?.sender.replaceTrack(stream?.getAudioTracks()[0] ?? null)
    // Who only listened so far has to agree on it.
    if (isNew) this.#options.send({ type: 'webrtc.restart' })
  }

  close(): void {
    clearInterval(this.#levels)
    void this.#context?.close()
    this.#pc?.close()
    this.#pc = undefined
    this.#audio.srcObject = null
  }

  async #answer(sdp: string): Promise<void> {
    const [, session] = /^o=\S+ (\d+)/m.exec(sdp) ?? []
    // The other end is a new one: nothing of the earlier connection fits it.
    if (session !== this.#session || this.#pc === undefined) this.#open()
    this.#session = session
    const pc = this.#pc!
    await pc.setRemoteDescription({ type: 'offer', sdp })
    const [transceiver] = pc.getTransceivers()
    const track = this.#microphone?.getAudioTracks()[0]
    if (transceiver !== undefined && track !== undefined) {
      transceiver.direction = 'sendrecv'
      await transceiver.sender.replaceTrack(track)
    }
    const answer = await pc.createAnswer()
    // Without it browsers hear both sides in one channel (RFC 7587, section 6.1).
    await pc.setLocalDescription({ type: 'answer', sdp: (answer.sdp ?? '').replace('useinbandfec=1', '$&;stereo=1') })
    if (pc === this.#pc) this.#options.send({ type: 'webrtc.answer', sdp: pc.localDescription!.sdp })
  }

  #open(): void {
    this.#pc?.close()
    const pc = new RTCPeerConnection({ iceServers: this.#options.iceServers })
    this.#pc = pc
    pc.ontrack = ({ track }) => this.#hear(new MediaStream([track]))
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
