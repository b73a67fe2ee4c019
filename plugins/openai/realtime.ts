import { Buffer } from 'node:buffer'
import type {
  Realtime,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeItem,
  RealtimeServerEvent,
  RealtimeUsage,
} from '../../packages/plugin/realtime.ts'
import { realtimeVoice, reasoningOf } from './realtime-models.ts'
import { transcriptionOf } from './transcription-of.ts'

const SAMPLE_RATE_HZ = 24_000
/** OpenAI's. */
const SESSION_S = 60 * 60
/** Writes what the caller said, where that is wanted: the models that speak write no words of theirs. */
const TRANSCRIBER = 'gpt-transcribe'

interface RawEvent {
  type: string
  item_id?: string
  transcript?: string
  usage?: { type?: string; seconds?: unknown }
  response_id?: string
  delta?: string
  call_id?: string
  name?: string
  arguments?: string
  response?: {
    id?: string
    status?: string
    status_details?: { reason?: string; error?: RawError } | null
    usage?: RawUsage | null
  }
  error?: RawError
}
interface RawError {
  type?: string
  code?: string | null
  message?: string
}
interface RawUsage {
  input_tokens?: unknown
  output_tokens?: unknown
  input_token_details?: {
    audio_tokens?: unknown
    cached_tokens?: unknown
    cached_tokens_details?: { audio_tokens?: unknown }
  }
  output_token_details?: { audio_tokens?: unknown }
}

/** What the agent and the operator chose. */
interface RealtimeChoice {
  model?: string
  voice?: string
  settings: Readonly<Record<string, unknown>>
}

/**
 * Conversations of OpenAI's Realtime API (npm openai 7.59.0, resources/realtime/realtime.d.ts). The server detects no turns: it is
 * told when the caller has spoken and when to answer.
 */
