import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../../../../../plugins/offline/answer.ts'
import { type Double, type Exchange, json, startDouble } from '../server.ts'
import { bytesOf, type SpeechWorld, samplesOf } from '../speech/speech.ts'
import { isSwitchedOff } from './last-days.ts'
import { type ConversationOptions, openaiConversation } from './openai-conversation.ts'
import { openaiTranscription } from './openai-transcription.ts'

/**
 * OpenAI's HTTP API as platform.openai.com/docs/api-reference describes it, as far as Patchbay uses it: chat completions
 * streamed as server-sent events with tool calls and usage, speech, transcriptions, embeddings, models, and sessions
 * of the Realtime API. Models, fields and what is refused: npm openai 7.57.0 (2026-11-13).
 */
export interface OpenAIDoubleOptions {
  key: string
  speech: SpeechWorld
  models?: readonly string[]
  /** Models whose last day is over are refused; `YYYY-MM-DD`. */
  today?: string
  /** How its sessions of speech to speech behave. */
  conversation?: ConversationOptions
}

const MODELS = [
  ...['gpt-6-luna', 'gpt-6-sol', 'gpt-6.1-terra', 'gpt-5.6-luna', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-5.2', 'gpt-5.1'],
  ...['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano'],
  ...[
    'gpt-transcribe',
    'gpt-live-transcribe',
    'gpt-4o-transcribe',
    'gpt-4o-mini-transcribe',
    'whisper-1',
    'gpt-4o-mini-tts',
    'tts-1',
  ],
  ...['text-embedding-3-small', 'text-embedding-3-large'],
]
const VOICES = [
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'marin',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]
const SPEECH_RATE_HZ = 24_000
const SPEECH_MODELS = new Set(['gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'])
const SPEECH_FIELDS = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'])
const TRANSCRIPTION_FIELDS = new Set([
  ...['file', 'model', 'language', 'prompt', 'response_format', 'temperature', 'stream', 'chunking_strategy'],
  ...['include[]', 'timestamp_granularities[]', 'known_speaker_names[]'],
])
/** Which gpt-transcribe alone takes. */
const LISTS = new Set(['languages[]', 'keywords[]'])
/** Seconds of audio at least. */
const SHORTEST_AUDIO_S = 0.1
const WAV_HEADER_BYTES = 44
const MAX_INPUT_CHARS = 4_096
const DIMENSIONS: Readonly<Record<string, number>> = { 'text-embedding-3-small': 1536, 'text-embedding-3-large': 3072 }

export function startOpenAIDouble(options: OpenAIDoubleOptions): Promise<Double> {
  const { key, speech, today } = options
  const models = (options.models ?? MODELS).filter((model) => !isSwitchedOff(model, today))
  return startDouble({
    refuse: (request) => refusalOf(request, key),
    errorBody,
    http: {
      'GET /v1/models': ({ response }) =>
        json(response, 200, {
          object: 'list',
          data: models.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' })),
        }),
      'POST /v1/chat/completions': (exchange) => completions(exchange, models),
      'POST /v1/audio/speech': (exchange) => speak(exchange, speech),
      'POST /v1/audio/transcriptions': (exchange) => transcribe(exchange, speech),
      'POST /v1/embeddings': embed,
    },
    sockets: {
      '/v1/realtime': (channel, url) =>
        url.searchParams.get('intent') === 'transcription'
          ? openaiTranscription(channel, speech)
          : openaiConversation(channel, url, options.conversation ?? { speech }),
    },
  })
}

function refusalOf(request: IncomingMessage, key: string): { status: number; body: object } | undefined {
  const given = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
  if (given === key) return undefined
  const message = given
    ? `Incorrect API key provided: ${given}. You can find your API key at https://platform.openai.com/account/api-keys.`
    : "You didn't provide an API key."
  return { status: 401, body: errorBody(401, 'invalid_api_key', message) }
}

const WORDS: Readonly<Record<number, [type: string, code: string | null, message: string]>> = {
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  403: ['invalid_request_error', 'unsupported_country_region_territory', 'Country, region, or territory not supported'],
  429: [
    'requests',
    'rate_limit_exceeded',
    'Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1.',
  ],
  500: ['server_error', null, 'The server had an error while processing your request. Sorry about that!'],
  503: ['server_error', null, 'That model is currently overloaded with other requests.'],
}

function errorBody(status: number, code?: string, message?: string): object {
  const [type, ownCode, words] = WORDS[status] ?? ['invalid_request_error', null, 'Bad request']
  const isQuota = code === 'insufficient_quota'
  const text = isQuota
    ? 'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs.'
    : (message ?? words)
  return { error: { message: text, type: isQuota ? 'insufficient_quota' : type, param: null, code: code ?? ownCode } }
}

/** What the API refuses of a chat completion, in its own words; undefined when it is taken. */
function refusalOfChat(asked: ChatRequest): object | undefined {
  const refuse = (message: string, param: string | null, code: string | null) => ({
    error: { message, type: 'invalid_request_error', param, code },
  })
  const stranger = Object.keys(asked).find((field) => !CHAT_FIELDS.has(field))
  if (stranger !== undefined) return refuse(`Unrecognized request argument supplied: ${stranger}`, null, null)
  if (asked.messages === undefined)
    return refuse("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter')
  for (const field of ['messages', 'tools'] as const) {
    if (asked[field]?.length !== 0) continue
    const message = `Invalid '${field}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
    return refuse(message, field, 'empty_array')
  }
  if (asked.tool_choice !== undefined && asked.tools === undefined) {
    return refuse(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
      null,
    )
  }
  if (asked.parallel_tool_calls !== undefined && asked.tools === undefined) {
    return refuse(
      "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
      'parallel_tool_calls',
      null,
    )
  }
  if (asked.stream_options !== undefined && asked.stream !== true) {
    return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options', null)
  }
  const { temperature } = asked
  if (temperature !== undefined && temperature > 2) {
    const message = `Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got ${temperature} instead.`
    return refuse(message, 'temperature', 'decimal_above_max_value')
  }
  const wrongEffort = faultOfEffort(asked)
  if (wrongEffort !== undefined) return refuse(wrongEffort, 'reasoning_effort', 'unsupported_value')
  if (temperature !== undefined && temperature !== 1 && reasons(asked)) {
    const message = `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`
    return refuse(message, 'temperature', 'unsupported_value')
  }
  const roleless = asked.messages.findIndex(({ role }) => !ROLES.has(role))
  if (roleless >= 0) {
    const { role } = asked.messages[roleless]!
    const message = `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`
    return refuse(message, `messages[${roleless}].role`, 'invalid_value')
  }
  return strayToolAnswer(asked.messages, refuse)
}

/** A tool's answer must follow the message that called it. */
function strayToolAnswer(
  messages: NonNullable<ChatRequest['messages']>,
  refuse: (message: string, param: string, code: null) => object,
): object | undefined {
  const called = new Set<string>()
  for (const [i, { role, tool_call_id, tool_calls = [] }] of messages.entries()) {
    for (const { id } of tool_calls) called.add(id)
    if (role !== 'tool' || called.has(tool_call_id ?? '')) continue
    const message =
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    return refuse(message, `messages.[${i}].role`, null)
  }
  return undefined
}

/** What each family takes; those of other names don't reason, and refuse the field. */
function effortsOf(model: string): readonly string[] | undefined {
  if (/^gpt-5(-mini|-nano)?$/.test(model)) return ['minimal', 'low', 'medium', 'high']
  if (/^gpt-(5\.\d|[6-9])/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh', 'max']
  return undefined
}

/** Without the field models reason, those of 5.1 to 5.4 aside. */
function reasons({ model = '', reasoning_effort }: ChatRequest): boolean {
  if (effortsOf(model) === undefined) return false
  return (reasoning_effort ?? (/^gpt-5\.[1-4]/.test(model) ? 'none' : 'medium')) !== 'none'
}

function faultOfEffort(asked: ChatRequest): string | undefined {
  const { model = '', reasoning_effort: effort, tools } = asked
  const efforts = effortsOf(model)
  if (effort !== undefined && efforts === undefined) return 'Unrecognized request argument supplied: reasoning_effort'
  if (effort !== undefined && !efforts?.includes(effort)) {
    return `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model.`
  }
  if (tools !== undefined && /^gpt-(5\.[4-9]|[6-9])/.test(model) && reasons(asked)) {
    return `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
  }
  return undefined
}

const ROLES = new Set(['system', 'assistant', 'user', 'function', 'tool', 'developer'])
const CHAT_FIELDS = new Set(
  (
    'model messages stream stream_options tools tool_choice parallel_tool_calls temperature top_p n stop max_tokens ' +
    'max_completion_tokens presence_penalty frequency_penalty logit_bias logprobs top_logprobs user seed response_format ' +
    'reasoning_effort verbosity store metadata service_tier prediction modalities audio web_search_options ' +
    'prompt_cache_key safety_identifier prompt_cache_retention'
  ).split(' '),
)

interface ChatRequest {
  model?: string
  messages?: {
    role: string
    content?: string | { type: string; text?: string }[]
    tool_call_id?: string
    tool_calls?: { id: string }[]
  }[]
  temperature?: number
  reasoning_effort?: string
  tool_choice?: unknown
  parallel_tool_calls?: boolean
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  tools?: { type: string; function: { name: string } }[]
}

async function completions({ response, body, fault, request }: Exchange, models: readonly string[]): Promise<void> {
  const asked = JSON.parse(String(body)) as ChatRequest
  const { model = '', messages = [], tools = [] } = asked
  if (!models.includes(model)) {
    const words = `The model \`${model}\` does not exist or you do not have access to it.`
    return json(response, 404, errorBody(404, 'model_not_found', words))
  }
  const refused = refusalOfChat(asked)
  if (refused !== undefined) return json(response, 400, refused)
  const texts = messages.map(({ role, content = '' }) => ({ role, text: textOf(content) }))
  const last = texts.at(-1)
  const tool = last?.role === 'user' && /use the tool/i.test(last.text) ? tools[0] : undefined
  const reply =
    last?.role === 'tool'
      ? `The tool said: ${last.text}`
      : answer({
          sources: texts.filter(({ role }) => role === 'system' || role === 'developer').map(({ text }) => text),
          turns: texts.flatMap(({ role, text }) => (role === 'user' || role === 'assistant' ? [{ role, text }] : [])),
        })
  const deltas: object[] = tool
    ? toolDeltas(tool.function.name)
    : (reply.match(/\s*\S+/g) ?? []).map((content) => ({ content }))
  const usage = usageOf(texts.map(({ text }) => text).join(' '), reply)
  const id = `chatcmpl-${randomUUID()}`
  const head = {
    id,
    created: Math.floor(Date.now() / 1000),
    model,
    system_fingerprint: 'fp_double',
    service_tier: 'default',
  }
  if (asked.stream !== true) {
    const choice = { index: 0, message: { role: 'assistant', content: reply }, logprobs: null, finish_reason: 'stop' }
    return json(response, 200, { ...head, object: 'chat.completion', choices: [choice], usage })
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': `req_${randomUUID()}` })
  let sent = 0
  const event = (choices: object[], extra: object = {}) => {
    if (fault?.kind === 'disconnect' && sent >= fault.after) return void request.socket.destroy()
    if (fault?.kind === 'malformed' && sent > 0 && sent <= fault.count) response.write('data: {"id": "chatc\n\n')
    sent++
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...extra })}\n\n`)
  }
  const nothingUsed = asked.stream_options?.include_usage ? { usage: null } : {}
  const choice = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason },
  ]
  event(choice({ role: 'assistant', content: tool ? null : '', refusal: null }), nothingUsed)
  for (const delta of deltas) {
    if (response.destroyed) return
    event(choice(delta), nothingUsed)
    await sleep(1)
  }
  event(choice({}, tool ? 'tool_calls' : 'stop'), nothingUsed)
  if (asked.stream_options?.include_usage) event([], { usage })
  response.end('data: [DONE]\n\n')
}

function textOf(content: string | { text?: string }[] | null): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(' ')
}

function toolDeltas(name: string): object[] {
  const call = { index: 0, id: `call_${randomUUID()}`, type: 'function', function: { name, arguments: '' } }
  const parts = ['{"', 'city', '":"', 'Paris', '"}'].map((text) => ({ index: 0, function: { arguments: text } }))
  return [call, ...parts].map((part) => ({ tool_calls: [part] }))
}

function usageOf(prompt: string, completion: string): object {
  const prompt_tokens = Math.ceil(prompt.length / 4) + 1
  const completion_tokens = Math.ceil(completion.length / 4) + 1
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}

async function speak({ response, request, body, fault }: Exchange, speech: SpeechWorld): Promise<void> {
  const asked = JSON.parse(String(body)) as Record<string, string>
  const { model = '', input = '', voice = '', response_format } = asked
  const stranger = Object.keys(asked).find((field) => !SPEECH_FIELDS.has(field))
  if (stranger !== undefined) return json(response, 400, errorBody(400, undefined, `Unknown parameter: '${stranger}'.`))
  if (!SPEECH_MODELS.has(model)) {
    const words = `The model \`${model}\` does not exist or you do not have access to it.`
    return json(response, 404, errorBody(404, 'model_not_found', words))
  }
  if (input.trim() === '' || input.length > MAX_INPUT_CHARS) {
    const [type, msg] =
      input.trim() === ''
        ? ['string_too_short', 'String should have at least 1 character']
        : ['string_too_long', `String should have at most ${MAX_INPUT_CHARS} characters`]
    const words = `[{'type': '${type}', 'loc': ('body', 'input'), 'msg': '${msg}', 'input': ''}]`
    return json(response, 400, errorBody(400, undefined, words))
  }
  const speed = asked.speed === undefined ? 1 : Number(asked.speed)
  if (!(speed >= 0.25 && speed <= 4)) {
    return json(response, 400, errorBody(400, undefined, "Invalid 'speed': it must be between 0.25 and 4."))
  }
  if (!VOICES.includes(voice)) {
    return json(response, 400, errorBody(400, 'invalid_value', `Invalid value: '${voice}'. Supported voices are …`))
  }
  if (response_format !== 'pcm')
    return json(response, 400, errorBody(400, 'invalid_value', 'The double speaks pcm only'))
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'audio/pcm', 'transfer-encoding': 'chunked' })
  let sent = 0
  for await (const samples of speech.speak(input, SPEECH_RATE_HZ, gone.signal)) {
    if (fault?.kind === 'disconnect' && sent++ >= fault.after) return void request.socket.destroy()
    // Cut at an odd byte now and then, as a network does.
    const bytes = bytesOf(samples)
    response.write(bytes.subarray(0, bytes.length - 1))
    response.write(bytes.subarray(bytes.length - 1))
  }
  response.end()
}

