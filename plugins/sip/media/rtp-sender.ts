import type { AudioFormat } from '../../../runtime/call/types/leg.ts'
import { codecFor } from '../../../runtime/media/codecs/codec.ts'
import { FRAME_MS } from '../../../runtime/media/frame.ts'
import { comfortNoise } from '../../../runtime/media/line/comfort-noise.ts'
import type { RtpPacket } from '../../../runtime/media/line/rtp-packet.ts'
import { DtmfSender } from '../../../runtime/media/tones/dtmf.ts'
import { DtmfTones } from '../../../runtime/media/tones/dtmf-tones.ts'

/** Audio that waits to be sent: ten seconds. Beyond, the oldest is dropped. */
const MAX_QUEUED_FRAMES = 500
/** Speech begins once this much is there, so that a late batch does not tear it. */
const LEAD_FRAMES = 2
const MAX_QUEUED_KEYS = 64
/** The schedule is left behind by more than this: the process stood still. */
const MAX_LAG_MS = 3 * FRAME_MS

type Unnumbered = Omit<RtpPacket, 'sequence' | 'ssrc'>

export interface Random {
  /** An unsigned integer of so many bits. */
  bits(count: 16 | 32): number
}

/** The other side's terms for what it is sent. */
export interface SenderLine {
  /** Payload types; `events` undefined: keys are pressed in the sound. */
  audio: number
  events: number | undefined
  /** What durations of events count. */
  eventClockHz: number
  /** What timestamps count, and how much of it one packet holds. */
  clockHz: number
  ptimeMs: number
}

/**
 * One outgoing RTP stream: a packet of 10 to 60 ms as the other side wants it, of speech or of faint noise, in the session's
 * bytes. Pure: who ticks recodes and sends.
 */
export class RtpSender {
  readonly ssrc: number
  readonly #dtmf = new DtmfSender()
  readonly #tones: DtmfTones
  readonly #format: AudioFormat
  readonly #frameBytes: number
  readonly #encode: (samples: Int16Array) => Uint8Array
  /** What waits to fill a packet, and the timestamp of its first sample. */
  #pending: Uint8Array = new Uint8Array(0)
  #pendingMarker = false
  #frames: Uint8Array[] = []
  #keys: string[] = []
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

