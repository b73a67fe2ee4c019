import { boundary } from '../../lib/async/boundary.ts'
import { joinSignals } from '../../lib/async/join-signals.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from './api-error.ts'
import type { SpeakSentence } from './sentence-tts.ts'
import { SpeechAudio } from './speech-audio.ts'

/**
 * What speaks a sentence by one answer over HTTP: its failures are judged, and it is given up when no sound comes.
 *
 * @param silenceMs of the server, before the first sample and between two
 */
export function sentenceSpeaker(provider: ProviderIdentity, silenceMs: number, speak: SpeakSentence): SpeakSentence {
  return async function* (text, signal) {
    const late = new AbortController()
    const watchdog = setTimeout(
      boundary('provider', () => late.abort({ code: 'ETIMEDOUT' })),
      silenceMs,
    )
    try {
      for await (const samples of speak(text, joinSignals(signal, late.signal))) {
        watchdog.refresh()
        yield samples
      }
    } catch (error) {
      if (signal.aborted) return
      throw apiErrorOf(provider, late.signal.reason ?? error)
    } finally {
      clearTimeout(watchdog)
    }
  }
}

/** The samples of an answer that is all sound. Throws ProviderError for anything else. */
export async function* soundOf(
  response: Response,
  provider: ProviderIdentity,
  rateHz: number,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const audio = new SpeechAudio(provider, rateHz, response.headers.get('content-type'))
  for await (const bytes of response.body ?? []) yield audio.push(bytes as Uint8Array)
  yield audio.end()
}
