import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { sentenceSpeaker, soundOf } from '../../runtime/plugin-sdk/speech/sentence-speaker.ts'
import { SentenceTTS, type SpeakSentence } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import { isOpenAIRealtimeModel } from './realtime-models.ts'
import { realtimeTts } from './realtime-voice.ts'

const SAMPLE_RATE_HZ = 24_000
/** Silence of the server, before the first sample and between two. */
const SILENCE_TIMEOUT_MS = 5_000

/**
 * OpenAI's speech, sentence by sentence, heard while it is made: over the Realtime API, or over HTTP. LiveKit's class waits for
 * the whole of a sentence's audio before it gives any, which costs a caller a second.
 */
export function makeTts(host: PluginHost, options: SpeechOptions): SentenceTTS {
  const { model: defaultModel = 'gpt-realtime-2.1-mini', voice = 'alloy', language = 'en', settings } = options
  const endpoint = endpointOf(host)
  const model = typeof settings.ttsModel === 'string' ? settings.ttsModel : defaultModel
  const style = typeof settings.ttsInstructions === 'string' ? settings.ttsInstructions : undefined
  const speed = typeof settings.ttsSpeed === 'number' ? settings.ttsSpeed : undefined
  if (isOpenAIRealtimeModel(model)) {
    return realtimeTts(endpoint, {
      model,
      voice,
      language,
      ...(style === undefined ? {} : { style }),
      ...(speed === undefined ? {} : { speed }),
    })
  }
  const request = {
    model,
    voice,
    response_format: 'pcm',
    ...(style === undefined ? {} : { instructions: style }),
    ...(speed === undefined ? {} : { speed }),
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