async function transcribe({ request, response, body, fault }: Exchange, speech: SpeechWorld): Promise<void> {
  if (fault?.kind === 'disconnect') return void request.socket.destroy()
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': request.headers['content-type'] ?? '' },
  }).formData()
  const file = form.get('file')
  if (!(file instanceof File))
    return json(response, 400, errorBody(400, undefined, "Missing required parameter: 'file'."))
  const takesLists = String(form.get('model')).startsWith('gpt-transcribe')
  const stranger = [...form.keys()].find(
    (field) => !TRANSCRIPTION_FIELDS.has(field) && !(takesLists && LISTS.has(field)),
  )
  if (stranger !== undefined) return json(response, 400, errorBody(400, undefined, `Unknown parameter: '${stranger}'.`))
  const language = form.get('language')
  if (language !== null && !/^[a-z]{2,3}$/.test(String(language))) {
    const words = `Invalid language '${language}'. Language parameter must be specified in ISO-639-1 format.`
    return json(response, 400, errorBody(400, 'invalid_language_format', words))
  }
  const wav = Buffer.from(await file.arrayBuffer())
  if (wav.toString('latin1', 0, 4) !== 'RIFF') {
    return json(response, 400, errorBody(400, 'invalid_value', 'Audio file might be corrupted or unsupported'))
  }
  const heard: string[] = []
  const rateHz = wav.readUInt32LE(24)
  const samples = samplesOf(wav.subarray(WAV_HEADER_BYTES))
  if (samples.length / rateHz < SHORTEST_AUDIO_S) {
    const words = `Audio file is too short. Minimum audio length is ${SHORTEST_AUDIO_S} seconds.`
    return json(response, 400, errorBody(400, 'audio_too_short', words))
  }
  const listener = speech.listen(rateHz, 200, (event) => void (event.type === 'final' && heard.push(event.text)))
  listener.push(samples)
  listener.push(new Int16Array(rateHz))
  listener.flush()
  json(response, 200, {
    text: heard.join(' '),
    usage: { type: 'duration', seconds: Math.ceil(samples.length / rateHz) },
  })
}

