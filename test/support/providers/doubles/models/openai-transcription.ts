import { randomUUID } from 'node:crypto'
import type { Channel } from '../server.ts'
import { type Listener, type SpeechWorld, samplesOf } from '../speech/speech.ts'
import { faultOfTranscription, type Transcription } from './openai-transcription-rules.ts'

const RATE_HZ = 24_000

interface ClientEvent {
  type: string
  audio?: string
  session?: {
    type?: string
    audio?: {
      input?: {
        format?: { type?: string; rate?: number }
        transcription?: Transcription
        turn_detection?: object | null
        noise_reduction?: object
      }
    }
  }
}

/** npm openai 7.57.0, resources/realtime/realtime.d.ts. */
const SESSION_FIELDS = ['type', 'audio', 'include', 'audio.input']
const INPUT_FIELDS = ['format', 'transcription', 'turn_detection', 'noise_reduction']

/** What the API refuses of a session, as it says it; undefined when it is taken. */
function faultOfSession(session: ClientEvent['session']): [code: string, message: string] | undefined {
  const input = session?.audio?.input
  const stranger = (value: object | undefined, known: readonly string[], at: string) => {
    const name = Object.keys(value ?? {}).find((field) => !known.includes(field))
    return name === undefined ? undefined : `${at}.${name}`
  }
  const unknown = stranger(session, SESSION_FIELDS, 'session') ?? stranger(input, INPUT_FIELDS, 'session.audio.input')
  if (unknown !== undefined) return ['unknown_parameter', `Unknown parameter: '${unknown}'.`]
  if (session?.type !== 'transcription') {
    return ['invalid_value', `Invalid value: '${session?.type}'. Supported values are: 'transcription'.`]
  }
  if (input?.format?.type !== 'audio/pcm' || input.format.rate !== RATE_HZ) {
    return ['invalid_value', `Invalid value for 'session.audio.input.format': audio/pcm at ${RATE_HZ} Hz is supported.`]
  }
  return faultOfTranscription(input.transcription ?? {}, input.turn_detection)
}

/** A transcription session of the Realtime API with server-side voice detection. */
export function openaiTranscription(channel: Channel, speech: SpeechWorld) {
  const send = (type: string, fields: object = {}) =>
    channel.send({ type, event_id: `event_${randomUUID()}`, ...fields })
  const fail = (code: string | null, message: string, type = 'invalid_request_error') =>
    send('error', { error: { type, code, message, param: null, event_id: null } })
  let listener: Listener | undefined
  let item = ''
  let speaking = false
  let told = ''
  let samplesSinceCommit = 0

  const begin = (atMs: number) => {
    item = `item_${randomUUID()}`
    speaking = true
    told = ''
    send('input_audio_buffer.speech_started', { audio_start_ms: atMs, item_id: item })
  }
  const transcription = (kind: string, fields: object) =>
    send(`conversation.item.input_audio_transcription.${kind}`, { item_id: item, content_index: 0, ...fields })
  const listen = () =>
    speech.listen(RATE_HZ, 250, (event) => {
      switch (event.type) {
        case 'start':
          return begin(event.atMs)
        case 'interim':
          if (event.text.startsWith(told) && event.text !== told) {
            transcription('delta', { delta: event.text.slice(told.length) })
            told = event.text
          }
          return
        case 'final':
          if (!speaking) begin(event.startMs)
          speaking = false
          samplesSinceCommit = 0
          send('input_audio_buffer.speech_stopped', { audio_end_ms: event.endMs, item_id: item })
          send('input_audio_buffer.committed', { previous_item_id: null, item_id: item })
          return transcription('completed', {
            transcript: event.text,
            usage: { type: 'tokens', input_tokens: 10, output_tokens: 5, total_tokens: 15 },
          })
        case 'end':
          if (!speaking) return
          speaking = false
          send('input_audio_buffer.speech_stopped', { audio_end_ms: event.atMs, item_id: item })
          send('input_audio_buffer.committed', { previous_item_id: null, item_id: item })
          return transcription('completed', { transcript: '' })
      }
    })

  send('session.created', {
    session: { type: 'transcription', id: `sess_${randomUUID()}`, object: 'realtime.session' },
  })
  channel.onMessage(async (data) => {
    const event = JSON.parse(String(data)) as ClientEvent
    const { fault } = channel
    if (fault?.kind === 'error') {
      fail(fault.code, fault.message, fault.status >= 500 ? 'server_error' : 'invalid_request_error')
      return channel.close(1000)
    }
    switch (event.type) {
      case 'session.update': {
        const refused = faultOfSession(event.session)
        if (refused !== undefined) return fail(...refused)
        listener = await listen()
        return send('session.updated', { session: event.session })
      }
      case 'input_audio_buffer.append': {
        const samples = samplesOf(Buffer.from(event.audio ?? '', 'base64'))
        samplesSinceCommit += samples.length
        return listener?.push(samples)
      }
      case 'input_audio_buffer.commit':
        if (samplesSinceCommit < RATE_HZ / 10 || !speaking) {
          const words = 'Error committing input audio buffer: buffer too small. Expected at least 100ms of audio.'
          return fail('input_audio_buffer_commit_empty', words)
        }
        return listener?.flush()
      default:
        return fail('invalid_value', `Invalid value: '${event.type}'.`)
    }
  })
}
