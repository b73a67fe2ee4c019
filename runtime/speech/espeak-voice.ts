import { ESPEAK_SAMPLE_RATE_HZ, type EspeakOptions, espeak, type Spawn } from './espeak.ts'
import type { Voice } from './sentence-tts.ts'

/** A voice of espeak-ng. */
export function espeakVoice(provider: string, spawn: Spawn, options: EspeakOptions): Voice {
  return {
    provider,
    name: options.voice,
    language: options.voice,
    sampleRateHz: ESPEAK_SAMPLE_RATE_HZ,
    speak: (text, signal) => espeak(spawn, text, options, signal),
  }
}
