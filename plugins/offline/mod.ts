import { definePlugin } from '../../runtime/plugin/contract.ts'
import { espeakVoice } from '../../runtime/speech/espeak-voice.ts'
import { SentenceTTS } from '../../runtime/speech/sentence-tts.ts'
import { OfflineLLM } from './llm.ts'

const DEFAULT_VOICE = 'en-us'

/** Speech and answers with no network: see README.md for what they can and cannot do. */
export default definePlugin({
  llm: (_host, options) => new OfflineLLM(options.language),
  tts: (host, options) => {
    const voice = options.voice || options.language || DEFAULT_VOICE
    return new SentenceTTS(espeakVoice('offline', host.run.spawn, { voice, ...speaking(options.settings) }))
  },
})

/** The operator's options of the plugin, as plugin.json describes them. */
function speaking(settings: Readonly<Record<string, unknown>>): { wordsPerMinute?: number; pitch?: number } {
  const { wordsPerMinute, pitch } = settings
  return {
    ...(typeof wordsPerMinute === 'number' && { wordsPerMinute }),
    ...(typeof pitch === 'number' && { pitch }),
  }
}
