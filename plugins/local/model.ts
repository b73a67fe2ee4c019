/** Rate at which every recogniser listens. */
export const HEARING_RATE_HZ = 16_000

/** An entry of models.json (runtime/models/catalogue.ts has its schema), as far as it matters here. */
export interface Model {
  id: string
  kind: 'stt' | 'tts' | 'denoise'
  engine: 'streaming-transducer' | 'offline-nemo-transducer' | 'vits' | 'kokoro' | 'gtcrn'
  parts: Record<string, string>
  sampleRateHz?: number
  speakers?: readonly string[]
}

/** What a model's thread is started with. */
export interface ThreadOptions {
  model: Model
  /** Where the models are, and what runs them. */
  modelsDir: string
  /** The folder of its files. */
  dir: string
  /** What takes noise away before it hears. */
  denoiser: { model: Model; dir: string } | undefined
  /** Cores it works on at once. */
  threads: number
  /** Silence that ends an utterance. */
  pauseMs: number
}

export interface SpeakRequest {
  text: string
  /** Number of the speaker. */
  speaker: number
  speed: number
}
