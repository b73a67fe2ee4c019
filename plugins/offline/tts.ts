import type { SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { Spawn } from '../../runtime/plugin-sdk/speech/espeak.ts'
import { espeakVoice } from '../../runtime/plugin-sdk/speech/espeak-voice.ts'
import { SentenceTTS } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'

const DEFAULT_VOICE = 'en-us'

export function makeTts(spawn: Spawn, options: SpeechOptions): SentenceTTS {
  const voice = options.voice || options.language || DEFAULT_VOICE
  return new SentenceTTS(espeakVoice('offline', spawn, { voice, ...speaking(options.settings) }))
}

/** The operator's options of the plugin, as plugin.json describes them. */
function speaking(settings: Readonly<Record<string, unknown>>): { wordsPerMinute?: number; pitch?: number } {
  const { wordsPerMinute, pitch } = settings
  return {
    ...(typeof wordsPerMinute === 'number' && { wordsPerMinute }),
    ...(typeof pitch === 'number' && { pitch }),
  }
}
