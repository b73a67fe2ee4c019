import { type Channel, type Double, type Exchange, json, startDouble } from '../server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf } from './speech.ts'

/**
 * Azure's speech service as learn.microsoft.com/azure/ai-services/speech-service and Microsoft's open Speech SDK have it, as far as
 * Patchbay uses it: recognition of conversations over a socket, speech over HTTP, and the list of voices.
 */
export interface AzureDoubleOptions {
  key: string
  speech: SpeechWorld
}

const VOICES = ['en-US-AvaMultilingualNeural', 'de-DE-KatjaNeural']
const TICKS_PER_MS = 10_000

export function startAzureDouble({ key, speech }: AzureDoubleOptions): Promise<Double> {
  return startDouble({
    refuse: ({ headers }) =>
      headers['ocp-apim-subscription-key'] === key
        ? undefined
        : { status: 401, body: errorBody(401, undefined, 'Access denied due to invalid subscription key.') },
    errorBody,
    http: {
      'GET /cognitiveservices/voices/list': ({ response }) =>
        json(
          response,
          200,
          VOICES.map((ShortName) => ({
            ShortName,
            DisplayName: ShortName.slice(6),
            Locale: ShortName.slice(0, 5),
          })) as object,
        ),
      'POST /cognitiveservices/v1': (exchange) => speak(exchange, speech),
    },
    sockets: {
      '/speech/recognition/conversation/cognitiveservices/v1': (channel, url) => listen(channel, url, speech),
      // npm microsoft-cognitiveservices-speech-sdk 1.52.0, SpeechConnectionFactory.js.
      '/stt/speech/universal/v2': (channel, url) => listen(channel, url, speech, true),
    },
  })
}

const WORDS: Readonly<Record<number, string>> = {
  402: 'Payment required',
  429: 'Requests have exceeded call rate limit of your current pricing tier.',
  500: 'Internal server error',
  503: 'Service unavailable',
}

function errorBody(status: number, code?: string, message?: string): object {
  const isQuota = code === 'insufficient_quota'
  const words = isQuota ? 'Out of call volume quota for this tier.' : (message ?? WORDS[status] ?? 'Bad request')
  return { error: { code: code ?? String(status), message: words } }
}

const SSML =
  /^<speak version="1\.0" xmlns="http:\/\/www\.w3\.org\/2001\/10\/synthesis" xml:lang="(?!da-DA|cs-CS|el-EL|he-HE|no-NO|vi-VI|ar-AR|et-ET|ca-CA|sl-SL|ta-TA|uk-UK|hi-HI)[a-z]{2}-[A-Z]{2}"><voice name="([\w-]+)">(.*)<\/voice><\/speak>$/s

