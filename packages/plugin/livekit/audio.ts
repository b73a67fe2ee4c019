/** What a plugin's packages get as `@livekit/rtc-node` in Patchbay's sandbox: frames of 16-bit samples. */

export class AudioFrame {
  readonly userdata: Record<string, unknown> = {}
  readonly data: Int16Array
  readonly sampleRate: number
  readonly channels: number
  readonly samplesPerChannel: number
  constructor(data: Int16Array, sampleRate: number, channels: number, samplesPerChannel: number) {
    this.data = data
    this.sampleRate = sampleRate
    this.channels = channels
    this.samplesPerChannel = samplesPerChannel
  }
}

/** Cuts bytes into frames of 16-bit samples, 100 ms each where nothing else is asked for. */
export class AudioByteStream {
  readonly #rate: number
  readonly #channels: number
  readonly #frameBytes: number
  #kept = new Uint8Array()
  constructor(sampleRate: number, channels: number, samplesPerChannel: number | null = null) {
    this.#rate = sampleRate
    this.#channels = channels
    this.#frameBytes = channels * (samplesPerChannel ?? Math.floor(sampleRate / 10)) * 2
  }
  write(data: ArrayBuffer | ArrayBufferView): AudioFrame[] {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data)
    const whole = new Uint8Array(this.#kept.length + bytes.length)
    whole.set(this.#kept)
    whole.set(bytes, this.#kept.length)
    const frames: AudioFrame[] = []
    let at = 0
    for (; at + this.#frameBytes <= whole.length; at += this.#frameBytes)
      frames.push(this.#frame(whole.slice(at, at + this.#frameBytes)))
    this.#kept = whole.slice(at)
    return frames
  }
  flush(): AudioFrame[] {
    const rest = this.#kept.slice(0, this.#kept.length - (this.#kept.length % (2 * this.#channels)))
    this.#kept = new Uint8Array()
    return rest.length === 0 ? [] : [this.#frame(rest)]
  }
  #frame(bytes: Uint8Array<ArrayBuffer>): AudioFrame {
    const samples = new Int16Array(bytes.buffer)
    return new AudioFrame(samples, this.#rate, this.#channels, samples.length / this.#channels)
  }
}

export function mergeFrames(given: AudioFrame | AudioFrame[]): AudioFrame {
  const frames = Array.isArray(given) ? given : [given]
  const [{ sampleRate, channels } = { sampleRate: 16_000, channels: 1 }] = frames
  const samples = Int16Array.from(frames.flatMap(({ data }) => [...data]))
  return new AudioFrame(samples, sampleRate, channels, samples.length / channels)
}

export const calculateAudioDurationSeconds = (given: AudioFrame | AudioFrame[]): number =>
  (Array.isArray(given) ? given : [given]).reduce((sum, one) => sum + one.samplesPerChannel / one.sampleRate, 0)

/** Lets silence through as well: turns are Patchbay's to find. */
export class AudioEnergyFilter {
  readonly pushFrame = (): boolean => true
}
