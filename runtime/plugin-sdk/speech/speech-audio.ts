import { Resampler } from '../../media/dsp/resample.ts'
import { ProviderError, type ProviderIdentity } from '../provider-error.ts'
import { SampleReader } from './pcm.ts'

/** The first bytes decide what they are. */
const ENOUGH_BYTES = 12
const MAX_HEADER_BYTES = 65_536

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
    const start = this.#begin(head)
    if (start === undefined) {
      if (head.length > MAX_HEADER_BYTES) throw this.#fault('a WAV file without samples')
      return new Int16Array(0)
    }
    this.#head = undefined
    return this.#read(head.subarray(start))
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
    let samples = this.#reader.push(bytes)
    if (this.#channels > 1) samples = samples.filter((_, i) => i % this.#channels === 0)
    this.#samples += samples.length
    return this.#resampler === undefined ? samples : Int16Array.from(this.#resampler.push(samples))
  }

  /** Where the samples begin; undefined while more of the head is needed. */
  #begin(head: Buffer): number | undefined {
    const mark = head.toString('latin1', 0, 4)
    if (mark === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE') return this.#beginWav(head)
    const other = nameOf(head, mark)
    if (other !== undefined) throw this.#fault(other)
    const rateHz = Number(/rate=(\d+)/.exec(this.#contentType)?.[1] ?? this.#rateHz)
    this.#convert(rateHz)
    return 0
  }

  #beginWav(head: Buffer): number | undefined {
    for (let at = 12; at + 8 <= head.length; ) {
      const chunk = head.toString('latin1', at, at + 4)
      if (chunk === 'data') return at + 8
      if (chunk === 'fmt ') {
        if (at + 24 > head.length) return undefined
        const [format, channels, rateHz] = [
          head.readUInt16LE(at + 8),
          head.readUInt16LE(at + 10),
          head.readUInt32LE(at + 12),
        ]
        const bits = head.readUInt16LE(at + 22)
        const isPcm = format === 1 || format === 0xfffe
        if (!isPcm || bits !== 16 || channels < 1 || rateHz < 4_000 || rateHz > 192_000) {
          throw this.#fault(`a WAV file of format ${format} with ${bits} bits`)
        }
        this.#channels = channels
        this.#convert(rateHz)
      }
      at += 8 + head.readUInt32LE(at + 4)
    }
    return undefined
  }

  #convert(rateHz: number): void {
    if (rateHz !== this.#rateHz) this.#resampler = new Resampler(rateHz, this.#rateHz)
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
