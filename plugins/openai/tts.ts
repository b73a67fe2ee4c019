import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { sentenceSpeaker, soundOf } from '../../runtime/plugin-sdk/speech/sentence-speaker.ts'
import { SentenceTTS, type SpeakSentence } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
/** Silence of the server, before the first sample and between two. */
const SILENCE_TIMEOUT_MS = 5_000

/**
 * OpenAI's speech, sentence by sentence, heard while it is made. LiveKit's class waits for the whole of a sentence's audio
 * before it gives any, which costs a caller a second.
 */
export function makeTts(host: PluginHost, { voice = 'alloy', language = 'en', settings }: SpeechOptions): SentenceTTS {
  const endpoint = endpointOf(host)
  const { ttsModel = 'gpt-4o-mini-tts', ttsInstructions, ttsSpeed } = settings
  const request = {
    model: ttsModel,
    voice,
    response_format: 'pcm',
    ...(typeof ttsInstructions === 'string' ? { instructions: ttsInstructions } : {}),
    ...(typeof ttsSpeed === 'number' ? { speed: ttsSpeed } : {}),
  }
  return new SentenceTTS({
    provider: 'openai',
    name: voice,
    language,
    sampleRateHz: SAMPLE_RATE_HZ,
    speak: speaker(endpoint, request),
  })
}

function speaker({ http, provider }: Endpoint, request: object): SpeakSentence {
  return sentenceSpeaker(provider, SILENCE_TIMEOUT_MS, async function* (input, signal) {
    const response = await http.fetch('/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, input }),
      signal,
    })
    yield* soundOf(response, provider, SAMPLE_RATE_HZ)
  })
}
