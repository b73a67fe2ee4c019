import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { ProviderHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { sentenceSpeaker, soundOf } from '../../runtime/plugin-sdk/speech/sentence-speaker.ts'
import { SentenceTTS, type SpeakSentence } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { AZURE, endpointOf, localeOf } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const DEFAULT_VOICE = 'en-US-AvaMultilingualNeural'
/** Silence of the server, before the first sample and between two. */
const SILENCE_TIMEOUT_MS = 5_000

/** Azure's voices, sentence by sentence: learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech. */
export function makeTts(host: PluginHost, options: SpeechOptions): SentenceTTS {
  const { voice = DEFAULT_VOICE, language = 'en', settings } = options
  const { speak } = endpointOf(host)
  const rate = typeof settings.ttsRate === 'string' ? settings.ttsRate : undefined
  const voiceIn = (tag: string) => ({
    provider: 'azure',
    name: voice,
    language: tag,
    sampleRateHz: SAMPLE_RATE_HZ,
    speak: speaker(speak, { voice, rate, locale: localeOf(tag) }),
  })
  return new SentenceTTS({ ...voiceIn(language), inLanguage: voiceIn })
}

interface Manner {
  voice: string
  rate: string | undefined
  locale: string
}

function speaker(http: ProviderHttp, manner: Manner): SpeakSentence {
  return sentenceSpeaker(AZURE, SILENCE_TIMEOUT_MS, async function* (text, signal) {
    const response = await http.fetch('/cognitiveservices/v1', {
      method: 'POST',
      headers: {
        'content-type': 'application/ssml+xml',
        'x-microsoft-outputformat': 'raw-24khz-16bit-mono-pcm',
        'user-agent': 'patchbay',
      },
      body: ssml(text, manner),
      signal,
    })
    yield* soundOf(response, AZURE, SAMPLE_RATE_HZ)
  })
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? '')

function ssml(text: string, { voice, rate, locale }: Manner): string {
  const said = escaped(text)
  const inner = rate === undefined ? said : `<prosody rate="${rate}">${said}</prosody>`
  // A multilingual voice gets the language; the others have their own.
  const spoken = /Multilingual/.test(voice) ? `<lang xml:lang="${escaped(locale)}">${inner}</lang>` : inner
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${escaped(locale)}"><voice name="${escaped(voice)}">${spoken}</voice></speak>`
}
