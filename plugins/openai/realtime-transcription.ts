import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import type { RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import type { Endpoint } from './endpoint.ts'
import { transcriptionOf } from './transcription-of.ts'

const SAMPLE_RATE_HZ = 24_000
/** The session decides by its own models when a turn is over; the server need only cut the audio soon. */
const TURN_DETECTION = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 250 }

interface ServerEvent {
  type: string
  item_id?: string
  delta?: string
  transcript?: string
  audio_start_ms?: number
  audio_end_ms?: number
  error?: { type?: string; code?: string; message?: string }
}

/** A transcription session of the Realtime API, as platform.openai.com/docs/guides/realtime-transcription has it. */
export function realtimeTranscription(
  { base, key, isOpenAI, provider }: Endpoint,
  { model, language, keyterms }: { model: string; language: string; keyterms: readonly string[] },
): RecognitionProtocol {
  const url = new URL(`${base.replace(/^http/, 'ws')}/realtime`)
  url.searchParams.set('intent', 'transcription')
  // Gateways route by it; OpenAI itself takes it for a request for a conversation.
  if (!isOpenAI) url.searchParams.set('model', model)
  const session = {
    type: 'transcription',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: SAMPLE_RATE_HZ },
        transcription: transcriptionOf(model, language, keyterms),
        // This model cuts nothing itself and takes no detection.
        turn_detection: model === 'gpt-live-transcribe' ? null : TURN_DETECTION,
      },
    },
  }
  const spans = new Map<string, { startS?: number; endS?: number; text: string }>()
  const spanOf = (id = '') => {
    const span = spans.get(id) ?? { text: '' }
    spans.set(id, span)
    return span
  }
  let finishing = false
  /** Utterances cut but not transcribed yet. */
  const open = new Set<string>()
  return {
    address: { url: url.href, headers: { authorization: `Bearer ${key}` } },
    sampleRateHz: SAMPLE_RATE_HZ,
    hello: [JSON.stringify({ type: 'session.update', session })],
    audio: (samples) =>
      JSON.stringify({
        type: 'input_audio_buffer.append',
        audio: Buffer.from(bytesOf(samples)).toString('base64'),
      }),
    finish() {
      finishing = true
      return [JSON.stringify({ type: 'input_audio_buffer.commit' })]
    },
    read(message, hearing) {
      const event = JSON.parse(message) as ServerEvent
      const id = event.item_id ?? ''
      const close = () => {
        open.delete(id)
        spans.delete(id)
        if (finishing && open.size === 0) hearing.done()
      }
      switch (event.type) {
        case 'input_audio_buffer.speech_started':
          spanOf(id).startS = (event.audio_start_ms ?? 0) / 1000
          open.add(id)
          return hearing.started()
        case 'input_audio_buffer.speech_stopped':
          spanOf(id).endS = (event.audio_end_ms ?? 0) / 1000
          return hearing.ended()
        case 'input_audio_buffer.committed':
          open.add(id)
          return
        case 'conversation.item.input_audio_transcription.delta': {
          const span = spanOf(id)
          span.text += event.delta ?? ''
          return hearing.interim(span)
        }
        case 'conversation.item.input_audio_transcription.completed':
          hearing.final({ ...spanOf(id), text: event.transcript ?? '' })
          hearing.ended()
          return close()
        // It concerns this utterance alone.
        case 'conversation.item.input_audio_transcription.failed':
          hearing.ended()
          return close()
        case 'error': {
          const { code, message: words, type } = event.error ?? {}
          // The end of the audio brought nothing to commit: all was said already.
          if (code === 'input_audio_buffer_commit_empty') {
            if (finishing && open.size === 0) hearing.done()
            return
          }
          // After an hour; another session goes on.
          const isExpired = code === 'session_expired'
          const status = type === 'invalid_request_error' && !isExpired ? 400 : undefined
          return hearing.failed(explainFailure(provider, { status, code: code ?? type, message: words }))
        }
        default:
      }
    },
  }
}
