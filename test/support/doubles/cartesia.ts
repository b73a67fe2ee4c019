import { randomUUID } from 'node:crypto'
import { type Channel, type Double, json, startDouble } from './server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf } from './speech.ts'

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
}

/** Contexts are spoken side by side, each in the order its texts came. */
function speak(channel: Channel, speech: SpeechWorld) {
  const contexts = new Map<string, { stop: AbortController; turn: Promise<void> }>()
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
    if (
      output_format?.container !== 'raw' ||
      output_format.encoding !== 'pcm_s16le' ||
      !asked.model_id ||
      !asked.voice?.id
    ) {
      return refuse(400, 'invalid_request', 'model_id, voice and a raw output_format are required')
    }
    const context = contexts.get(context_id) ?? { stop: new AbortController(), turn: Promise.resolve() }
    contexts.set(context_id, context)
    const signal = AbortSignal.any([context.stop.signal, channel.signal])
    context.turn = context.turn.then(async () => {
      const rateHz = output_format.sample_rate
      for await (const samples of speech.speak(transcript, rateHz, signal)) {
        if (signal.aborted) return
        const chunk = bytesOf(samples).toString('base64')
        channel.send({ type: 'chunk', context_id, status_code: 206, done: false, data: chunk, step_time: 12.3 })
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
  if (query.get('encoding') !== 'pcm_s16le' || !query.get('model') || !(rateHz >= 8_000)) {
    tell('error', errorBody(400, 'invalid_request', 'model, encoding and sample_rate are required'))
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
