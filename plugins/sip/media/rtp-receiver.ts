import { DtmfReceiver } from '../../../runtime/media/dtmf.ts'
import type { ReceiverFigures } from './rtcp.ts'
import type { RtpPacket } from './rtp-packet.ts'

/** A jump of the sequence number beyond this is a new stream (RFC 3550, appendix A.1). */
const MAX_DROPOUT = 3_000
const SEEN_WINDOW = 64

export interface ReceivedAudio {
  payload: Uint8Array
  /** Samples since the stream began; what was lost is skipped, what was never sent (silence suppression) too. */
  timestamp: number
}

/** One incoming RTP stream: its order, its time line, its keys and its figures. Pure. */
export class RtpReceiver {
  readonly #dtmf = new DtmfReceiver()
  readonly #frameSamples: number
  #ssrc: number | undefined
  #highest = 0
  #cycles = 0
  #first = 0
  /** Bit n: the packet n before the highest was seen. */
  #seen = 0n
  #received = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #jitter = 0
  #jitterTimestamp: number | undefined
  #transit: number | undefined
  /** What is added to a packet's timestamp. */
  #offset = 0
  #lastTimestamp = 0
  #lastAudioSequence = 0
  /** The end of what was passed on, silence included. */
  #end = 0
  #started = false

  constructor(frameSamples: number) {
    this.#frameSamples = frameSamples
  }

  get ssrc(): number | undefined {
    return this.#ssrc
  }

  /** False when the packet came before, or far too late. */
  accept(packet: RtpPacket, nowMs: number): boolean {
    if (packet.ssrc !== this.#ssrc) this.#begin(packet)
    const extended = this.#extend(packet.sequence)
    const behind = this.#highest + this.#cycles - extended
    if (behind > MAX_DROPOUT || behind < -MAX_DROPOUT) {
      this.#begin(packet)
      return this.accept(packet, nowMs)
    }
    if (behind >= 0) {
      if (behind >= SEEN_WINDOW || (this.#seen >> BigInt(behind)) & 1n) {
        if (this.#received > 0) return false
      }
      this.#seen |= 1n << BigInt(behind)
    } else {
      this.#seen = BigInt.asUintN(SEEN_WINDOW, (this.#seen << BigInt(-behind)) | 1n)
      this.#cycles = extended - packet.sequence
      this.#highest = packet.sequence
    }
    this.#received++
    if (packet.timestamp !== this.#jitterTimestamp) this.#measureJitter(packet.timestamp, nowMs)
    return true
  }

  #begin(packet: RtpPacket): void {
    this.#ssrc = packet.ssrc
    this.#highest = packet.sequence
    this.#first = packet.sequence
    this.#cycles = 0
    this.#seen = 0n
    this.#received = 0
    this.#expectedBefore = 0
    this.#receivedBefore = 0
    this.#transit = undefined
    this.#jitterTimestamp = undefined
    this.#started = false
    this.#dtmf.reset()
  }

  /** The sequence number counted on over its 16 bits. */
  #extend(sequence: number): number {
    const difference = ((sequence - this.#highest + 0x8000) & 0xffff) - 0x8000
    return this.#highest + this.#cycles + difference
  }

  /** RFC 3550, section 6.4.1. The packets of one key have one timestamp, whenever they come: only the first counts. */
  #measureJitter(timestamp: number, nowMs: number): void {
    this.#jitterTimestamp = timestamp
    const transit = (Math.round(nowMs * 8) - timestamp) | 0
    if (this.#transit !== undefined) {
      this.#jitter += (Math.abs((transit - this.#transit) | 0) - this.#jitter) / 16
    }
    this.#transit = transit
  }

  /** The key that an accepted packet of telephone events begins. */
  key(packet: RtpPacket): string | undefined {
    return this.#dtmf.push(packet.payload, packet.timestamp)
  }

  /** Puts an accepted packet of audio on the time line. */
  audio(packet: RtpPacket): ReceivedAudio {
    const sequence = this.#extend(packet.sequence)
    if (!this.#started) {
      this.#started = true
      this.#offset = (this.#end - packet.timestamp) | 0
    } else if (sequence > this.#lastAudioSequence) {
      const steps = sequence - this.#lastAudioSequence
      const advanced = (packet.timestamp - this.#lastTimestamp) | 0
      // More time than packets: the sender was silent. It goes on where we are, not where it thinks.
      const paused = advanced < 0 || advanced > steps * this.#frameSamples * 3
      if (paused) this.#offset = (this.#end - packet.timestamp) | 0
    }
    if (sequence > this.#lastAudioSequence || this.#lastAudioSequence === 0) {
      this.#lastAudioSequence = sequence
      this.#lastTimestamp = packet.timestamp
    }
    const timestamp = this.#end + ((packet.timestamp + this.#offset - this.#end) | 0)
    this.#end = Math.max(this.#end, timestamp + packet.payload.length)
    return { payload: packet.payload, timestamp }
  }

  /** A frame of silence on the time line, where the sender has none. */
  silence(payload: Uint8Array): ReceivedAudio {
    const timestamp = this.#end
    this.#end += payload.length
    return { payload, timestamp }
  }

  /** The figures of a report; fractions count from the report before. */
  figures(): ReceiverFigures | undefined {
    if (this.#ssrc === undefined || this.#received === 0) return undefined
    const highestSequence = this.#highest + this.#cycles
    const expected = highestSequence - this.#first + 1
    const expectedNow = expected - this.#expectedBefore
    const lostNow = expectedNow - (this.#received - this.#receivedBefore)
    this.#expectedBefore = expected
    this.#receivedBefore = this.#received
    return {
      ssrc: this.#ssrc,
      fractionLost: expectedNow > 0 && lostNow > 0 ? lostNow / expectedNow : 0,
      packetsLost: expected - this.#received,
      highestSequence,
      jitter: this.#jitter,
    }
  }
}
