import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor } from '../codecs/codec.ts'
import { LINE_CODECS, type LineCodec, type LineCodecName } from '../codecs/line-codec.ts'
import { Limiter } from '../dsp/limiter.ts'
import { Resampler } from '../dsp/resample.ts'
import { concatSamples } from '../frame.ts'

/** The session's format for a line that begins with this codec: as wide as the line. */
export function sessionFormatFor(codec: LineCodecName): AudioFormat {
  const { session, sampleRateHz } = LINE_CODECS[codec]
  return { encoding: session ?? 'pcm_s16le', sampleRateHz }
}

/**
 * Between a session, whose format stays for the call, and a line, whose codec changes with each agreement: recodes and
 * resamples where the two differ. Keeps the state of one line.
 */
export class LineAudio {
  readonly #format: AudioFormat
  readonly #session: ReturnType<typeof codecFor>
  #name: LineCodecName
  #codec: LineCodec
  #out: Resampler
  /** What was heard so far, by codec: the other side may change between those agreed on with each packet. */
  readonly #heard = new Map<LineCodecName, { codec: LineCodec; resampler: Resampler }>()
  /** Of what is said on a line with G.711 in a session that is wider. */
  readonly #limiter: Limiter
  /** Output at the line's rate: each push yields a packet's worth, whatever the resampler holds back. */
  #held = new Int16Array(0)

  constructor(format: AudioFormat, codec: LineCodecName) {
    this.#format = format
    this.#session = codecFor(format)
    this.#limiter = new Limiter(format.sampleRateHz)
    this.#name = codec
    this.#codec = LINE_CODECS[codec].make()
    const { sampleRateHz } = LINE_CODECS[codec]
    this.#out = new Resampler(format.sampleRateHz, sampleRateHz)
  }

  get codec(): LineCodecName {
    return this.#name
  }

  /** What timestamps on the line count. */
  get clockHz(): number {
    return LINE_CODECS[this.#name].clockHz
  }

  /** The line speaks another codec from now on. */
  use(codec: LineCodecName): void {
    if (codec === this.#name) return
    const { make, sampleRateHz } = LINE_CODECS[codec]
    this.#name = codec
    this.#codec = make()
    this.#held = new Int16Array(0)
    this.#out = new Resampler(this.#format.sampleRateHz, sampleRateHz)
    this.#heard.clear()
  }

  /** The session's bytes, as the line's. */
  toLine(bytes: Uint8Array): Uint8Array {
    if (this.#isSame) return bytes
    const samples = this.#session.decode(bytes)
    const limited = LINE_CODECS[this.#name].session === undefined ? samples : this.#limiter.push(samples)
    const length = (samples.length * LINE_CODECS[this.#name].sampleRateHz) / this.#format.sampleRateHz
    return this.#codec.encode(this.#take(this.#out.push(limited), length))
  }

  /** As many samples as the packet's time asks for: what a resampler holds back at first is silence. */
  #take(samples: Int16Array, length: number): Int16Array {
    const all = concatSamples(this.#held, samples)
    if (all.length < length) {
      this.#held = new Int16Array(0)
      return concatSamples(new Int16Array(length - all.length), all)
    }
    this.#held = all.slice(length)
    return all.length === length ? all : all.subarray(0, length)
  }

  /** The line's payload in this codec, as the session's bytes; a resampler may hold back a few samples. */
  fromLine(payload: Uint8Array, name: LineCodecName = this.#name): Uint8Array {
    if (LINE_CODECS[name].session === this.#format.encoding) return payload
    let heard = this.#heard.get(name)
    if (heard === undefined) {
      const { make, sampleRateHz } = LINE_CODECS[name]
      heard = { codec: make(), resampler: new Resampler(sampleRateHz, this.#format.sampleRateHz) }
      this.#heard.set(name, heard)
    }
    return this.#session.encode(heard.resampler.push(heard.codec.decode(payload)))
  }

  /** Samples at the session's rate, as its bytes. */
  bytesOf(samples: Int16Array): Uint8Array {
    return this.#session.encode(samples)
  }

  /** The session's bytes as samples at its rate. */
  samplesOf(bytes: Uint8Array): Int16Array {
    return this.#session.decode(bytes)
  }

  get #isSame(): boolean {
    return LINE_CODECS[this.#name].session === this.#format.encoding
  }
}
