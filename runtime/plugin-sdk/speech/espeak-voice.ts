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
    inLanguage: (tag) => espeakVoice(provider, spawn, { ...options, voice: voiceFor(options.voice, tag) }),
  }
}

/** Languages whose voice bears another name. */
const NAMES: Readonly<Record<string, string>> = { en: 'en-us', fr: 'fr-fr', no: 'nb', zh: 'cmn' }

/** The voice of a language with the variant (`+f3`) of another one; the same where it speaks the language already. */
function voiceFor(current: string, tag: string): string {
  const [language = '', variant] = current.split('+')
  const base = tag.split('-')[0]?.toLowerCase() ?? ''
  if (language.split('-')[0] === base) return current
  const name = NAMES[base] ?? base
  return variant === undefined ? name : `${name}+${variant}`
}
