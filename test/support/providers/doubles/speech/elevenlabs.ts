import { setTimeout as sleep } from 'node:timers/promises'
import { type Channel, type Double, json, startDouble } from '../server.ts'
import { converse } from './elevenlabs-dialogue.ts'
import { bytesOf, type SpeechWorld, samplesOf, wordsOf } from './speech.ts'

/**
 * ElevenLabs as elevenlabs.io/docs/api-reference describes it, as far as Patchbay uses it: speech over a socket of several
 * contexts with the times of characters, Scribe in real time, voices and models. Limits: npm @elevenlabs/elevenlabs-js 2.73.0.
 */
export interface ElevenLabsDoubleOptions {
  key: string
  speech: SpeechWorld
}

export const DOUBLE_VOICE = 'EXAVITQu4vr4xnSDxMaL'

export function startElevenLabsDouble({ key, speech }: ElevenLabsDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: ({ headers }) =>
      headers['xi-api-key'] === key
        ? undefined
        : { status: 401, body: errorBody(401, 'invalid_api_key', 'Invalid API key') },
    errorBody,
    http: {
      'GET /v1/models': ({ response }) =>
        json(response, 200, [{ model_id: 'eleven_flash_v2_5', can_do_text_to_speech: true }]),
      'GET /v2/voices': ({ response, url }) => {
        const isFirst = !url.searchParams.has('next_page_token')
        const labels = { language: isFirst ? 'en' : 'de' }
        json(response, 200, {
          voices: [
            {
              voice_id: isFirst ? DOUBLE_VOICE : 'x'.repeat(20),
              name: isFirst ? 'Sarah' : 'Mine',
              category: isFirst ? 'premade' : 'cloned',
              labels,
              preview_url: isFirst ? 'https://storage.example/sarah.mp3' : null,
              verified_languages: isFirst ? [{ language: 'en' }, { language: 'fr' }] : null,
            },
          ],
          has_more: isFirst,
          total_count: 2,
          next_page_token: isFirst ? 'more' : null,
        })
      },
    },
    sockets: {
      [`/v1/text-to-speech/${DOUBLE_VOICE}/multi-stream-input`]: (channel, url) => speak(channel, url, speech),
      '/v1/text-to-dialogue/multi-stream-input': (channel, url) => converse(channel, url, speech, DOUBLE_VOICE),
      '/v1/speech-to-text/realtime': (channel, url) => transcribe(channel, url, speech),
    },
  })
}

