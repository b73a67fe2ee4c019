import { LossBursts } from '../../../runtime/media/line/loss-bursts.ts'
import type { RtpPacket } from '../../../runtime/media/line/rtp-packet.ts'
import { DtmfReceiver } from '../../../runtime/media/tones/dtmf.ts'
import type { ReceiverFigures } from './rtcp.ts'

/** A jump of the sequence number beyond these, forward and back, is a new stream if it goes on so (RFC 3550, appendix A.1). */
const MAX_DROPOUT = 3_000
const SEEN_WINDOW = 64
/** A change of the way by more than this is a clock that was set, not jitter. */
const MAX_TRANSIT_STEP_S = 1
/** What comes late is heard late rather than never; what comes later than this is not. */
const MAX_LATE_MS = 1_000
const FRAMES_A_SECOND = 50

interface ReceivedAudio {
  payload: Uint8Array
  /** Samples since the stream began; what was lost is skipped, what was never sent (silence suppression) too. */
  timestamp: number
}

/** How a line counts time. */
interface ReceiverClock {
  /** Of the stream's timestamps. */
  clockHz: number
  /** Of the time line that packets are put on. */
  sampleRateHz: number
}

/**
 * One incoming RTP stream: its order, its time line, its keys and its figures. Packets that come after silence was put in
 * their place are appended to it, up to a second: who listens needs the words, not their hour. What the time line is thereby
 * ahead is taken back in the pauses. Pure.
 */
export class RtpReceiver {
  readonly #dtmf = new DtmfReceiver()
  readonly #sampleRateHz: number
  #clockHz: number
  #frameTicks: number
  /** Samples by which the time line is ahead of the sender's, for silence that stood in for packets which came. */
  #ahead = 0
  /** Packets that came too late to be heard: how many, and which of those that may still be followed by an earlier one. */
  late = 0
  readonly #lateOnes = new Set<number>()
  #bursts = new LossBursts()
  /** Up to this one it is known of each packet whether it was heard. */
  #settled = 0
  #packetMs = 1_000 / FRAMES_A_SECOND
  #ssrc: number | undefined
  #highest = 0
  #cycles = 0
  #first = 0
  /** Bit n: the packet n before the highest was seen. */
  #seen = 0n
  /** What follows a packet that did not fit: two in a row are a stream that began anew. */
  #resumesAt: number | undefined
  #received = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #jitter = 0
  #jitterTimestamp: number | undefined
  #transit: number | undefined
  /** A timestamp, and its place on the time line. */
  #anchorTicks = 0
  #anchorAt = 0
  #lastTimestamp = 0
  #lastAudioSequence = 0
  /** The end of what was passed on, silence included. */
  #end = 0
  #started = false

  constructor({ clockHz, sampleRateHz }: ReceiverClock) {
    this.#clockHz = clockHz
    this.#frameTicks = clockHz / FRAMES_A_SECOND
    this.#sampleRateHz = sampleRateHz
  }

