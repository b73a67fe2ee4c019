import { randomUUID } from 'node:crypto'
import { type Channel, type Double, json, startDouble } from '../server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf, wordsOf } from './speech.ts'

/**
 * Deepgram as developers.deepgram.com/reference describes it, as far as Patchbay uses it: live transcription (/v1/listen),
 * conversational recognition (/v2/listen) and speech (/v1/speak) over WebSockets, and the key's own page.
 */
export interface DeepgramDoubleOptions {
  key: string
  speech: SpeechWorld
}

/** Without audio and without KeepAlive the real one hangs up too. */
const SILENCE_LIMIT_MS = 10_000
const MAX_SPEAK_CHARS = 2_000

export function startDeepgramDouble({ key, speech }: DeepgramDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: (request) => {
      if (request.headers.authorization !== `Token ${key}`) {
        return { status: 401, body: errorBody(401, 'INVALID_AUTH', 'Invalid credentials.') }
      }
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://double')
      const words = FAULTS_OF[pathname]?.(searchParams)
      return words === undefined ? undefined : { status: 400, body: errorBody(400, 'Bad Request', words) }
    },
    errorBody,
    http: {
      'GET /v1/auth/token': ({ response }) =>
        json(response, 200, { api_key_id: randomUUID(), scopes: ['usage:write'] }),
    },
    sockets: {
      '/v1/listen': (channel, url) => listen(channel, url, speech, nova),
      '/v2/listen': (channel, url) => listen(channel, url, speech, flux),
      '/v1/speak': (channel, url) => speak(channel, url, speech),
    },
  })
}

const RATES_HZ = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000]
/** Counted by a tokenizer; four letters a token is the rule of thumb. npm @deepgram/sdk 5.13.0. */
const MAX_KEYTERM_TOKENS = 500
const FLUX_LANGUAGES = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl']
const NO_SUCH_MODEL = 'Bad Request: failed to process request: No such model/language/tier combination found.'

/** What an upgrade is refused for, before anything is heard or said. */
const FAULTS_OF: Readonly<Record<string, (query: URLSearchParams) => string | undefined>> = {
  '/v1/listen': (query) => {
    const model = query.get('model') ?? ''
    const language = query.get('language') ?? 'en'
    if (!/^nova-[23](-[a-z]+)?$/.test(model) || !/^([a-z]{2}(-[A-Z0-9]{2,4})?|multi)$/.test(language))
      return NO_SUCH_MODEL
    if (/-(phonecall|meeting|conversationalai|medical)$/.test(model) && !language.startsWith('en')) {
      // developers.deepgram.com/changelog/2026/10/6
      if (model !== 'nova-3-medical' || language !== 'multi') return NO_SUCH_MODEL
    }
    if (query.has('keyterm') && !model.startsWith('nova-3'))
      return 'Keyterm Prompting is only available for Nova-3 and Flux models.'
    return faultOfAudio(query) ?? faultOfKeyterms(query)
  },
  '/v2/listen': (query) => {
    const model = query.get('model') ?? ''
    if (!/^flux-general-(en|multi)$/.test(model)) return NO_SUCH_MODEL
    if (query.has('language')) return 'language is not supported by Flux; use language_hint.'
    const hints = query.getAll('language_hint')
    if (hints.length > 0 && model !== 'flux-general-multi')
      return 'language_hint is only supported by flux-general-multi.'
    if (hints.some((hint) => !FLUX_LANGUAGES.includes(hint.split('-')[0] ?? '')))
      return 'language_hint is not a supported language.'
    const eager = query.get('eager_eot_threshold')
    if (eager !== null && !(Number(eager) >= 0.3 && Number(eager) <= 0.9))
      return 'eager_eot_threshold must be between 0.3 and 0.9.'
    if (Number(eager ?? 0) > Number(query.get('eot_threshold') ?? 0.7))
      return 'eager_eot_threshold must not be greater than eot_threshold.'
    return faultOfAudio(query) ?? faultOfKeyterms(query)
  },
  '/v1/speak': (query) => {
    if (!/^aura(-2)?-[a-z]+-[a-z]{2}$/.test(query.get('model') ?? '')) return NO_SUCH_MODEL
    const speed = query.get('speed')
    if (speed !== null && !(Number(speed) >= 0.7 && Number(speed) <= 1.5)) return 'speed must be between 0.7 and 1.5.'
    return faultOfAudio(query)
  },
}