export function openaiRealtime(
  { base, key }: { base: string; key: string },
  { model = 'gpt-realtime-2.1', voice = 'marin', settings }: RealtimeChoice,
): Realtime {
  const url = new URL(`${base.replace(/^http/, 'ws')}/realtime`)
  url.searchParams.set('model', model)
  const speaks = settings.realtimeVoice !== 'own'
  const sessionS = typeof settings.realtimeSessionS === 'number' ? settings.realtimeSessionS : SESSION_S
  const transcriber = typeof settings.realtimeTranscriber === 'string' ? settings.realtimeTranscriber : TRANSCRIBER
  const configure = (config: RealtimeConfig): string =>
    JSON.stringify({ type: 'session.update', session: sessionOf(config, model) })
  const first = (config: RealtimeConfig): string => {
    const output = { format: { type: 'audio/pcm', rate: SAMPLE_RATE_HZ }, voice: realtimeVoice(voice) }
    const { language = 'multi', keyterms = [] } = config.transcribe ?? {}
    const transcription = config.transcribe && { transcription: transcriptionOf(transcriber, language, keyterms) }
    const input = { format: { type: 'audio/pcm', rate: SAMPLE_RATE_HZ }, turn_detection: null, ...transcription }
    const audio = speaks ? { input, output } : { input }
    const session = { ...sessionOf(config, model), output_modalities: [speaks ? 'audio' : 'text'], audio }
    return JSON.stringify({ type: 'session.update', session })
  }
  return {
    capabilities: {
      inputRateHz: SAMPLE_RATE_HZ,
      outputRateHz: SAMPLE_RATE_HZ,
      speaks,
      edits: true,
      maxSessionMs: sessionS * 1000,
    },
    session: (config) => {
      const sound = config.transcribe && new TranscribedSound(transcriber)
      return {
        url: url.href,
        headers: { authorization: `Bearer ${key}` },
        hello: [first(config)],
        parse: (raw) => {
          const event = JSON.parse(raw) as RawEvent
          return [...eventsOf(event), ...(sound?.understood(event) ?? [])]
        },
        serialise(event) {
          if (event.type === 'configure') return [configure(event.config)]
          sound?.told(event)
          return [JSON.stringify(messageOf(event))]
        },
      }
    },
  }
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription'

/** What the transcriber was given to hear, by its items: some of its models are billed by the minute and say tokens. */
class TranscribedSound {
  readonly #model: string
  #samples = 0
  /** Committed, before its item had a name. */
  readonly #unnamed: number[] = []
  readonly #samplesOf = new Map<string, number>()

  constructor(model: string) {
    this.#model = model
  }

  told(event: RealtimeClientEvent): void {
    if (event.type === 'audio') this.#samples += event.samples.length
    if (event.type === 'commit') this.#unnamed.push(this.#samples)
    if (event.type === 'commit' || event.type === 'clear') this.#samples = 0
  }

  understood({ type, item_id: itemId = '', transcript: text = '', usage }: RawEvent): RealtimeServerEvent[] {
    if (type === 'input_audio_buffer.committed') this.#samplesOf.set(itemId, this.#unnamed.shift() ?? 0)
    if (type !== `${TRANSCRIPTION}.completed` && type !== `${TRANSCRIPTION}.failed`) return []
    const measured = (this.#samplesOf.get(itemId) ?? 0) / SAMPLE_RATE_HZ
    this.#samplesOf.delete(itemId)
    if (type === `${TRANSCRIPTION}.failed`) return []
    const seconds = usage?.type === 'duration' && typeof usage.seconds === 'number' ? usage.seconds : measured
    return [{ type: 'transcribed', itemId, text, usage: { model: this.#model, seconds } }]
  }
}

function sessionOf({ instructions, tools }: RealtimeConfig, model: string): object {
  return {
    type: 'realtime',
    instructions,
    tools: tools.map((tool) => ({ type: 'function', ...tool })),
    ...reasoningOf(model),
  }
}

function messageOf(event: Exclude<RealtimeClientEvent, { type: 'configure' }>): object {
  switch (event.type) {
    case 'audio':
      return { type: 'input_audio_buffer.append', audio: base64Of(event.samples) }
    case 'commit':
      return { type: 'input_audio_buffer.commit' }
    case 'clear':
      return { type: 'input_audio_buffer.clear' }
    case 'create':
      return { type: 'conversation.item.create', item: itemOf(event.item) }
    case 'delete':
      return { type: 'conversation.item.delete', item_id: event.itemId }
    case 'truncate':
      return {
        type: 'conversation.item.truncate',
        item_id: event.itemId,
        content_index: 0,
        audio_end_ms: event.endMs,
      }
    case 'respond':
      return event.mayCallTools
        ? { type: 'response.create' }
        : { type: 'response.create', response: { tool_choice: 'none' } }
    case 'cancel':
      return { type: 'response.cancel', response_id: event.responseId }
  }
}

function base64Of({ buffer, byteOffset, byteLength }: Int16Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function itemOf(item: RealtimeItem): object {
  const { id, type } = item
  if (item.type === 'function_call_output') return { id, type, call_id: item.callId, output: item.output }
  if (item.type === 'function_call') {
    return { id, type, call_id: item.callId, name: item.name, arguments: item.arguments }
  }
  const content = [{ type: item.role === 'assistant' ? 'output_text' : 'input_text', text: item.text }]
  return { id, type, role: item.role, content }
}

function eventsOf(event: RawEvent): RealtimeServerEvent[] {
  const { item_id: itemId = '', response_id: responseId = '', delta = '' } = event
  switch (event.type) {
    case 'session.updated':
      return [{ type: 'ready' }]
    case 'input_audio_buffer.committed':
      return [{ type: 'committed', itemId }]
    case 'response.created':
      return [{ type: 'response_started', responseId: event.response?.id ?? '' }]
    case 'response.output_audio.delta':
      return [{ type: 'audio', responseId, itemId, bytes: Buffer.from(delta, 'base64') }]
    case 'response.output_audio_transcript.delta':
    case 'response.output_text.delta':
      return [{ type: 'text', responseId, itemId, text: delta }]
    case 'response.function_call_arguments.done': {
      const { call_id: callId = '', name = '', arguments: given = '' } = event
      return [{ type: 'tool_call', responseId, itemId, callId, name, arguments: given }]
    }
    case 'response.done':
      return [doneOf(event.response ?? {})]
    case 'error':
      return errorOf(event.error ?? {})
    default:
      return []
  }
}

function doneOf(response: NonNullable<RawEvent['response']>): RealtimeServerEvent {
  const { id: responseId = '', status, status_details: details, usage } = response
  const base = { type: 'response_done', responseId, ...(usage ? { usage: usageOf(usage) } : {}) } as const
  if (status === 'cancelled' || status === 'completed') return { ...base, status }
  const { reason, error } = details ?? {}
  if (status === 'incomplete') {
    const why = reason === undefined ? {} : { message: reason }
    return { ...base, status, fault: reason === 'content_filter' ? { status: 400, code: reason, ...why } : why }
  }
  return { ...base, status: 'failed', fault: faultOf(error ?? {}) }
}

/** Codes of requests that came too late to matter. */
const HARMLESS = new Set([
  ...['response_cancel_not_active', 'item_not_found'],
  ...['item_truncate_invalid_item_id', 'item_delete_invalid_item_id'],
])
/** Of an answer that holds no more than what is to be kept of it, or no sound yet: such errors have no code, or one of many uses. */
const NOTHING_TO_CUT = /already shorter than|only model output audio messages can be truncated/i

function errorOf(error: RawError): RealtimeServerEvent[] {
  if (HARMLESS.has(error.code ?? '') || NOTHING_TO_CUT.test(error.message ?? '')) return []
  if (error.code === 'conversation_already_has_active_response') return [{ type: 'response_refused' }]
  return [{ type: 'failed', fault: faultOf(error) }]
}

/** What another session would not refuse: one ends after an hour, and one that has lost sound of the caller is behind. */
const OF_THE_SESSION = new Set(['session_expired', 'input_audio_buffer_commit_empty'])

function faultOf({ type, code, message }: RawError): RealtimeFault {
  const isRefusal = type === 'invalid_request_error' && !OF_THE_SESSION.has(code ?? '')
  const named = code ?? type
  return {
    ...(isRefusal ? { status: 400 } : {}),
    ...(named === undefined ? {} : { code: named }),
    ...(message === undefined ? {} : { message }),
  }
}

function usageOf(usage: RawUsage): RealtimeUsage {
  const { input_token_details: input, output_token_details: output } = usage
  const parts = {
    audioInputTokens: tokens(input?.audio_tokens),
    audioOutputTokens: tokens(output?.audio_tokens),
    cachedInputTokens: tokens(input?.cached_tokens),
    cachedAudioTokens: tokens(input?.cached_tokens_details?.audio_tokens),
  }
  const known = Object.fromEntries(Object.entries(parts).filter(([, count]) => count !== undefined))
  return {
    inputTokens: tokens(usage.input_tokens) ?? 0,
    outputTokens: tokens(usage.output_tokens) ?? 0,
    ...known,
    raw: usage as Readonly<Record<string, unknown>>,
  }
}

function tokens(count: unknown): number | undefined {
  return typeof count === 'number' && Number.isFinite(count) ? count : undefined
}
