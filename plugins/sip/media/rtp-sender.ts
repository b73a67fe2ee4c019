import { comfortNoise } from '../../../runtime/media/comfort-noise.ts'
import { DtmfSender } from '../../../runtime/media/dtmf.ts'
import { FRAME_MS } from '../../../runtime/media/frame.ts'
import type { RtpPacket } from './rtp-packet.ts'

/** Bytes of G.711 in 20 ms. */
export const FRAME_BYTES = 160
/** Audio that waits to be sent: ten seconds. Beyond, the oldest is dropped. */
const MAX_QUEUED_FRAMES = 500
/** Speech begins once this much is there, so that a late batch does not tear it. */
const LEAD_FRAMES = 2
/** The schedule is left behind by more than this: the process stood still. */
const MAX_LAG_MS = 3 * FRAME_MS

export interface Random {
  /** An unsigned integer of so many bits. */
  bits(count: 16 | 32): number
}

/** One outgoing RTP stream: a packet every 20 ms, of speech or of faint noise. Pure: who ticks sends. */
export class RtpSender {
  readonly ssrc: number
  readonly #dtmf = new DtmfSender()
  #encoding: 'pcmu' | 'pcma'
  #frames: Uint8Array[] = []
  #rest: Uint8Array = new Uint8Array(0)
  /** Marks by the number of the frame after which they are reached. */
  #marks: { id: number; at: number }[] = []
  #enqueued = 0
  #sequence: number
  #timestamp: number
  #startMs: number | undefined
  #talking = false
  #first = true
  #noise = 0
  /** Sounds where there is no speech, in the place of noise, by the frames since it began. */
  #background: ((index: number) => Uint8Array | undefined) | undefined
  #backgroundAt = 0
  #waited = 0
  packets = 0
  bytes = 0

  constructor(encoding: 'pcmu' | 'pcma', random: Random) {
    this.#encoding = encoding
    this.ssrc = random.bits(32)
    this.#sequence = random.bits(16)
    this.#timestamp = random.bits(32)
  }

  get timestamp(): number {
    return this.#timestamp
  }

  get queuedFrames(): number {
    return this.#frames.length
  }

  /** Audio of any length; what fills no frame waits for more. */
  push(bytes: Uint8Array): void {
    let rest = bytes
    if (this.#rest.length > 0) {
      rest = new Uint8Array(this.#rest.length + bytes.length)
      rest.set(this.#rest)
      rest.set(bytes, this.#rest.length)
    }
    let at = 0
    for (; at + FRAME_BYTES <= rest.length; at += FRAME_BYTES) this.#enqueue(rest.slice(at, at + FRAME_BYTES))
    this.#rest = rest.slice(at)
  }

  #enqueue(frame: Uint8Array): void {
    this.#frames.push(frame)
    this.#enqueued++
    this.#waited = 0
    if (this.#frames.length > MAX_QUEUED_FRAMES) this.#frames.shift()
  }

  mark(id: number): void {
    this.#marks.push({ id, at: this.#enqueued })
  }

  /** What sounds from now on where there is no speech; undefined: noise. */
  setBackground(frameAt: ((index: number) => Uint8Array | undefined) | undefined): void {
    this.#background = frameAt
    this.#backgroundAt = 0
  }

  sendKeys(keys: string): void {
    this.#dtmf.send(keys)
  }

  /** Drops what waits; returns the marks that are thereby reached. */
  clear(): number[] {
    this.#frames = []
    this.#rest = new Uint8Array(0)
    this.#talking = false
    return this.#reached()
  }

  /** The packets due: one a frame. `silent`: the other side wants none, but time goes on. */
  tick(
    frames: number,
    nowMs: number,
    types: { audio: number; events: number | undefined },
    silent: boolean,
  ): { packets: RtpPacket[]; reached: number[] } {
    const packets: RtpPacket[] = []
    this.#keepSchedule(frames, nowMs)
    for (let i = 0; i < frames; i++) {
      const packet =
        this.#dtmf.isBusy && types.events !== undefined ? this.#key(types.events) : this.#audio(types.audio)
      this.#timestamp = (this.#timestamp + FRAME_BYTES) >>> 0
      if (packet === undefined || silent) continue
      packets.push({ ...packet, sequence: this.#sequence, ssrc: this.ssrc })
      this.#sequence = (this.#sequence + 1) & 0xffff
      this.packets++
      this.bytes += packet.payload.length
      this.#first = false
    }
    return { packets, reached: this.#reached() }
  }

  /** Timestamps follow the clock: time in which the process stood still is skipped, not made up for. */
  #keepSchedule(frames: number, nowMs: number): void {
    this.#startMs ??= nowMs - frames * FRAME_MS
    const lagMs = nowMs - this.#startMs - frames * FRAME_MS
    if (lagMs > MAX_LAG_MS) {
      const skipped = Math.floor(lagMs / FRAME_MS)
      this.#timestamp = (this.#timestamp + skipped * FRAME_BYTES) >>> 0
      this.#startMs += skipped * FRAME_MS
      this.#talking = false
    }
    this.#startMs += frames * FRAME_MS
  }

  #key(payloadType: number): Omit<RtpPacket, 'sequence' | 'ssrc'> | undefined {
    const packet = this.#dtmf.tick(this.#timestamp)
    return packet && { ...packet, payloadType }
  }

  #audio(payloadType: number): Omit<RtpPacket, 'sequence' | 'ssrc'> {
    const speech = this.#nextFrame()
    const marker = this.#first || (speech !== undefined && !this.#talking)
    this.#talking = speech !== undefined
    const background = this.#background?.(this.#backgroundAt++)
    const payload = speech ?? background ?? comfortNoise(this.#encoding, this.#noise++)
    return { payloadType, marker, timestamp: this.#timestamp, payload }
  }

  #nextFrame(): Uint8Array | undefined {
    if (!this.#talking && this.#frames.length > 0 && this.#frames.length < LEAD_FRAMES && this.#waited++ === 0) {
      return undefined
    }
    const frame = this.#frames.shift()
    if (frame !== undefined || this.#rest.length === 0) return frame
    // The last bit of a piece of speech, once nothing more has come for a frame.
    if (this.#waited++ === 0) return undefined
    const last = comfortNoise(this.#encoding, this.#noise++).slice()
    last.set(this.#rest)
    this.#rest = new Uint8Array(0)
    return last
  }

  #reached(): number[] {
    const sent = this.#enqueued - this.#frames.length
    const reached: number[] = []
    while (this.#marks[0] !== undefined && this.#marks[0].at <= sent) reached.push(this.#marks.shift()!.id)
    return reached
  }
}
