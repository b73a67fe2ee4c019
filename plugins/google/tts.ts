import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import type { ProviderHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'
import { sentenceSpeaker } from '../../runtime/plugin-sdk/speech/sentence-speaker.ts'
import { SentenceTTS, type SpeakSentence } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { SpeechAudio } from '../../runtime/plugin-sdk/speech/speech-audio.ts'
import { GOOGLE, httpOf, streamPath } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const DEFAULT_MODEL = 'gemini-3.8-flash-lite-tts'
/** Silence of the server, before the first sample and between two. */
const SILENCE_TIMEOUT_MS = 6_000

/** Gemini's voices, sentence by sentence: ai.google.dev/gemini-api/docs/speech-generation. */
export function makeTts(host: PluginHost, { voice = 'Kore', language = 'en', settings }: SpeechOptions): SentenceTTS {
  const model = typeof settings.ttsModel === 'string' ? settings.ttsModel : DEFAULT_MODEL
  return new SentenceTTS({
    provider: 'google',
    name: voice,
    language,
    sampleRateHz: SAMPLE_RATE_HZ,
    speak: speaker(httpOf(host), model, voice),
  })
}

interface SpeechEvent {
  candidates?: { content?: { parts?: { inlineData?: { mimeType?: string; data?: string } }[] } }[]
}

function speaker(http: ProviderHttp, model: string, voiceName: string): SpeakSentence {
  return sentenceSpeaker(GOOGLE, SILENCE_TIMEOUT_MS, async function* (text, signal) {
    const response = await http.fetch(streamPath(model), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
        },
      }),
      signal,
    })
    let audio: SpeechAudio | undefined
    for await (const { candidates } of jsonEvents<SpeechEvent>(response)) {
      for (const { inlineData } of candidates?.[0]?.content?.parts ?? []) {
        if (!inlineData?.data) continue
        audio ??= new SpeechAudio(GOOGLE, SAMPLE_RATE_HZ, inlineData.mimeType ?? null)
        yield audio.push(Buffer.from(inlineData.data, 'base64'))
      }
    }
    yield (audio ?? new SpeechAudio(GOOGLE, SAMPLE_RATE_HZ, null)).end()
  })
}