  /** The other side speaks another codec: its timestamps count something else. */
  retime(clockHz: number): void {
    if (clockHz === this.#clockHz) return
    this.#clockHz = clockHz
    this.#frameTicks = clockHz / FRAMES_A_SECOND
    this.#started = false
    this.#transit = undefined
    this.#jitterTimestamp = undefined
    this.#jitter = 0
  }

  get ssrc(): number | undefined {
    return this.#ssrc
  }

  /** False when the packet came before, or far too late. */
  accept(packet: RtpPacket, nowMs: number): boolean {
    if (packet.ssrc !== this.#ssrc) this.#begin(packet)
    const extended = this.#extend(packet.sequence)
    const behind = this.#highest + this.#cycles - extended
    if (this.#received > 0 && (behind >= SEEN_WINDOW || behind < -MAX_DROPOUT)) {
      if (packet.sequence !== this.#resumesAt) {
        this.#resumesAt = (packet.sequence + 1) & 0xffff
        return false
      }
      this.#begin(packet)
      return this.accept(packet, nowMs)
    }
    this.#resumesAt = undefined
    if (behind >= 0) {
      if ((this.#seen >> BigInt(behind)) & 1n && this.#received > 0) return false
      this.#seen |= 1n << BigInt(behind)
    } else {
      this.#settle(extended - SEEN_WINDOW)
      this.#seen = BigInt.asUintN(SEEN_WINDOW, (this.#seen << BigInt(-behind)) | 1n)
      this.#cycles = extended - packet.sequence
      this.#highest = packet.sequence
    }
    this.#received++
    if (packet.timestamp !== this.#jitterTimestamp) this.#measureJitter(packet.timestamp, nowMs)
    return true
  }

  /** Packets up to this one don't come any more. */
  #settle(last: number): void {
    const highest = this.#highest + this.#cycles
    for (; this.#settled <= last; this.#settled++) {
      const behind = highest - this.#settled
      const came = behind >= 0 && (this.#seen >> BigInt(behind)) % 2n === 1n
      this.#bursts.push(came && !this.#lateOnes.delete(this.#settled))
    }
  }

  #begin(packet: RtpPacket): void {
    this.#lateOnes.clear()
    this.#bursts = new LossBursts()
    this.#settled = packet.sequence
    this.#ssrc = packet.ssrc
    this.#highest = packet.sequence
    this.#first = packet.sequence
    this.#cycles = 0
    this.#seen = 0n
    this.#resumesAt = undefined
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
    const transit = (Math.round((nowMs * this.#clockHz) / 1000) - timestamp) | 0
    const step = this.#transit === undefined ? undefined : Math.abs((transit - this.#transit) | 0)
    if (step !== undefined && step < MAX_TRANSIT_STEP_S * this.#clockHz) this.#jitter += (step - this.#jitter) / 16
    this.#transit = transit
  }

  /** The key that an accepted packet of telephone events begins. */
  key(packet: RtpPacket): string | undefined {
    return this.#dtmf.push(packet.payload, packet.timestamp)
  }

  /**
   * Puts an accepted packet of audio on the time line; undefined: it is not to be heard, for it comes too late, or is a pause in
   * which lost time is made up for.
   * @param payload in the session's encoding, @param samples it holds, @param quiet it is a pause
   */
  audio(packet: RtpPacket, payload: Uint8Array, samples: number, quiet: () => boolean): ReceivedAudio | undefined {
    const sequence = this.#extend(packet.sequence)
    this.#packetMs = (samples * 1_000) / this.#sampleRateHz
    const newest = !this.#started || sequence > this.#lastAudioSequence
    if (!this.#started) {
      this.#started = true
      this.#anchor(packet.timestamp)
    } else if (newest) {
      const steps = sequence - this.#lastAudioSequence
      const advanced = (packet.timestamp - this.#lastTimestamp) | 0
      // More time than packets: the sender was silent. It goes on where we are, not where it thinks.
      if (advanced < 0 || advanced > steps * this.#frameTicks * 3) this.#anchor(packet.timestamp)
    }
    let timestamp = this.#placeOf(packet.timestamp)
    if (newest) {
      const behind = this.#end - timestamp
      if (behind > 0) {
        if (this.#ahead + behind > (MAX_LATE_MS * this.#sampleRateHz) / 1000) {
          this.late++
          this.#lateOnes.add(sequence)
          return undefined
        }
        this.#ahead += behind
        this.#anchor(packet.timestamp)
        timestamp = this.#end
      }
      this.#lastAudioSequence = sequence
      this.#lastTimestamp = packet.timestamp
      if (this.#ahead >= samples && quiet()) {
        this.#ahead -= samples
        this.#anchorAt -= samples
        return undefined
      }
    }
    this.#end = Math.max(this.#end, timestamp + samples)
    return { payload, timestamp }
  }

  /** A frame of silence on the time line, where the sender has none; undefined where time is made up for. */
  silence(payload: Uint8Array, samples: number): ReceivedAudio | undefined {
    if (this.#ahead >= samples) {
      this.#ahead -= samples
      return undefined
    }
    const timestamp = this.#end
    this.#end += samples
    return { payload, timestamp }
  }

  #anchor(ticks: number): void {
    this.#anchorTicks = ticks
    this.#anchorAt = this.#end
  }

  #placeOf(ticks: number): number {
    const elapsed = (ticks - this.#anchorTicks) | 0
    return this.#anchorAt + Math.round((elapsed * this.#sampleRateHz) / this.#clockHz)
  }

  /** What came since the stream began: packets, those that never came, and the jitter in ms. */
  get quality(): { received: number; lost: number; jitterMs: number } {
    const expected = this.#received === 0 ? 0 : this.#highest + this.#cycles - this.#first + 1
    const jitterMs = (this.#jitter * 1000) / this.#clockHz
    return { received: this.#received, lost: Math.max(0, expected - this.#received), jitterMs }
  }

  /** How losses lie, of all but the last 64 packets; undefined: none was lost. */
  get losses(): { burstDensity: number; burstMs: number; gapDensity: number; gapMs: number } | undefined {
    const figures = this.#bursts.figures
    if (figures === undefined) return undefined
    const { burstDensity, burstLength, gapDensity, gapLength } = figures
    return { burstDensity, burstMs: burstLength * this.#packetMs, gapDensity, gapMs: gapLength * this.#packetMs }
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
