import { randomInt } from 'node:crypto'
import ndc from 'node-datachannel'
import { readRtp, writeRtp } from '../runtime/media/line/rtp-packet.ts'

const PAYLOAD_TYPE = 111
const TICKS = 960
const ANSWER_TIMEOUT_MS = 5_000
const CLEANUP_MS = 500

let open = 0
/** The library's clean-up closes every track once more, and crashes on one that was collected. */
const kept: ndc.Track[] = []

/** A peer connection as a browser has it, with one line of Opus both ways; for trials, tests and benches. */
export class WebRtcPeer {
  readonly ssrc = randomInt(1, 2 ** 32)
  #pc: ndc.PeerConnection | undefined
  #track: ndc.Track | undefined
  #session: string | undefined
  #sequence = randomInt(1, 0x8000)
  #timestamp = randomInt(0, 2 ** 32)
  readonly #onPacket: (payload: Uint8Array, timestamp: number) => void
  readonly #onConnected: () => void
  readonly #first = Promise.withResolvers<void>()
  state = 'new'

  /** @param onConnected each time that it is connected */
  constructor(
    onPacket: (payload: Uint8Array, timestamp: number) => void = () => undefined,
    onConnected: () => void = () => undefined,
  ) {
    this.#onPacket = onPacket
    this.#onConnected = onConnected
  }

  /** Answers an offer; one of another session by another connection, as the protocol wants it. */
  async answer(offer: string): Promise<string> {
    const [, session] = /^o=- (\d+) /m.exec(offer) ?? []
    if (session !== this.#session) this.#open()
    this.#session = session
    const pc = this.#pc!
    const answered = Promise.withResolvers<string>()
    const timer = setTimeout(() => answered.reject(new Error('The peer made no answer')), ANSWER_TIMEOUT_MS)
    pc.onLocalDescription((sdp, type) => {
      if (type === 'answer') answered.resolve(sdp)
    })
    pc.setRemoteDescription(offer, 'offer')
    return answered.promise.finally(() => clearTimeout(timer))
  }

  /** Resolves with the first packet that comes. */
  heard(): Promise<void> {
    return this.#first.promise
  }

  /** Sends 20 ms. False: it isn't connected. */
  send(payload: Uint8Array): boolean {
    this.#timestamp = (this.#timestamp + TICKS) % 2 ** 32
    return this.sendRaw({ payload })
  }

  /** Lets time pass in which nothing is sent. */
  skip(frames: number): void {
    this.#timestamp = (this.#timestamp + TICKS * frames) % 2 ** 32
    this.#sequence += frames
  }

  sendRaw({ payload, payloadType = PAYLOAD_TYPE }: { payload: Uint8Array; payloadType?: number }): boolean {
    if (this.#track?.isOpen() !== true) return false
    const sequence = this.#sequence++ & 0xffff
    const { ssrc } = this
    return this.#track.sendMessageBinary(
      writeRtp({ payloadType, marker: false, sequence, timestamp: this.#timestamp, ssrc, payload }),
    )
  }

  close(): void {
    if (this.#pc === undefined) return
    this.#track?.close()
    this.#pc.close()
    this.#pc = undefined
    this.#track = undefined
    // Its threads keep a process that is done otherwise.
    if (--open === 0) setTimeout(cleanUp, CLEANUP_MS)
  }

  #open(): void {
    this.close()
    open++
    const pc = new ndc.PeerConnection('peer', { iceServers: [] })
    pc.onStateChange((state) => {
      this.state = state
      if (state === 'connected') this.#onConnected()
    })
    const audio = new ndc.Audio('0', 'SendRecv')
    audio.addOpusCodec(PAYLOAD_TYPE)
    audio.addSSRC(this.ssrc, 'caller')
    const track = pc.addTrack(audio)
    track.onMessage((message) => {
      const rtp = readRtp(Buffer.from(message))
      if (rtp === undefined || rtp.payloadType !== PAYLOAD_TYPE) return
      this.#first.resolve()
      this.#onPacket(rtp.payload, rtp.timestamp)
    })
    this.#pc = pc
    this.#track = track
    kept.push(track)
  }
}

function cleanUp(): void {
  if (open > 0) return
  ndc.cleanup()
  kept.length = 0
}
