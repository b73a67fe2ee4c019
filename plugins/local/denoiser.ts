import { HEARING_RATE_HZ } from './model.ts'
import type { OnlineSpeechDenoiser } from './sherpa.ts'

/** Takes the noise out of one caller's audio, as it comes: what comes back is a little later. */
export class Denoiser {
  readonly #engine: OnlineSpeechDenoiser

  constructor(engine: OnlineSpeechDenoiser) {
    if (engine.sampleRate !== HEARING_RATE_HZ) throw new Error(`a denoiser of ${engine.sampleRate} Hz, not 16,000`)
    this.#engine = engine
  }

  push(samples: Float32Array): Float32Array {
    return this.#engine.run({ samples, sampleRate: HEARING_RATE_HZ, enableExternalBuffer: false }).samples
  }

  /** What is still in it. */
  flush(): Float32Array {
    return this.#engine.flush(false).samples
  }
}
