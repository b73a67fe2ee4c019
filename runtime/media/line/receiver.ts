import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor, type Decode } from '../codecs/codec.ts'
import { opusDurationMs } from '../codecs/opus-packet.ts'
import { OPUS_RATE_HZ, OpusRepair } from '../codecs/opus-repair.ts'
import { samplesPerFrame } from '../frame.ts'
import { conceal, HISTORY_MS } from './conceal.ts'
import { JitterBuffer, type PacketReader } from './jitter.ts'

const OPUS_FRAME = samplesPerFrame(OPUS_RATE_HZ)

/** What turns a leg's packets into one unbroken run of samples at the leg's rate: timestamps count these. */
export function receiverFor(format: AudioFormat, options: { maxWaitMs: number; maxFillMs: number }): JitterBuffer {
  return new JitterBuffer(format.encoding === 'opus' ? new OpusPackets() : new PcmPackets(format), options)
}

/** Packets without a state of their own. A loss is filled with the voice going on and fading. */
class PcmPackets implements PacketReader {
  readonly sampleRateHz: number
  readonly #decode: Decode
  /** What was heard last, for what may have to go on from it: its end is full. */
  readonly #history: Int16Array
  #historyLength = 0

  constructor(format: AudioFormat) {
    this.sampleRateHz = format.sampleRateHz
    this.#decode = codecFor(format).decode
    this.#history = new Int16Array((HISTORY_MS * format.sampleRateHz) / 1000)
  }

  samplesIn(packet: Uint8Array): number {
    return this.#decode(packet).length
  }

  read(packet: Uint8Array): Int16Array {
    const samples = this.#decode(packet)
    this.#remember(samples)
    return samples
  }

  conceal(samples: number): Int16Array[] {
    const before = this.#history.subarray(this.#history.length - this.#historyLength)
    const filled = conceal(before, samples, this.sampleRateHz)
    this.#remember(filled)
    return [filled]
  }

  #remember(samples: Int16Array): void {
    const kept = samples.length > this.#history.length ? samples.subarray(-this.#history.length) : samples
    this.#history.copyWithin(0, kept.length)
    this.#history.set(kept, this.#history.length - kept.length)
    this.#historyLength = Math.min(this.#history.length, this.#historyLength + kept.length)
  }
}

/** The last lost packet of a hole is taken from the one behind it where that carries it, the others are concealed. */
class OpusPackets implements PacketReader {
  readonly sampleRateHz = OPUS_RATE_HZ
  readonly #decoder = new OpusRepair()

  samplesIn(packet: Uint8Array): number {
    return (opusDurationMs(packet) * OPUS_RATE_HZ) / 1000
  }

  read(packet: Uint8Array): Int16Array {
    return this.#decoder.decode(packet)
  }

  conceal(samples: number, next: Uint8Array): Int16Array[] {
    const runs: Int16Array[] = []
    let left = samples
    for (; left > OPUS_FRAME; left -= OPUS_FRAME) runs.push(this.#decoder.conceal(OPUS_FRAME))
    runs.push(left === OPUS_FRAME ? this.#decoder.recover(next, OPUS_FRAME) : this.#decoder.conceal(left))
    return runs
  }
}