  constructor(format: AudioFormat, random: Random) {
    this.#format = format
    this.#encode = codecFor(format).encode
    this.#frameBytes = comfortNoise(format, 0).length
    this.#tones = new DtmfTones(format.sampleRateHz)
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
    const size = this.#frameBytes
    for (; at + size <= rest.length; at += size) this.#enqueue(rest.slice(at, at + size))
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

  /** Presses keys, as events or in the sound, whichever the line takes when their turn comes. */
  sendKeys(keys: string): void {
    this.#keys.push(...keys)
    if (this.#keys.length > MAX_QUEUED_KEYS) this.#keys.length = MAX_QUEUED_KEYS
  }

  /** Drops what waits; returns the marks that are thereby reached. */
  clear(): number[] {
    this.#frames = []
    this.#rest = new Uint8Array(0)
    this.#talking = false
    return this.#reached()
  }

  /** The packets due after so many frames. `silent`: the other side wants none, but time goes on. */
  tick(frames: number, nowMs: number, line: SenderLine, silent: boolean): { packets: RtpPacket[]; reached: number[] } {
    const packets: RtpPacket[] = []
    const ticks = (line.clockHz * FRAME_MS) / 1000
    this.#keepSchedule(frames, nowMs, ticks)
    for (let i = 0; i < frames; i++) {
      for (const packet of this.#frame(line, ticks)) {
        if (silent) continue
        packets.push({ ...packet, sequence: this.#sequence, ssrc: this.ssrc })
        this.#sequence = (this.#sequence + 1) & 0xffff
        this.packets++
        this.bytes += packet.payload.length
        this.#first = false
      }
      this.#timestamp = (this.#timestamp + ticks) >>> 0
    }
    return { packets, reached: this.#reached() }
  }

  #frame(line: SenderLine, ticks: number): Unnumbered[] {
    if (!this.#dtmf.isBusy && !this.#tones.isBusy) {
      const key = this.#keys.shift()
      if (key !== undefined && line.events !== undefined) this.#dtmf.send(key)
      else if (key !== undefined) this.#tones.send(key)
    }
    if (this.#dtmf.isBusy && line.events !== undefined) {
      // What doesn't fill a packet any more is not worth one of its own.
      this.#pending = new Uint8Array(0)
      const packet = this.#dtmf.tick(this.#timestamp, (line.eventClockHz * FRAME_MS) / 1000)
      return packet === undefined ? [] : [{ ...packet, payloadType: line.events }]
    }
    return this.#packed(this.#audio(), line, ticks)
  }

  /** Cuts or joins frames of 20 ms to what the other side wants in a packet. */
  #packed(
    { payload, marker }: { payload: Uint8Array; marker: boolean },
    line: SenderLine,
    ticks: number,
  ): Unnumbered[] {
    if (line.ptimeMs === FRAME_MS && this.#pending.length === 0) {
      return [{ payloadType: line.audio, marker, timestamp: this.#timestamp, payload }]
    }
    const bytesPerMs = this.#frameBytes / FRAME_MS
    const waitingMs = this.#pending.length / bytesPerMs
    let timestamp = (this.#timestamp - (waitingMs * ticks) / FRAME_MS) >>> 0
    const all = new Uint8Array(this.#pending.length + payload.length)
    all.set(this.#pending)
    all.set(payload, this.#pending.length)
    const size = line.ptimeMs * bytesPerMs
    const packets: Unnumbered[] = []
    let isMarked = marker || this.#pendingMarker
    let at = 0
    for (; at + size <= all.length; at += size) {
      packets.push({ payloadType: line.audio, marker: isMarked, timestamp, payload: all.slice(at, at + size) })
      timestamp = (timestamp + (line.ptimeMs * ticks) / FRAME_MS) >>> 0
      isMarked = false
    }
    this.#pending = all.slice(at)
    this.#pendingMarker = isMarked
    return packets
  }

  /** Timestamps follow the clock: time in which the process stood still is skipped, not made up for. */
  #keepSchedule(frames: number, nowMs: number, ticks: number): void {
    this.#startMs ??= nowMs - frames * FRAME_MS
    const lagMs = nowMs - this.#startMs - frames * FRAME_MS
    if (lagMs > MAX_LAG_MS) {
      const skipped = Math.floor(lagMs / FRAME_MS)
      this.#timestamp = (this.#timestamp + skipped * ticks) >>> 0
      this.#startMs += skipped * FRAME_MS
      this.#talking = false
    }
    this.#startMs += frames * FRAME_MS
  }

  #audio(): { payload: Uint8Array; marker: boolean } {
    if (this.#tones.isBusy) return { payload: this.#encode(this.#tones.next()), marker: this.#first }
    const speech = this.#nextFrame()
    const marker = this.#first || (speech !== undefined && !this.#talking)
    this.#talking = speech !== undefined
    const background = this.#background?.(this.#backgroundAt++)
    return { payload: speech ?? background ?? comfortNoise(this.#format, this.#noise++), marker }
  }

  #nextFrame(): Uint8Array | undefined {
    if (!this.#talking && this.#frames.length > 0 && this.#frames.length < LEAD_FRAMES && this.#waited++ === 0) {
      return undefined
    }
    const frame = this.#frames.shift()
    if (frame !== undefined || this.#rest.length === 0) return frame
    // The last bit of a piece of speech, once nothing more has come for a frame.
    if (this.#waited++ === 0) return undefined
    const last = comfortNoise(this.#format, this.#noise++).slice()
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
