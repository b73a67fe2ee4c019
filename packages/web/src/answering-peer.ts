export interface AnsweringPeerOptions {
  iceServers: RTCIceServer[]
  send(message: { type: 'webrtc.answer'; sdp: string; says_connected?: true } | { type: 'webrtc.restart' }): void
  /** A connection begins anew: the other end is another one. */
  opened?(): void
  /** Both ends have agreed on their keys: what is sent is heard. Each answer announces that the other end will be told. */
  connected?(): void
  /** The sound of the other end. */
  heard(stream: MediaStream): void
  /** Its sound has two channels. */
  stereo?: boolean
}

/** The browser's end of a peer connection that the server offers: answers its offers and gives it the microphone. */
export class AnsweringPeer {
  readonly #options: AnsweringPeerOptions
  #pc: RTCPeerConnection | undefined
  #session: string | undefined
  #microphone: MediaStream | undefined
  #busy = Promise.resolve()

  constructor(options: AnsweringPeerOptions, microphone?: MediaStream) {
    this.#options = options
    this.#microphone = microphone
  }

  get connection(): RTCPeerConnection | undefined {
    return this.#pc
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
    this.#pc?.close()
    this.#pc = undefined
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
    if (this.#options.stereo) answer.sdp = answer.sdp?.replace('useinbandfec=1', '$&;stereo=1') ?? ''
    await pc.setLocalDescription(answer)
    if (pc !== this.#pc) return
    const announced = this.#options.connected && { says_connected: true as const }
    this.#options.send({ type: 'webrtc.answer', sdp: pc.localDescription!.sdp, ...announced })
  }

  #open(): void {
    const { iceServers, opened, connected, heard } = this.#options
    this.#pc?.close()
    opened?.()
    const pc = new RTCPeerConnection({ iceServers })
    this.#pc = pc
    pc.onconnectionstatechange = () => {
      if (pc === this.#pc && pc.connectionState === 'connected') connected?.()
    }
    pc.ontrack = ({ track }) => heard(new MediaStream([track]))
  }
}