async function speak({ request, response, body, fault }: Exchange, speech: SpeechWorld): Promise<void> {
  const { headers } = request
  const [, voice = '', inner = ''] = SSML.exec(String(body)) ?? []
  const fits =
    headers['content-type'] === 'application/ssml+xml' &&
    headers['x-microsoft-outputformat'] === 'raw-24khz-16bit-mono-pcm' &&
    Boolean(headers['user-agent'])
  if (!fits || !VOICES.includes(voice) || /&(?!amp;|lt;|gt;|quot;|apos;)/.test(inner)) {
    return json(response, 400, errorBody(400, undefined, 'The SSML or its headers are not valid'))
  }
  const text = inner
    .replace(/<[^>]*>/g, '')
    .replaceAll('&apos;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'audio/basic' })
  let sent = 0
  for await (const samples of speech.speak(text, 24_000, gone.signal)) {
    if (fault?.kind === 'disconnect' && sent++ >= fault.after) return void request.socket.destroy()
    response.write(bytesOf(samples))
  }
  response.end()
}

const RIFF_BYTES = 44

interface UniversalMessage {
  recognition?: string
  phraseDetection?: { mode?: string; language?: string }
  phraseOutput?: { format?: string }
}

/** Of the universal endpoint, which serves recognition of every kind: what is wanted stands in its messages. */
function faultOfUniversal(path: string, body: string, language: string | null): string | undefined {
  const message = JSON.parse(body) as UniversalMessage
  if (path === 'speech.config') return message.recognition === 'conversation' ? undefined : 'Unknown recognition'
  const { phraseDetection, phraseOutput } = message
  const fits = phraseDetection?.mode === 'Conversation' && phraseDetection.language === language
  return fits && phraseOutput?.format === 'Detailed' ? undefined : 'The speech.context lacks detection or output'
}

/** A phrase list as today's SDK writes it: npm microsoft-cognitiveservices-speech-sdk 1.52.0, ServiceMessages/Dgi. */
function faultOfPhrases(body: string): string | undefined {
  const { dgi } = JSON.parse(body) as { dgi?: { groups?: { type?: string; items?: { text?: string }[] }[] } }
  if (dgi === undefined) return undefined
  const [group] = dgi.groups ?? []
  const fits = group?.type === 'Generic' && group.items?.every(({ text }) => typeof text === 'string')
  return fits ? undefined : 'The speech.context holds an unknown grammar'
}

function listen(channel: Channel, url: URL, speech: SpeechWorld, isUniversal = false) {
  const { searchParams: query } = url
  let requestId = ''
  const tell = (path: string, body: object) =>
    channel.sendText(
      `X-RequestId:${requestId}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`,
    )
  if (!/^[a-z]{2}-[A-Z]{2}$/.test(query.get('language') ?? '') || query.get('format') !== 'detailed') {
    return channel.close(1007, 'Unsupported language or format')
  }
  let listener: Listener | undefined
  let configured = false
  /** Each turn has phrases of its own, or none. */
  let contextFor = ''
  let rateHz = 0
  channel.onMessage((data, isBinary) => {
    const { fault } = channel
    const head = isBinary
      ? data.toString('latin1', 2, 2 + data.readUInt16BE(0))
      : (String(data).split('\r\n\r\n')[0] ?? '')
    const header = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'im').exec(head)?.[1] ?? ''
    requestId = header('X-RequestId')
    const path = header('Path').toLowerCase()
    if (!/^[0-9a-f]{32}$/.test(requestId) || header('X-Timestamp') === '') return channel.close(1002, 'Missing headers')
    const isSetUp = path === 'speech.config' || path === 'speech.context'
    const wrong =
      isUniversal && isSetUp && faultOfUniversal(path, String(data).split('\r\n\r\n')[1] ?? '', query.get('language'))
    if (wrong) return channel.close(1007, wrong)
    if (path === 'speech.config') {
      configured = true
      return
    }
    if (path === 'speech.context') {
      const unknown = faultOfPhrases(String(data).split('\r\n\r\n')[1] ?? '')
      if (unknown !== undefined) return channel.close(1007, unknown)
      contextFor = requestId
      return
    }
    if (path !== 'audio' || !isBinary || !configured) return channel.close(1002, `Unexpected message ${path}`)
    if (fault?.kind === 'error') {
      tell('speech.phrase', { RecognitionStatus: 'Error', Offset: 0, Duration: 0 })
      return channel.close(1011, fault.message)
    }
    let bytes = data.subarray(2 + data.readUInt16BE(0))
    if (listener === undefined) {
      if (bytes.toString('latin1', 0, 4) !== 'RIFF') return channel.close(1007, 'The audio has no header')
      if (contextFor !== requestId) return channel.close(1007, 'The turn has no speech.context')
      rateHz = bytes.readUInt32LE(24)
      bytes = bytes.subarray(RIFF_BYTES)
      tell('turn.start', { context: { serviceTag: 'double' } })
      listener = speech.listen(rateHz, 200, (event) => {
        if (event.type === 'start') return tell('speech.startDetected', { Offset: event.atMs * TICKS_PER_MS })
        if (event.type === 'end') return
        const { text, startMs, endMs } = event
        const times = { Offset: startMs * TICKS_PER_MS, Duration: (endMs - startMs) * TICKS_PER_MS }
        if (event.type === 'interim') return tell('speech.hypothesis', { Id: '1', Text: text.toLowerCase(), ...times })
        tell('speech.phrase', {
          Id: '1',
          RecognitionStatus: 'Success',
          DisplayText: text,
          ...times,
          NBest: [{ Confidence: 0.9, Lexical: text.toLowerCase(), Display: text }],
        })
      })
    }
    if (bytes.length > 0) return listener.push(samplesOf(bytes))
    if (data.length > 2 + data.readUInt16BE(0)) return
    listener.flush()
    listener = undefined
    tell('speech.phrase', { RecognitionStatus: 'EndOfDictation', Offset: 0, Duration: 0 })
    tell('turn.end', {})
  })
}