function embed({ response, body }: Exchange) {
  const asked = JSON.parse(String(body)) as {
    model?: string
    input?: string | string[]
    dimensions?: number
    encoding_format?: string
  }
  const { model = '', input = [], dimensions = DIMENSIONS[model], encoding_format } = asked
  const texts = typeof input === 'string' ? [input] : input
  if (dimensions === undefined) return json(response, 404, errorBody(404, 'model_not_found', `No model \`${model}\``))
  if (texts.length === 0 || texts.length > 2048 || texts.includes('')) {
    return json(response, 400, errorBody(400, undefined, "'$.input' is invalid. Please check the API reference."))
  }
  const data = texts.map((text, index) => {
    const vector = hashedVector(text, dimensions)
    const bytes = Buffer.from(vector.buffer)
    return {
      object: 'embedding',
      index,
      embedding: encoding_format === 'base64' ? bytes.toString('base64') : [...vector],
    }
  })
  const tokens = texts.join(' ').split(/\s+/).length
  json(response, 200, { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

/** A unit vector in which texts that share words lie near each other. */
function hashedVector(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  const vector = new Float32Array(dimensions)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    let hash = 2_166_136_261
    for (const char of word) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0
    const at = hash % dimensions
    vector[at] = (vector[at] ?? 0) + 1
  }
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
