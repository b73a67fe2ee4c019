import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { apiErrorOf } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { SentenceTTS, type SpeakSentence } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { SpeechAudio } from '../../runtime/plugin-sdk/speech/speech-audio.ts'
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
  return async function* (input, signal) {
    const late = new AbortController()
    const watchdog = setTimeout(() => late.abort({ code: 'ETIMEDOUT' }), SILENCE_TIMEOUT_MS)
    try {
      const response = await http.fetch('/audio/speech', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...request, input }),
        signal: AbortSignal.any([signal, late.signal]),
      })
      const audio = new SpeechAudio(provider, SAMPLE_RATE_HZ, response.headers.get('content-type'))
      for await (const bytes of response.body ?? []) {
        watchdog.refresh()
        yield audio.push(bytes as Uint8Array)
      }
      yield audio.end()
    } catch (error) {
      if (signal.aborted) return
      throw apiErrorOf(provider, late.signal.reason ?? error)
    } finally {
      clearTimeout(watchdog)
    }
  }
}