const WORDS: Readonly<Record<number, [status: string, message: string]>> = {
  401: ['invalid_api_key', 'Invalid API key'],
  402: ['quota_exceeded', 'This request exceeds your quota.'],
  429: ['too_many_concurrent_requests', 'Too many concurrent requests.'],
  503: ['system_busy', 'We are sorry, the system is experiencing heavy traffic, please try again.'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [own, words] = WORDS[status] ?? ['bad_request', 'The request is not valid']
  return { detail: { status: code ?? own, message: message ?? words } }
}

const SPEECH_QUERY = new Set([
  ...['model_id', 'language_code', 'output_format', 'sync_alignment', 'auto_mode', 'inactivity_timeout'],
  ...['enable_logging', 'enable_ssml_parsing', 'apply_text_normalization', 'seed'],
])
const SPEECH_MODELS = ['eleven_flash_v2_5', 'eleven_turbo_v2_5', 'eleven_multilingual_v2']
const MAX_CONTEXTS = 5

interface SpeechRequest {
  text?: string | null
  context_id?: string
  voice_settings?: { stability?: number; similarity_boost?: number; speed?: number }
  flush?: boolean
  close_context?: boolean
  close_socket?: boolean
}

function faultOfSpeech({ searchParams: query }: URL): readonly [error: string, message: string] | undefined {
  const stranger = [...query.keys()].find((name) => !SPEECH_QUERY.has(name))
  if (stranger !== undefined) return ['invalid_parameters', `Unknown parameter ${stranger}`]
  const model = query.get('model_id') ?? ''
  if (!SPEECH_MODELS.includes(model)) return ['model_not_found', `A model with model ID ${model} does not exist.`]
  if (query.has('language_code') && !/_v2_5$/.test(model)) {
    return ['unsupported_language', `Model '${model}' does not support the language_code parameter.`]
  }
  if (!/^pcm_(16000|22050|24000|44100)$/.test(query.get('output_format') ?? '')) {
    return ['invalid_output_format', 'The double speaks pcm only']
  }
  return Number(query.get('inactivity_timeout') ?? 20) > 180
    ? ['invalid_parameters', 'inactivity_timeout must be at most 180']
    : undefined
}

/** Contexts are spoken side by side, each in the order its texts came; one that is closed is spoken to its end first. */
let connections = 0

function speak(channel: Channel, url: URL, speech: SpeechWorld) {
  // Which spelling comes depends on the voice and the account.
  const named = (id: string) => (snake ? { context_id: id } : { contextId: id })
  const snake = connections++ % 2 === 1
  const rateHz = Number(/^pcm_(\d+)$/.exec(url.searchParams.get('output_format') ?? '')?.[1])
  const contexts = new Map<string, { stop: AbortController; turn: Promise<void>; pending: string }>()
  const refuse = (error: string, message: string) => {
    channel.send({ message, error, code: 1008 })
    channel.close(1008, message.slice(0, 100))
  }
  const wrong = faultOfSpeech(url)
  if (wrong) return refuse(...wrong)
  channel.signal.addEventListener('abort', () => {
    for (const { stop } of contexts.values()) stop.abort()
  })
  const utter = async (id: string, text: string, signal: AbortSignal): Promise<void> => {
    for await (const samples of speech.speak(text, rateHz, signal)) {
      if (signal.aborted || channel.signal.aborted) return
      if (samples.length === 0) continue
      channel.send({ audio: bytesOf(samples).toString('base64'), ...named(id), alignment: null, isFinal: null })
    }
  }
  channel.onMessage((data) => {
    const { fault } = channel
    if (fault?.kind === 'error') return refuse(fault.code, fault.message)
    const asked = JSON.parse(String(data)) as SpeechRequest
    const { context_id: id = 'default', text, voice_settings, flush, close_context } = asked
    const known = contexts.get(id)
    if (close_context === true) {
      if (known === undefined) return
      contexts.delete(id)
      // What was flushed is spoken to its end; the rest is dropped.
      return void known.turn.then(() => channel.send({ isFinal: true, ...named(id) }))
    }
    if (known === undefined) {
      if (contexts.size >= MAX_CONTEXTS) return refuse('max_active_conversations', 'At most 5 contexts at once')
      if (text !== ' ') return refuse('invalid_message', 'The first text of a context must be a single space')
      contexts.set(id, { stop: new AbortController(), turn: Promise.resolve(), pending: '' })
      return
    }
    if (voice_settings !== undefined) return refuse('invalid_message', 'voice_settings belong into the first message')
    if (text && !text.endsWith(' ')) return refuse('invalid_message', 'text should end with a space')
    known.pending += text ?? ''
    // With auto_mode each text is spoken as it comes.
    if (url.searchParams.get('auto_mode') !== 'true' && flush !== true) return
    const said = known.pending
    known.pending = ''
    if (said.trim() === '') return
    known.turn = known.turn.then(async () => {
      const { signal } = known.stop
      channel.send(alignmentOf(said, named(id)))
      await utter(id, said, signal)
    })
  })
}

const MS_PER_CHAR = 60

/** Characters at an even pace, their times counted from the beginning of this piece of audio. */
function alignmentOf(text: string, named: object): object {
  const chars = [...text]
  const alignment = {
    chars,
    charStartTimesMs: chars.map((_, i) => i * MS_PER_CHAR),
    charDurationsMs: chars.map(() => MS_PER_CHAR),
  }
  return { audio: null, ...named, alignment, normalizedAlignment: alignment, isFinal: null }
}

const SCRIBE_QUERY = new Set([
  ...['model_id', 'audio_format', 'commit_strategy', 'vad_silence_threshold_secs', 'vad_threshold', 'language_code'],
  ...['include_timestamps', 'include_language_detection', 'keyterms', 'enable_logging', 'min_speech_duration_ms'],
])
const MAX_CHUNK_BYTES = 512 * 1024

function faultOfScribe({ searchParams: query }: URL): string | undefined {
  const stranger = [...query.keys()].find((name) => !SCRIBE_QUERY.has(name))
  if (stranger !== undefined) return `Unknown parameter ${stranger}`
  if (query.get('model_id') !== 'scribe_v2_realtime') return 'model_id must be scribe_v2_realtime'
  if (!/^pcm_(8000|16000|22050|24000|44100|48000)$/.test(query.get('audio_format') ?? '')) return 'Unknown audio_format'
  const silence = Number(query.get('vad_silence_threshold_secs') ?? 1.5)
  if (!(silence > 0.3 && silence <= 3)) return 'vad_silence_threshold_secs must be greater than 0.3 and at most 3'
  const language = query.get('language_code')
  if (language !== null && !/^[a-z]{2,3}$/.test(language)) return `Unsupported language_code ${language}`
  const terms = query.getAll('keyterms')
  if (terms.length > 50) return 'At most 50 keyterms'
  return terms.some((term) => term.length > 20) ? 'A keyterm has at most 20 characters' : undefined
}

function transcribe(channel: Channel, url: URL, speech: SpeechWorld) {
  const { searchParams: query } = url
  const tell = (message_type: string, fields: object = {}) => channel.send({ message_type, ...fields })
  const wrong = faultOfScribe(url)
  if (wrong !== undefined) {
    tell('invalid_request', { error: wrong })
    return channel.close(1008)
  }
  const rateHz = Number(query.get('audio_format')?.slice(4))
  const silenceMs = Number(query.get('vad_silence_threshold_secs') ?? 1.5) * 1000
  const timestamps = query.get('include_timestamps') === 'true'
  tell('session_started', { session_id: 'double', config: Object.fromEntries(query) })
  let uncommitted = false
  const listener = speech.listen(rateHz, silenceMs, (event) => {
    if (event.type === 'interim') {
      uncommitted = true
      return tell('partial_transcript', { text: event.text })
    }
    if (event.type !== 'final') return
    uncommitted = false
    const { text, startMs, endMs } = event
    const words = wordsOf(text, startMs, endMs).map(({ word, start, end }) => ({
      text: word,
      start,
      end,
      type: 'word',
    }))
    tell('committed_transcript', { text })
    const language = query.get('include_language_detection') === 'true' ? { language_code: 'en' } : {}
    if (timestamps) tell('committed_transcript_with_timestamps', { text, ...language, words })
  })
  channel.onMessage(async (data, isBinary) => {
    const { fault } = channel
    if (fault?.kind === 'error') {
      tell(fault.code === 'internal_error' ? 'transcriber_error' : fault.code, { error: fault.message })
      return channel.close(1008)
    }
    const asked = isBinary ? {} : (JSON.parse(String(data)) as Record<string, unknown>)
    const { message_type, audio_base_64 = '', commit, sample_rate } = asked
    if (message_type !== 'input_audio_chunk' || sample_rate !== rateHz || typeof commit !== 'boolean') {
      tell('input_error', { error: 'The message is not valid' })
      return channel.close(1008)
    }
    const bytes = Buffer.from(String(audio_base_64), 'base64')
    if (bytes.length > MAX_CHUNK_BYTES) return tell('chunk_size_exceeded', { error: 'The chunk is too large' })
    listener.push(samplesOf(bytes))
    if (!commit) return
    const had = uncommitted
    listener.flush()
    await sleep(1)
    if (!had) tell('commit_throttled', { error: 'Commit request ignored: only 0.00s of uncommitted audio.' })
  })
}
