import { randomUUID } from 'node:crypto'
import { type Channel, type Double, json, startDouble } from '../server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf, wordsOf } from './speech.ts'

/**
 * Cartesia as docs.cartesia.ai/api-reference describes it, as far as Patchbay uses it: voices over a WebSocket with contexts,
 * recognition turn by turn over another, and the list of voices.
 */
export interface CartesiaDoubleOptions {
  key: string
  speech: SpeechWorld
}

export function startCartesiaDouble({ key, speech }: CartesiaDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: ({ headers }) => {
      if (headers['x-api-key'] !== key)
        return { status: 401, body: errorBody(401, 'invalid_api_key', 'Invalid API key') }
      if (!/^\d{4}-\d\d-\d\d$/.test(String(headers['cartesia-version']))) {
        return { status: 400, body: errorBody(400, 'version_required', 'The Cartesia-Version header is required') }
      }
      return undefined
    },
    errorBody,
    http: {
      'GET /voices': ({ response }) =>
        json(response, 200, {
          data: [{ id: randomUUID(), name: 'Double', language: 'en', is_owner: false }],
          has_more: true,
        }),
    },
    sockets: {
      '/tts/websocket': (channel) => speak(channel, speech),
      '/stt/turns/websocket': (channel, url) => listen(channel, url, speech),
      '/stt/websocket': (channel, url) => transcribe(channel, url, speech),
    },
  })
}

