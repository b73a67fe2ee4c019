import { Resampler } from '../../media/dsp/resample.ts'
import { joinSamples } from '../../media/frame.ts'
import { ProviderError, type ProviderIdentity } from '../provider-error.ts'
import { SampleReader } from './pcm.ts'
import { type WavFormat, WavReader } from './wav-reader.ts'

/** The first bytes decide what they are. */
const ENOUGH_BYTES = 12

/**
 * Samples out of the answer of a voice server that was asked for 16-bit PCM. Many servers send what they like: a WAV is read
 * at its own rate; MP3, Ogg, JSON, HTML and nothing at all are faults, lest they be played as noise.
 */
export class SpeechAudio {
  readonly #provider: ProviderIdentity
  readonly #rateHz: number
  readonly #contentType: string
  #head: Uint8Array | undefined = new Uint8Array(0)
  #reader = new SampleReader()
  #channels = 1
  #resampler: Resampler | undefined
  #wav: WavReader | undefined
  #samples = 0

  constructor(provider: ProviderIdentity, rateHz: number, contentType: string | null) {
    this.#provider = provider
    this.#rateHz = rateHz
    this.#contentType = (contentType ?? '').toLowerCase()
    const kind = /^(?:application\/(?:json|problem\+json|xml)|text\/[a-z+]+)/.exec(this.#contentType)?.[0]
    if (kind !== undefined) throw this.#fault(`${kind} instead of sound`)
  }

  /** Samples of a piece of the answer. Throws ProviderError for what is no sound it can read. */
  push(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    if (this.#head === undefined) return this.#read(bytes)
    const head = Buffer.concat([this.#head, bytes])
    this.#head = head
    if (head.length < ENOUGH_BYTES) return new Int16Array(0)
    this.#head = undefined
    this.#begin(head)
    return this.#read(head)
  }

  /** Call it when the answer is over. Throws ProviderError where nothing came. */
  end(): Int16Array<ArrayBuffer> {
    const short = this.#head
    this.#head = undefined
    const rest = short === undefined ? new Int16Array(0) : this.#read(short)
    if (this.#samples === 0) throw this.#fault('no sound at all')
    return rest
  }

  #read(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    if (this.#wav === undefined) return this.#take(bytes)
    const pieces = Array.from(this.#wav.push(bytes), (piece) => this.#take(piece))
    if (this.#wav.isHopeless) throw this.#fault('a WAV file without samples')
    return joinSamples(pieces)
  }

  #take(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    let samples = this.#reader.push(bytes)
    if (this.#channels > 1) samples = samples.filter((_, i) => i % this.#channels === 0)
    this.#samples += samples.length
    return this.#resampler === undefined ? samples : Int16Array.from(this.#resampler.push(samples))
  }

  #begin(head: Buffer): void {
    const mark = head.toString('latin1', 0, 4)
    if (mark === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE') {
      this.#wav = new WavReader((format) => this.#takeFormat(format))
      return
    }
    const other = nameOf(head, mark)
    if (other !== undefined) throw this.#fault(other)
    this.#convert(Number(/rate=(\d+)/.exec(this.#contentType)?.[1] ?? this.#rateHz))
  }

  #takeFormat({ code, channels, rateHz, bits }: WavFormat): void {
    const isPcm = code === 1 || code === 0xfffe
    if (!isPcm || bits !== 16 || channels < 1 || rateHz < 4_000 || rateHz > 192_000) {
      throw this.#fault(`a WAV file of format ${code} with ${bits} bits`)
    }
    this.#channels = channels
    this.#convert(rateHz)
  }

  #convert(rateHz: number): void {
    this.#resampler = rateHz === this.#rateHz ? undefined : new Resampler(rateHz, this.#rateHz)
  }

  #fault(what: string): ProviderError {
    const type = this.#contentType === '' ? '' : ` (content-type ${this.#contentType.slice(0, 60)})`
    const message = `${this.#provider.title} sent ${what}${type} where 16-bit PCM was asked for; choose a voice server that gives pcm or wav`
    return new ProviderError({ fault: 'bad_request', status: undefined, retryable: false, message })
  }
}

function nameOf(head: Buffer, mark: string): string | undefined {
  if (mark === 'OggS') return 'an Ogg file'
  if (mark === 'fLaC') return 'a FLAC file'
  if (mark.startsWith('ID3') || isMp3Frame(head)) return 'an MP3 file'
  if (head.toString('latin1', 4, 8) === 'ftyp') return 'an MP4 file'
  if (/^\s*(?:[{[]\s*"|<(?:!doctype|html|\?xml))/i.test(head.toString('latin1'))) return 'text instead of sound'
  return undefined
}

/** The first four bytes of a frame (ISO 11172-3): no field has a forbidden value. */
function isMp3Frame(head: Buffer): boolean {
  const [sync = 0, kind = 0, rates = 0] = head
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0) return false
  const [version, layer, bitrate, rate] = [(kind >> 3) & 3, (kind >> 1) & 3, rates >> 4, (rates >> 2) & 3]
  return version !== 1 && layer !== 0 && bitrate !== 0 && bitrate !== 15 && rate !== 3
}
