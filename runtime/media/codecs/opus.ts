import { Decoder, Encoder } from '@evan/opus'
import { bytesOf, samplesOf } from '../frame.ts'

/** Native rates of Opus; RTP timestamps always count 48,000 (RFC 7587). */
type OpusRate = 8_000 | 12_000 | 16_000 | 24_000 | 48_000

const RATES: readonly OpusRate[] = [8_000, 12_000, 16_000, 24_000, 48_000]
/** Speech in wide band is transparent at this rate (RFC 6716, section 2.1.1). */
const BITRATE = 32_000
/** Above this, each step costs much and is inaudible in speech. */
const COMPLEXITY = 5
/** What a good line loses, in per cent: so much is spent on saying the last frame once more. */
const EXPECTED_LOSS = 5

function rateOf(sampleRateHz: number): OpusRate {
  const rate = RATES.find((one) => one === sampleRateHz)
  if (rate === undefined) throw new RangeError(`Opus has no rate of ${sampleRateHz} Hz`)
  return rate
}

/** Speech to packets of Opus. Keeps the state of one stream; what it holds is freed with it. */
export class OpusEncoder {
  readonly #encoder: Encoder

  /**
   * @param sampleRateHz one of Opus's own rates; throws RangeError for others
   * @param channels of the samples, which are interleaved where there are two
   */
  constructor(sampleRateHz: number, channels: 1 | 2 = 1) {
    this.#encoder = new Encoder({ channels, sample_rate: rateOf(sampleRateHz), application: 'voip' })
    this.#encoder.bitrate = channels * BITRATE
    this.#encoder.complexity = COMPLEXITY
    this.#encoder.signal = 'voice'
    this.#encoder.inband_fec = true
    this.#encoder.packet_loss = EXPECTED_LOSS
  }

  /** One packet. @param samples 10, 20, 40 or 60 ms; throws Error for any other length */
  encode(samples: Int16Array): Uint8Array {
    return this.#encoder.encode(bytesOf(samples))
  }
}

/** Decodes Opus packets to mono samples. Keeps the state of one stream. */
export class OpusDecoder {
  readonly #decoder: Decoder

  /** @param sampleRateHz one of Opus's own rates, in which samples are wanted; throws RangeError for others */
  constructor(sampleRateHz: number) {
    this.#decoder = new Decoder({ channels: 1, sample_rate: rateOf(sampleRateHz) })
  }

  /** The samples of a packet, up to 120 ms; empty for a damaged one. */
  decode(packet: Uint8Array): Int16Array {
    if (packet.length === 0) return new Int16Array(0)
    try {
      return samplesOf(this.#decoder.decode(packet))
    } catch {
      // Packets come from the network: what is no Opus is as good as lost.
      return new Int16Array(0)
    }
  }
}
