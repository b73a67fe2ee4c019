import { PlayQueue } from './play-queue.ts'
import { Resampler } from './resampler.ts'

/** Runs in the browser's audio thread: the microphone as 16-bit samples of the session's rate, and the agent's voice back. */

declare const sampleRate: number
declare function registerProcessor(
  name: string,
  of: new (options: { processorOptions: { rateHz: number } }) => object,
): void
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}

const FRAME_MS = 20
const LEVEL_EVERY_MS = 100
const FULL_SCALE = 32_767

/** Root mean square of what passes, told ten times a second. */
class Meter {
  readonly #tell: (level: number) => void
  readonly #every = (sampleRate * LEVEL_EVERY_MS) / 1000
  #sum = 0
  #count = 0

  constructor(tell: (level: number) => void) {
    this.#tell = tell
  }

  add(samples: Float32Array): void {
    for (const sample of samples) this.#sum += sample * sample
    this.#count += samples.length
    if (this.#count < this.#every) return
    this.#tell(Math.sqrt(this.#sum / this.#count))
    this.#sum = 0
    this.#count = 0
  }
}

class Capture extends AudioWorkletProcessor {
  readonly #resampler: Resampler
  readonly #frame: Int16Array
  readonly #meter = new Meter((level) => this.port.postMessage({ level }))
  #filled = 0

  constructor({ processorOptions: { rateHz } }: { processorOptions: { rateHz: number } }) {
    super()
    this.#resampler = new Resampler(sampleRate, rateHz)
    this.#frame = new Int16Array((rateHz * FRAME_MS) / 1000)
  }

  process([input]: Float32Array[][]): boolean {
    const samples = input?.[0]
    if (samples === undefined) return true
    this.#meter.add(samples)
    for (const sample of this.#resampler.push(samples)) {
      this.#frame[this.#filled++] = Math.max(-1, Math.min(1, sample)) * FULL_SCALE
      if (this.#filled < this.#frame.length) continue
      const bytes = this.#frame.slice().buffer
      this.port.postMessage({ bytes }, [bytes])
      this.#filled = 0
    }
    return true
  }
}

class Playback extends AudioWorkletProcessor {
  readonly #queue = new PlayQueue(sampleRate, (played) => this.port.postMessage({ played }))
  readonly #meter = new Meter((level) => this.port.postMessage({ level }))
  #resampler: Resampler

  constructor({ processorOptions: { rateHz } }: { processorOptions: { rateHz: number } }) {
    super()
    this.#resampler = new Resampler(rateHz, sampleRate)
    this.port.onmessage = ({ data }: MessageEvent<ArrayBuffer | { mark: number } | 'clear'>) => {
      if (data === 'clear') {
        this.#queue.clear()
        this.#resampler = new Resampler(rateHz, sampleRate)
      } else if (data instanceof ArrayBuffer) {
        const samples = Float32Array.from(new Int16Array(data), (sample) => sample / FULL_SCALE)
        this.#queue.add(this.#resampler.push(samples))
      } else this.#queue.mark(data.mark)
    }
  }

  process(_: Float32Array[][], [output]: Float32Array[][]): boolean {
    const [first, ...others] = output ?? []
    if (first === undefined) return true
    this.#queue.pull(first)
    this.#meter.add(first)
    for (const other of others) other.set(first)
    return true
  }
}

registerProcessor('patchbay-capture', Capture)
registerProcessor('patchbay-playback', Playback)
