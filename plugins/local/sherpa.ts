import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Samples between -1 and 1. */
interface Sound {
  samples: Float32Array
  sampleRate: number
}

interface OnlineResult {
  text: string
  /** When each piece was heard, in seconds from `start_time`. */
  timestamps: readonly number[]
  /** Logarithms. */
  ys_probs?: readonly number[]
  /** Of the last reset, in seconds from the first sample. */
  start_time: number
}

export interface OnlineStream {
  acceptWaveform(sound: Sound): void
  inputFinished(): void
}

export interface OnlineRecognizer {
  createStream(): OnlineStream
  isReady(stream: OnlineStream): boolean
  decodeStreams(streams: readonly OnlineStream[]): void
  isEndpoint(stream: OnlineStream): boolean
  reset(stream: OnlineStream): void
  getResult(stream: OnlineStream): OnlineResult
}

interface OfflineResult {
  text: string
  lang?: string
  ys_log_probs?: readonly number[]
}

interface OfflineStream {
  acceptWaveform(sound: Sound): void
}

export interface OfflineRecognizer {
  createStream(): OfflineStream
  decodeAsync(stream: OfflineStream): Promise<OfflineResult>
}

export interface OfflineTts {
  readonly sampleRate: number
  readonly numSpeakers: number
  generateAsync(request: {
    text: string
    sid: number
    speed: number
    enableExternalBuffer: boolean
    /** False stops it. */
    onProgress(info: { samples: Float32Array }): boolean
  }): Promise<Sound>
}

export interface OnlineSpeechDenoiser {
  readonly sampleRate: number
  run(sound: Sound & { enableExternalBuffer: boolean }): Sound
  flush(enableExternalBuffer: boolean): Sound
}

/** The package has no types: what of its interface is used here (its README and lib/types.js, 1.13). */
export interface Sherpa {
  OnlineRecognizer: new (config: object) => OnlineRecognizer
  OfflineRecognizer: { createAsync(config: object): Promise<OfflineRecognizer> }
  OfflineTts: { createAsync(config: object): Promise<OfflineTts> }
  OnlineSpeechDenoiser: new (config: object) => OnlineSpeechDenoiser
  readonly version: string
}

/** Loads the package, which the operator installed beside the models. Throws where it or its native code is missing. */
export function loadSherpa(modelsDir: string): Sherpa {
  return createRequire(join(modelsDir, '.engine/from-here.js'))('sherpa-onnx-node') as Sherpa
}
