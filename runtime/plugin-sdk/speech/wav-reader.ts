/** Lengths from here on stand for one that the server did not know when it wrote the head: OpenAI's 0xffffffff, ElevenLabs' 0x7fffffff. */
const UNKNOWN_LENGTH = 0x7fff_0000
const MAX_HEADER_BYTES = 65_536
const PART_HEAD_BYTES = 8
const RIFF_BYTES = 12
const FORMAT_BYTES = 24

export interface WavFormat {
  /** 1 is PCM. */
  code: number
  channels: number
  rateHz: number
  bits: number
}

/**
 * The bytes of the samples of a WAV as it comes, in pieces that may be cut anywhere (RIFF: a part is its name, its length and, padded to an even
 * length, its content). What stands behind the samples is left out, and a file behind the file is read on.
 */
export class WavReader {
  readonly #formatRead: (format: WavFormat) => void
  #held: Buffer = Buffer.alloc(0)
  #skipBytes = 0
  #samplesLeft = 0
  #headerBytes = 0
  #hadSamples = false

  /** @param formatRead is called before the samples it is of */
  constructor(formatRead: (format: WavFormat) => void) {
    this.#formatRead = formatRead
  }

  /** The head is so long that no samples are to be expected. */
  get isHopeless(): boolean {
    return !this.#hadSamples && this.#headerBytes > MAX_HEADER_BYTES
  }

  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#held = Buffer.concat([this.#held, bytes])
    for (;;) {
      if (this.#skipBytes > 0) {
        this.#skipBytes -= this.#take(this.#skipBytes).length
        if (this.#skipBytes > 0) return
      }
      if (this.#samplesLeft > 0) {
        const samples = this.#take(this.#samplesLeft)
        this.#samplesLeft -= samples.length
        if (samples.length > 0) yield samples
        if (this.#samplesLeft > 0) return
      }
      if (!this.#beginPart()) return
    }
  }

  /** False: more of it is needed. */
  #beginPart(): boolean {
    if (this.#held.length < PART_HEAD_BYTES) return false
    const name = this.#held.toString('latin1', 0, 4)
    const lengthBytes = this.#held.readUInt32LE(4)
    if (name === 'RIFF') return this.#skip(RIFF_BYTES)
    if (name === 'data') {
      this.#hadSamples = true
      this.#samplesLeft = lengthBytes === 0 || lengthBytes >= UNKNOWN_LENGTH ? Number.POSITIVE_INFINITY : lengthBytes
      return this.#skip(PART_HEAD_BYTES)
    }
    if (name === 'fmt ') {
      if (this.#held.length < FORMAT_BYTES) return false
      const [code, channels] = [this.#held.readUInt16LE(8), this.#held.readUInt16LE(10)]
      this.#formatRead({ code, channels, rateHz: this.#held.readUInt32LE(12), bits: this.#held.readUInt16LE(22) })
    } else if (this.#hadSamples && !/^[\x20-\x7e]{4}$/.test(name)) {
      // No part's name: there are more samples than the head said.
      this.#samplesLeft = Number.POSITIVE_INFINITY
      return true
    }
    return this.#skip(PART_HEAD_BYTES + lengthBytes + (lengthBytes % 2))
  }

  #skip(bytes: number): true {
    this.#headerBytes += bytes
    this.#skipBytes = bytes
    return true
  }

  #take(most: number): Buffer {
    const taken = this.#held.subarray(0, most)
    this.#held = this.#held.subarray(taken.length)
    return taken
  }
}