function faultOfAudio(query: URLSearchParams): string | undefined {
  if (query.get('encoding') !== 'linear16') return 'The double takes linear16 only.'
  return RATES_HZ.includes(Number(query.get('sample_rate')))
    ? undefined
    : `sample_rate must be one of ${RATES_HZ.join(', ')}.`
}

function faultOfKeyterms(query: URLSearchParams): string | undefined {
  const keyterms = query.getAll('keyterm')
  if (keyterms.reduce((sum, term) => sum + Math.ceil(term.length / 4), 0) > MAX_KEYTERM_TOKENS)
    return 'Keyterm limit exceeded. The maximum number of tokens across all keyterms is 500.'
  return keyterms.includes('') ? 'keyterm must not be empty.' : undefined
}

const WORDS: Readonly<Record<number, [code: string, message: string]>> = {
  400: ['Bad Request', 'Bad Request: failed to process the request.'],
  402: [
    'ASR_PAYMENT_REQUIRED',
    'Project does not have enough credits for an ASR request and does not have an overage agreement.',
  ],
  429: ['TOO_MANY_REQUESTS', 'Too many requests. Please try again later'],
  500: ['INTERNAL_SERVER_ERROR', 'Internal server error.'],
  503: ['SERVICE_UNAVAILABLE', 'Service unavailable.'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [ownCode, words] = WORDS[status] ?? ['Error', 'Something went wrong.']
  return { err_code: code ?? ownCode, err_msg: message ?? words, request_id: randomUUID() }
}

type Tell = (channel: Channel, requestId: string, query: URLSearchParams) => Parameters<SpeechWorld['listen']>[2]

function listen(channel: Channel, url: URL, speech: SpeechWorld, tell: Tell) {
  const { searchParams: query } = url
  const rateHz = Number(query.get('sample_rate'))
  const requestId = randomUUID()
  const heard = tell(channel, requestId, query)
  let listener: Listener | undefined
  let samplesHeard = 0
  let silence: NodeJS.Timeout | undefined
  const alive = () => {
    clearTimeout(silence)
    silence = setTimeout(() => channel.close(1011, 'NET-0001'), SILENCE_LIMIT_MS)
    silence.unref()
  }
  channel.signal.addEventListener('abort', () => clearTimeout(silence))
  alive()
  channel.onMessage(async (data, isBinary) => {
    const { fault } = channel
    alive()
    if (fault?.kind === 'error') {
      channel.send({
        type: 'Error',
        description: fault.message,
        message: fault.message,
        variant: fault.code,
        code: fault.code,
      })
      return channel.close(1011, fault.code)
    }
    listener ??= speech.listen(rateHz, 200, heard)
    if (isBinary) {
      const samples = samplesOf(data)
      samplesHeard += samples.length
      return listener.push(samples)
    }
    const { type } = JSON.parse(String(data)) as { type: string }
    // Flux tells no end of a turn that is closed in the middle.
    if (type === 'Finalize' || (type === 'CloseStream' && url.pathname === '/v1/listen')) listener.flush()
    if (type !== 'CloseStream') return
    channel.send({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: requestId,
      sha256: '',
      created: new Date().toISOString(),
      duration: samplesHeard / rateHz,
      channels: 1,
    })
    channel.close(1000)
  })
}

const nova: Tell = (channel, requestId, query) => {
  const languages = query.get('language') === 'multi' ? { languages: ['en'] } : {}
  const results = (
    text: string,
    startMs: number,
    endMs: number,
    confidence: number,
    final: boolean,
    speechFinal: boolean,
  ) => {
    const words = wordsOf(text, startMs, endMs).map((word) => ({ ...word, confidence, punctuated_word: word.word }))
    channel.send({
      type: 'Results',
      channel_index: [0, 1],
      duration: (endMs - startMs) / 1000,
      start: startMs / 1000,
      is_final: final,
      speech_final: speechFinal,
      channel: { alternatives: [{ transcript: text, confidence, words, ...languages }] },
      metadata: { request_id: requestId, model_info: { name: 'general-nova-3', version: 'double', arch: 'nova-3' } },
      from_finalize: false,
    })
  }
  return (event) => {
    switch (event.type) {
      case 'start':
        return channel.send({ type: 'SpeechStarted', channel: [0], timestamp: event.atMs / 1000 })
      case 'interim':
        return results(event.text, event.startMs, event.endMs, event.confidence, false, false)
      case 'final':
        return results(event.text, event.startMs, event.endMs, event.confidence, true, false)
      case 'end':
        return results('', event.atMs, event.atMs, 0, true, true)
    }
  }
}

const flux: Tell = (channel, requestId, query) => {
  const isEager = query.has('eager_eot_threshold')
  const languages = query.get('model') === 'flux-general-multi' ? { languages: ['en'] } : {}
  let turn = 0
  let sequence = 0
  let transcript = ''
  const info = (event: string, startMs: number, endMs: number) =>
    channel.send({
      type: 'TurnInfo',
      request_id: requestId,
      sequence_id: sequence++,
      event,
      turn_index: turn,
      audio_window_start: startMs / 1000,
      audio_window_end: endMs / 1000,
      transcript,
      words: wordsOf(transcript, startMs, endMs).map(({ word }) => ({ word, confidence: 0.9 })),
      end_of_turn_confidence: event === 'EndOfTurn' ? 0.9 : 0.1,
      ...languages,
    })
  channel.send({ type: 'Connected', request_id: requestId, sequence_id: sequence++ })
  let startMs = 0
  const heard: string[] = []
  return (event) => {
    switch (event.type) {
      case 'start':
        startMs = event.atMs
        return info('StartOfTurn', startMs, startMs)
      case 'interim':
        transcript = [...heard, event.text].join(' ')
        return info('Update', startMs, event.endMs)
      case 'final':
        heard.push(event.text)
        transcript = heard.join(' ')
        if (isEager) info('EagerEndOfTurn', startMs, event.endMs)
        return
      case 'end':
        transcript = heard.splice(0).join(' ')
        info('EndOfTurn', startMs, event.atMs)
        transcript = ''
        turn++
    }
  }
}

function speak(channel: Channel, url: URL, speech: SpeechWorld) {
  const { searchParams: query } = url
  const rateHz = Number(query.get('sample_rate'))
  const requestId = randomUUID()
  channel.send({ type: 'Metadata', request_id: requestId, model_name: query.get('model'), model_version: 'double' })
  let sequence = 0
  channel.onMessage(async (data) => {
    const { type, text = '' } = JSON.parse(String(data)) as { type: string; text?: string }
    const { fault } = channel
    if (fault?.kind === 'error') {
      channel.send({ type: 'Error', description: fault.message, code: fault.code, err_msg: fault.message })
      return channel.close(1011, fault.code)
    }
    switch (type) {
      case 'Speak':
        if (text.length > MAX_SPEAK_CHARS) {
          return channel.send({
            type: 'Error',
            description: 'Input text exceeds maximum character limit',
            code: 'DATA-0001',
          })
        }
        for await (const samples of speech.speak(text, rateHz, channel.signal)) channel.send(bytesOf(samples))
        return
      case 'Flush':
        return channel.send({ type: 'Flushed', sequence_id: sequence++ })
      case 'Clear':
        return channel.send({ type: 'Cleared', sequence_id: sequence++ })
      case 'Close':
        return channel.close(1000)
      default:
        return channel.send({ type: 'Warning', description: `Unknown message type ${type}`, code: 'INVALID_MESSAGE' })
    }
  })
}