const WORDS: Readonly<Record<number, [code: string, message: string]>> = {
  402: ['quota_exceeded', 'You have run out of credits. Please upgrade your plan.'],
  429: ['concurrency_limited', 'Too many concurrent requests for your plan.'],
  500: ['internal_error', 'Internal server error'],
  503: ['unavailable', 'The model is overloaded.'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [ownCode, words] = WORDS[status] ?? ['bad_request', 'The request is not valid']
  return { error_code: code ?? ownCode, title: code ?? ownCode, message: message ?? words, request_id: randomUUID() }
}

interface Generation {
  context_id?: string
  transcript?: string
  continue?: boolean
  cancel?: boolean
  model_id?: string
  voice?: { mode: string; id?: string }
  output_format?: { container: string; encoding: string; sample_rate: number }
  language?: string
  add_timestamps?: boolean
  generation_config?: { speed?: number; volume?: number }
}

/** npm @cartesia/cartesia-js 4.2.0; the others were switched off on 2026-06-01. */
const VOICE_MODELS = /^sonic-(3(\.5)?|latest)(-\d{4}-\d\d-\d\d)?$/
const RATES_HZ = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MAX_TRANSCRIPT_CHARS = 20_000

/** What the API refuses of a generation, as it says it; undefined when it is taken. */
function faultOf(asked: Generation): readonly [code: string, message: string] | undefined {
  const { model_id = '', voice, output_format, language = 'en', transcript = '', generation_config } = asked
  const { speed = 1 } = generation_config ?? {}
  if (!VOICE_MODELS.test(model_id)) {
    return ['model_not_found', 'The model is not valid, make sure it is a valid model ID.']
  }
  if (voice?.mode !== 'id' || !UUID.test(voice.id ?? '')) {
    return ['voice_not_found', 'The voice was not found, make sure it is a valid voice ID.']
  }
  if (output_format?.container !== 'raw' || output_format.encoding !== 'pcm_s16le') {
    return ['invalid_output_format', 'A websocket speaks raw containers only.']
  }
  if (!RATES_HZ.includes(output_format.sample_rate)) {
    return ['invalid_sample_rate', `sample_rate must be one of ${RATES_HZ.join(', ')}`]
  }
  if (!/^[a-z]{2}$/.test(language)) return ['invalid_language', 'The language is not supported.']
  if (transcript.length > MAX_TRANSCRIPT_CHARS) return ['transcript_too_long', 'The transcript is too long.']
  return speed < 0.6 || speed > 1.5 ? ['invalid_speed', 'speed must be between 0.6 and 1.5'] : undefined
}

/** Contexts are spoken side by side, each in the order its texts came. */
function speak(channel: Channel, speech: SpeechWorld) {
  const contexts = new Map<string, { stop: AbortController; turn: Promise<void>; spokenMs: number }>()
  channel.onMessage((data) => {
    const asked = JSON.parse(String(data)) as Generation
    const { context_id = '', transcript = '', output_format } = asked
    const refuse = (status_code: number, error_code: string, message: string) =>
      channel.send({
        type: 'error',
        context_id,
        status_code,
        done: true,
        error_code,
        title: error_code,
        message,
        error: message,
      })
    const { fault } = channel
    if (fault?.kind === 'error') return refuse(fault.status, fault.code, fault.message)
    if (asked.cancel === true) {
      contexts.get(context_id)?.stop.abort()
      contexts.delete(context_id)
      return
    }
    const wrong = faultOf(asked)
    if (wrong !== undefined) return refuse(400, ...wrong)
    const context = contexts.get(context_id) ?? { stop: new AbortController(), turn: Promise.resolve(), spokenMs: 0 }
    contexts.set(context_id, context)
    const signal = AbortSignal.any([context.stop.signal, channel.signal])
    context.turn = context.turn.then(async () => {
      const rateHz = output_format?.sample_rate ?? 24_000
      const startMs = context.spokenMs
      for await (const samples of speech.speak(transcript, rateHz, signal)) {
        if (signal.aborted) return
        context.spokenMs += (samples.length / rateHz) * 1000
        const chunk = bytesOf(samples).toString('base64')
        channel.send({ type: 'chunk', context_id, status_code: 206, done: false, data: chunk, step_time: 12.3 })
      }
      if (asked.add_timestamps === true && transcript.trim() !== '') {
        const words = wordsOf(transcript, startMs, context.spokenMs)
        const word_timestamps = {
          words: words.map(({ word }) => word),
          start: words.map(({ start }) => start),
          end: words.map(({ end }) => end),
        }
        channel.send({ type: 'timestamps', context_id, status_code: 206, done: false, word_timestamps })
      }
      if (asked.continue === true || signal.aborted) return
      contexts.delete(context_id)
      channel.send({ type: 'done', context_id, status_code: 200, done: true })
    })
    context.turn.catch(() => {})
  })
}

function listen(channel: Channel, url: URL, speech: SpeechWorld) {
  const { searchParams: query } = url
  const rateHz = Number(query.get('sample_rate'))
  const request_id = randomUUID()
  const tell = (type: string, fields: object = {}) => channel.send({ type, request_id, ...fields })
  if (query.get('encoding') !== 'pcm_s16le' || !(rateHz >= 8_000) || query.get('model') !== 'ink-2') {
    const message = 'model must be ink-2; encoding and sample_rate are required'
    tell('error', { ...errorBody(400, 'invalid_request', message), status_code: 400 })
    return channel.close(1008)
  }
  // npm @cartesia/cartesia-js 4.2.0.
  const terms = query.getAll('keyterm')
  if (terms.length > 100 || terms.join('').length > 1_200) {
    const message = 'keyterm takes up to 100 terms of 1200 characters in all'
    tell('error', { ...errorBody(400, 'invalid_request', message), status_code: 400 })
    return channel.close(1008)
  }
  tell('connected')
  const heard: string[] = []
  let listener: Listener | undefined
  channel.onMessage(async (data, isBinary) => {
    const { fault } = channel
    if (fault?.kind === 'error') {
      tell('error', { ...errorBody(fault.status, fault.code, fault.message), status_code: fault.status })
      return channel.close(1008)
    }
    listener ??= speech.listen(rateHz, 200, (event) => {
      switch (event.type) {
        case 'start':
          return tell('turn.start')
        case 'interim':
          return tell('turn.update', { transcript: [...heard, event.text].join(' ') })
        case 'final':
          heard.push(event.text)
          return tell('turn.eager_end', { transcript: heard.join(' ') })
        case 'end':
          return tell('turn.end', { transcript: heard.splice(0).join(' ') })
      }
    })
    if (isBinary) return listener.push(samplesOf(data))
    const { type } = JSON.parse(String(data)) as { type: string }
    if (type !== 'close') return
    listener.flush()
    channel.close(1000)
  })
}

/** The other socket: transcripts as they come, until it is told that there is no more. */
function transcribe(channel: Channel, url: URL, speech: SpeechWorld) {
  const { searchParams: query } = url
  const rateHz = Number(query.get('sample_rate'))
  const request_id = randomUUID()
  const language = query.get('language') ?? 'en'
  const tell = (type: string, fields: object = {}) => channel.send({ type, request_id, ...fields })
  const isKnown = ['ink-2', 'ink-whisper'].includes(query.get('model') ?? '') && /^[a-z]{2}$/.test(language)
  if (query.get('encoding') !== 'pcm_s16le' || !(rateHz >= 8_000) || !isKnown) {
    tell('error', {
      ...errorBody(400, 'invalid_request', 'model, language, encoding and sample_rate must be valid'),
      status_code: 400,
    })
    return channel.close(1008)
  }
  const listener = speech.listen(rateHz, 200, (event) => {
    if (event.type !== 'interim' && event.type !== 'final') return
    const { text, startMs, endMs } = event
    const is_final = event.type === 'final'
    const fields = { is_final, duration: (endMs - startMs) / 1000, language, words: wordsOf(text, startMs, endMs) }
    if (!is_final) return tell('transcript', { text, ...fields })
    // Each is a delta, cut anywhere: npm @cartesia/cartesia-js 4.2.0, manual-finalize.d.ts.
    const cutAt = Math.ceil(text.length / 2)
    tell('transcript', { ...fields, text: text.slice(0, cutAt) })
    tell('transcript', { ...fields, text: text.slice(cutAt) })
  })
  channel.onMessage((data, isBinary) => {
    const { fault } = channel
    if (fault?.kind === 'error') {
      tell('error', { ...errorBody(fault.status, fault.code, fault.message), status_code: fault.status })
      return channel.close(1008)
    }
    if (isBinary) return listener.push(samplesOf(data))
    const said = String(data)
    if (said === 'finalize' || said === 'close') listener.flush()
    if (said === 'finalize') return tell('flush_done')
    if (said !== 'close')
      return tell('error', { ...errorBody(400, 'invalid_message', 'Unknown message'), status_code: 400 })
    tell('done')
    channel.close(1000)
  })
}
