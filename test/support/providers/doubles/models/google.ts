import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../../../../../plugins/offline/answer.ts'
import { type Double, type Exchange, json, startDouble } from '../server.ts'
import { bytesOf, type SpeechWorld } from '../speech/speech.ts'
import { googleLive, type LiveOptions } from './google-live.ts'

/** The Gemini API as ai.google.dev/api describes it, as far as Patchbay uses it: streamed content with tools, and speech. */
export interface GoogleDoubleOptions {
  key: string
  speech: SpeechWorld
  live?: LiveOptions
}

/** npm @google/genai 3.3.0. */
const MODELS = [
  ...['gemini-3.5-flash-lite', 'gemini-3.6-flash', 'gemini-3.8-flash', 'gemini-2.5-flash', 'gemini-2.5-pro'],
  ...['gemini-flash-latest'],
]
const SPEECH_MODELS = ['gemini-3.8-flash-lite-tts', 'gemini-3.8-flash-tts']

const LIVE = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'

export function startGoogleDouble({ key, speech, live = { speech } }: GoogleDoubleOptions): Promise<Double> {
  const path = (model: string) => `POST /v1beta/models/${model}:streamGenerateContent`
  return startDouble({
    refuse: ({ headers, url }) =>
      headers['x-goog-api-key'] === key || url === LIVE
        ? undefined
        : { status: 400, body: errorBody(400, 'API_KEY_INVALID', 'API key not valid. Please pass a valid API key.') },
    errorBody,
    http: {
      'GET /v1beta/models': ({ response }) =>
        json(response, 200, { models: MODELS.map((name) => ({ name: `models/${name}` })) }),
      ...Object.fromEntries(MODELS.map((model) => [path(model), generate])),
      ...Object.fromEntries(
        SPEECH_MODELS.map((model) => [path(model), (exchange: Exchange) => speak(exchange, speech)]),
      ),
    },
    sockets: {
      [LIVE]: (channel, _url, { headers }) => googleLive(channel, headers['x-goog-api-key'] === key, live),
    },
  })
}

const STATUSES: Readonly<Record<number, [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  402: ['FAILED_PRECONDITION', 'Please enable billing on your project.'],
  404: ['NOT_FOUND', 'The model is not found for API version v1beta.'],
  429: [
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota. Quota exceeded for metric: generate_requests_per_minute.',
  ],
  500: ['INTERNAL', 'An internal error has occurred.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [name, words] = STATUSES[status] ?? ['INVALID_ARGUMENT', 'Bad request']
  const isDaily = code === 'insufficient_quota'
  const details =
    status === 429 && !isDaily
      ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }]
      : code === 'API_KEY_INVALID'
        ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code }]
        : []
  return { error: { code: status, message: message ?? words, status: name, details } }
}

interface Part {
  text?: string
  functionCall?: { id?: string; name?: string }
  functionResponse?: { id?: string; name?: string; response?: { output?: string } }
  thoughtSignature?: string
}

interface GenerateRequest {
  contents?: { role?: string; parts?: Part[] }[]
  systemInstruction?: { parts?: Part[] }
  tools?: { functionDeclarations?: { name: string; parametersJsonSchema?: { type?: string } }[] }[]
  store?: boolean
  generationConfig?: {
    thinkingConfig?: { thinkingBudget?: number; thinkingLevel?: string }
    temperature?: number
    responseModalities?: string[]
    speechConfig?: VoiceChoice
  }
}
interface VoiceChoice {
  voiceConfig?: { prebuiltVoiceConfig?: { voiceName?: string } }
}

const FIELDS = new Set(
  'contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent store'.split(' '),
)

