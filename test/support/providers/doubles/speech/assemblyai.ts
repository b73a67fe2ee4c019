import { randomUUID } from 'node:crypto'
import { type Channel, type Double, json, startDouble } from '../server.ts'
import { type SpeechWorld, samplesOf, wordsOf } from './speech.ts'

/**
 * AssemblyAI's streaming API, version 3, as assemblyai.com/docs/api-reference/streaming-api describes it, as far as Patchbay uses
 * it: recognition turn by turn, and temporary tokens.
 */
export interface AssemblyAIDoubleOptions {
  key: string
  speech: SpeechWorld
}

export function startAssemblyAIDouble({ key, speech }: AssemblyAIDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: ({ headers }) =>
      headers.authorization === key ? undefined : { status: 401, body: errorBody(401, undefined, 'Unauthorized') },
    errorBody,
    http: {
      'GET /v3/token': ({ response, url }) => {
        const seconds = Number(url.searchParams.get('expires_in_seconds'))
        if (!(seconds >= 1 && seconds <= 600)) {
          return json(response, 400, errorBody(400, undefined, 'expires_in_seconds must be between 1 and 600'))
        }
        json(response, 200, { token: randomUUID(), expires_in_seconds: seconds })
      },
    },
    sockets: { '/v3/ws': (channel, url) => listen(channel, url, speech) },
  })
}

const WORDS: Readonly<Record<number, string>> = {
  402: 'Insufficient account balance. Add credit to go on.',
  429: 'Too many concurrent sessions',
  500: 'Server error',
  503: 'Service unavailable',
}

function errorBody(status: number, code?: string, message?: string): object {
  return { error: code === 'insufficient_quota' ? 'Insufficient funds' : (message ?? WORDS[status] ?? 'Bad request') }
}

const QUERY = new Set([
  ...[
    'sample_rate',
    'encoding',
    'speech_model',
    'format_turns',
    'keyterms_prompt',
    'language_detection',
    'language_codes',
    'token',
  ],
  ...[
    'end_of_turn_confidence_threshold',
    'min_turn_silence',
    'max_turn_silence',
    'vad_threshold',
    'inactivity_timeout',
  ],
])
/** npm assemblyai 4.41.5. */
const MODELS = [
  ...['universal-streaming-english', 'universal-streaming-multilingual', 'u3-rt-pro'],
  ...['universal-3-5-pro', 'universal-3-6-pro'],
]
/** Of one message, in milliseconds of audio. */
const MIN_CHUNK_MS = 50
const MAX_CHUNK_MS = 1_000

function faultOf({ searchParams: query }: URL): string | undefined {
  const stranger = [...query.keys()].find((name) => !QUERY.has(name))
  if (stranger !== undefined) return `Unknown parameter: ${stranger}`
  if (query.has('language_codes') && !query.get('speech_model')?.startsWith('universal-3'))
    return 'language_codes is not supported'
  if (!MODELS.includes(query.get('speech_model') ?? '')) return 'speech_model is required'
  if (query.has('format_turns') && query.get('speech_model') === 'u3-rt-pro') return 'format_turns is not supported'
  if (query.get('encoding') !== 'pcm_s16le') return 'encoding must be pcm_s16le'
  if (!(Number(query.get('sample_rate')) >= 8_000)) return 'sample_rate must be at least 8000'
  const terms = JSON.parse(query.get('keyterms_prompt') ?? '[]') as unknown
  if (!Array.isArray(terms) || terms.length > 100 || terms.some((term) => String(term).length > 50)) {
    return 'keyterms_prompt takes at most 100 terms of at most 50 characters'
  }
  return undefined
}

function listen(channel: Channel, url: URL, speech: SpeechWorld) {
  const { searchParams: query } = url
  const refuse = (code: number, error: string) => {
    channel.send({ type: 'Error', error_code: code, error })
    channel.close(code, error.slice(0, 100))
  }
  const wrong = faultOf(url)
  if (wrong !== undefined) return refuse(3006, wrong)
  const rateHz = Number(query.get('sample_rate'))
  // Of some models every word is formatted; of the others an end of turn is told again once its words are.
  const isFormatted = query.get('speech_model') === 'u3-rt-pro'
  const formats = query.get('format_turns') === 'true'
  let turn_order = 0
  let givenMs = 0
  let wasShort = false
  channel.send({ type: 'Begin', id: randomUUID(), expires_at: Math.floor(Date.now() / 1000) + 3_600 })
  const listener = speech.listen(rateHz, 200, (event) => {
    if (event.type === 'start') return channel.send({ type: 'SpeechStarted', timestamp: event.atMs })
    if (event.type === 'end') return
    const { text, startMs, endMs } = event
    const isFinal = event.type === 'final'
    const plain = text.toLowerCase().replace(/[^\p{L}\p{N}\s']/gu, '')
    const words = (said: string) =>
      wordsOf(said, startMs, endMs).map(({ word, start, end }) => ({
        text: word,
        start: Math.round(start * 1000),
        end: Math.round(end * 1000),
        confidence: 0.9,
        word_is_final: isFinal,
      }))
    const turn = (transcript: string, end_of_turn: boolean, turn_is_formatted: boolean) =>
      channel.send({
        type: 'Turn',
        turn_order,
        turn_is_formatted,
        end_of_turn,
        transcript: end_of_turn ? transcript : '',
        end_of_turn_confidence: end_of_turn ? 0.8 : 0.1,
        words: words(transcript),
        utterance: end_of_turn ? transcript : '',
      })
    turn(isFormatted ? text : plain, isFinal, isFormatted)
    if (!isFinal) return
    if (formats) turn(text, true, true)
    turn_order++
  })
  channel.onMessage((data, isBinary) => {
    const { fault } = channel
    if (fault?.kind === 'error') return refuse(fault.status === 402 ? 4002 : 3005, fault.message)
    if (isBinary) {
      const ms = (data.length / 2 / rateHz) * 1000
      // The last piece of all may be short.
      if (wasShort || ms > MAX_CHUNK_MS) return refuse(3007, `Input duration violation: ${ms} ms.`)
      wasShort = ms < MIN_CHUNK_MS
      givenMs += ms
      return listener.push(samplesOf(data))
    }
    const { type } = JSON.parse(String(data)) as { type: string }
    if (type === 'ForceEndpoint') return listener.flush()
    if (type !== 'Terminate') return refuse(3006, `Unknown message type ${type}`)
    listener.flush()
    const seconds = Math.round(givenMs / 1000)
    channel.send({ type: 'Termination', audio_duration_seconds: seconds, session_duration_seconds: seconds })
    channel.close(1000)
  })
}