/** What the API refuses of a request, in its own words; undefined when it is taken. */
function faultOf(asked: GenerateRequest, model: string): string | undefined {
  const stranger = Object.keys(asked).find((field) => !FIELDS.has(field))
  if (stranger !== undefined) return `Invalid JSON payload received. Unknown name "${stranger}": Cannot find field.`
  const { contents = [], generationConfig, tools = [] } = asked
  const { thinkingBudget, thinkingLevel } = generationConfig?.thinkingConfig ?? {}
  const isThree = /^gemini-(3|flash-latest)/.test(model)
  if (thinkingBudget !== undefined && isThree)
    return 'thinking_budget is not supported by this model; use thinking_level.'
  if (thinkingLevel !== undefined && !isThree) return 'thinking_level is not supported by this model.'
  if (thinkingLevel === 'MINIMAL' && /3\.[78]/.test(model))
    return 'thinking_level MINIMAL is not supported by this model.'
  if (contents.length === 0) return 'GenerateContentRequest.contents: contents is not specified'
  const { temperature = 1 } = generationConfig ?? {}
  if (temperature < 0 || temperature > 2) return 'temperature must be in the range [0.0, 2.0].'
  if (tools.some(({ functionDeclarations = [] }) => functionDeclarations.length === 0)) {
    return 'GenerateContentRequest.tools[0].function_declarations: must not be empty'
  }
  for (const [at, { role, parts = [] }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    const filled = parts.every(({ text, functionCall, functionResponse }) => text || functionCall || functionResponse)
    if (parts.length === 0 || !filled)
      return `GenerateContentRequest.contents[${at}].parts: must include at least one part`
    const calls = parts.filter(({ functionCall }) => functionCall).length
    const answers = (contents[at + 1]?.parts ?? []).filter(({ functionResponse }) => functionResponse).length
    if (calls !== answers) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    if (calls > 0 && contents[at - 1]?.role !== 'user') {
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    }
    const ids = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.id] : []))
    const answered = (contents[at + 1]?.parts ?? []).flatMap(({ functionResponse }) =>
      functionResponse ? [functionResponse.id] : [],
    )
    if (isThree && ids.join() !== answered.join()) return 'functionResponse.id does not match functionCall.id.'
    if (calls > 0 && !parts.find(({ functionCall }) => functionCall)?.thoughtSignature) {
      return 'Function call is missing a thought_signature in functionCall parts.'
    }
  }
  return undefined
}

const modelOf = ({ pathname }: URL) => /models\/([^:]+):/.exec(pathname)?.[1] ?? ''

let promptNumber = 0

async function generate({ request, response, url, body, fault }: Exchange): Promise<void> {
  const asked = JSON.parse(String(body)) as GenerateRequest
  const refused =
    url.searchParams.get('alt') === 'sse' ? faultOf(asked, modelOf(url)) : 'The double streams server-sent events only'
  if (refused !== undefined) return json(response, 400, errorBody(400, undefined, refused))
  const turns = (asked.contents ?? []).map(({ role, parts = [] }) => ({
    role: role === 'model' ? ('assistant' as const) : ('user' as const),
    text: parts.map(({ text = '' }) => text).join(' '),
  }))
  const last = asked.contents?.at(-1)?.parts ?? []
  const result = last.find(({ functionResponse }) => functionResponse)?.functionResponse
  const tool =
    !result && /use the tool/i.test(turns.at(-1)?.text ?? '') ? asked.tools?.[0]?.functionDeclarations?.[0] : undefined
  const source = (asked.systemInstruction?.parts ?? []).map(({ text = '' }) => text).join(' ')
  const reply = result ? `The tool said: ${result.response?.output}` : answer({ sources: [source], turns })
  const parts: Part[] = tool
    ? [
        {
          functionCall: {
            id: `fc_${promptNumber++}`,
            name: tool.name,
            args: { city: 'Paris' },
          } as Part['functionCall'] & object,
          thoughtSignature: 'c2ln',
        },
      ]
    : (reply.match(/\s*\S+/g) ?? []).map((text) => ({ text }))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const promptTokenCount = Math.ceil(String(body).length / 4)
  for (const [at, part] of parts.entries()) {
    if (fault?.kind === 'disconnect' && at >= fault.after) return void request.socket.destroy()
    if (response.destroyed) return
    const isLast = at === parts.length - 1
    const event = {
      candidates: [
        { content: { parts: [part], role: 'model' }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) },
      ],
      usageMetadata: { promptTokenCount, ...(isLast ? { candidatesTokenCount: Math.ceil(reply.length / 4) + 1 } : {}) },
      modelVersion: 'double',
    }
    response.write(`data: ${JSON.stringify(event)}\r\n\r\n`)
    await sleep(1)
  }
  response.end()
}

async function speak({ request, response, body, fault }: Exchange, speech: SpeechWorld): Promise<void> {
  const { contents, generationConfig } = JSON.parse(String(body)) as GenerateRequest
  const text = contents?.[0]?.parts?.[0]?.text ?? ''
  const voice = generationConfig?.speechConfig?.voiceConfig?.prebuiltVoiceConfig?.voiceName ?? ''
  const isAudio = generationConfig?.responseModalities?.join() === 'AUDIO'
  if (text.trim() === '' || !isAudio || !/^[A-Z][a-z]+$/.test(voice)) {
    return json(response, 400, errorBody(400, undefined, 'The request needs a text, the modality AUDIO and a voice.'))
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let sent = 0
  for await (const samples of speech.speak(text, 24_000, gone.signal)) {
    if (fault?.kind === 'disconnect' && sent++ >= fault.after) return void request.socket.destroy()
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: bytesOf(samples).toString('base64') }
    response.write(
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ inlineData }], role: 'model' } }] })}\r\n\r\n`,
    )
  }
  response.end()
}
