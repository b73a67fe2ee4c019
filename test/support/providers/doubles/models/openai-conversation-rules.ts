import { isSwitchedOff } from './last-days.ts'
import { faultOfTranscription, type Transcription } from './openai-transcription-rules.ts'

/** What a conversation of the Realtime API takes and what it refuses: npm openai 7.59.0, resources/realtime/realtime.d.ts. */
export const RATE_HZ = 24_000
const MODELS = ['gpt-realtime', 'gpt-realtime-1.5', 'gpt-realtime-2', 'gpt-realtime-2.1']
const VOICES = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar']
const SESSION_FIELDS = [
  ...['type', 'audio', 'include', 'instructions', 'max_output_tokens', 'model', 'output_modalities'],
  ...['parallel_tool_calls', 'prompt', 'reasoning', 'tool_choice', 'tools', 'tracing', 'truncation'],
]
export const RESPONSE_FIELDS = [
  ...['audio', 'conversation', 'input', 'instructions', 'max_output_tokens', 'metadata', 'output_modalities'],
  ...['parallel_tool_calls', 'prompt', 'reasoning', 'tool_choice', 'tools'],
]
const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'id', 'object', 'role', 'content', 'status'],
  function_call: ['type', 'id', 'object', 'name', 'call_id', 'arguments', 'status'],
  function_call_output: ['type', 'id', 'object', 'call_id', 'output', 'status'],
}
const CONTENT_OF: Readonly<Record<string, readonly string[]>> = {
  system: ['input_text'],
  user: ['input_text', 'input_audio', 'input_image'],
  assistant: ['output_text', 'output_audio'],
}

export interface Content {
  type: string
  text?: string
  transcript?: string
}
export interface Item {
  id: string
  type: string
  role?: string
  content?: Content[]
  name?: string
  call_id?: string
  arguments?: string
  output?: string
  status?: string
  /** Of the double: what was said in it, in milliseconds. */
  audioMs?: number
}
export interface Session {
  type?: string
  instructions?: string
  output_modalities?: string[]
  reasoning?: { effort?: string }
  tools?: { type: string; name: string; parameters?: { properties?: object } }[]
  audio?: {
    input?: { format?: { type?: string; rate?: number }; turn_detection?: object | null; transcription?: Transcription }
    output?: { format?: { type?: string; rate?: number }; voice?: string; speed?: number }
  }
}
export interface ResponseRequest extends Omit<Session, 'audio'> {
  conversation?: string
  metadata?: object
  input?: Item[]
}
export interface ClientEvent {
  type: string
  event_id?: string
  session?: Session
  audio?: string
  item?: Item
  item_id?: string
  previous_item_id?: string
  content_index?: number
  audio_end_ms?: number
  response?: ResponseRequest
  response_id?: string
}
/** Code, words, and the field. */
export type Refusal = [code: string | null, message: string, param?: string]

export const stranger = (value: object | undefined, known: readonly string[], at: string): Refusal | undefined => {
  const name = Object.keys(value ?? {}).find((field) => !known.includes(field))
  return name === undefined ? undefined : ['unknown_parameter', `Unknown parameter: '${at}.${name}'.`, `${at}.${name}`]
}

export function faultOfSession(session: Session, model: string, voice: string | undefined): Refusal | undefined {
  const { audio, output_modalities: modalities, reasoning } = session
  const unknown =
    stranger(session, SESSION_FIELDS, 'session') ??
    stranger(audio, ['input', 'output'], 'session.audio') ??
    stranger(audio?.input, ['format', 'noise_reduction', 'transcription', 'turn_detection'], 'session.audio.input') ??
    stranger(audio?.output, ['format', 'speed', 'voice'], 'session.audio.output')
  if (unknown !== undefined) return unknown
  if (session.type !== 'realtime') {
    return ['invalid_value', `Invalid value: '${session.type}'. Supported values are: 'realtime'.`, 'session.type']
  }
  const tool = session.tools?.find(({ parameters }) => parameters?.properties === undefined)
  if (tool !== undefined) {
    const words = `Invalid schema for function '${tool.name}': In context=(), object schema missing properties.`
    return ['invalid_function_parameters', words, 'session.tools']
  }
  if (audio?.input !== undefined && audio.input.turn_detection !== null) {
    return ['invalid_value', 'The double detects no turns: turn_detection must be null.', 'session.audio.input']
  }
  const { transcription, turn_detection } = audio?.input ?? {}
  const untranscribed = transcription && faultOfTranscription(transcription, turn_detection)
  if (untranscribed !== undefined) return untranscribed
  if (reasoning !== undefined && !/^gpt-realtime-[2-9]/.test(model)) {
    return ['unsupported_parameter', `Unsupported parameter: 'reasoning' is not supported with '${model}'.`]
  }
  for (const format of [audio?.input?.format, audio?.output?.format]) {
    if (format !== undefined && (format.type !== 'audio/pcm' || format.rate !== RATE_HZ)) {
      return ['invalid_value', `Invalid value: '${format.rate}'. Supported values are: ${RATE_HZ}.`]
    }
  }
  const wanted = audio?.output?.voice
  if (wanted !== undefined && !VOICES.includes(wanted)) {
    return ['invalid_value', `Invalid value: '${wanted}'. Supported values are: '${VOICES.join("', '")}'.`]
  }
  if (wanted !== undefined && voice !== undefined && wanted !== voice) {
    return ['cannot_update_voice', 'Cannot update a conversation’s voice if assistant audio is present.']
  }
  const speed = audio?.output?.speed ?? 1
  if (!(speed >= 0.25 && speed <= 1.5)) {
    return ['decimal_out_of_range', `Invalid 'session.audio.output.speed': ${speed} is not between 0.25 and 1.5.`]
  }
  return faultOfModalities(modalities)
}

export function faultOfModalities(modalities: readonly string[] = ['audio']): Refusal | undefined {
  if (modalities.length === 1 && /^(audio|text)$/.test(modalities[0]!)) return undefined
  return ['invalid_value', `Invalid modalities: ${JSON.stringify(modalities)}. Supported are: ["text"] and ["audio"].`]
}

export function faultOfItem(item: Item | undefined, calls: ReadonlySet<string>): Refusal | undefined {
  const known = ITEM_FIELDS[item?.type ?? '']
  if (item === undefined || known === undefined)
    return ['invalid_value', `Invalid value: '${item?.type}'.`, 'item.type']
  const unknown = stranger(item, known, 'item')
  if (unknown !== undefined) return unknown
  if (item.id !== undefined && item.id.length > 32) {
    const words = `Invalid 'item.id': string too long. Expected a string with maximum length 32, but got ${item.id.length}.`
    return ['string_above_max_length', words, 'item.id']
  }
  if (item.type === 'function_call_output' && !calls.has(item.call_id ?? '')) {
    return ['invalid_tool_call_id', `Tool call ID '${item.call_id}' not found in conversation.`, 'item.call_id']
  }
  if (item.type !== 'message') return undefined
  const allowed = CONTENT_OF[item.role ?? '']
  if (allowed === undefined) return ['invalid_value', `Invalid value: '${item.role}'.`, 'item.role']
  const wrong = item.content?.find(({ type }) => !allowed.includes(type) || type === 'output_audio')
  return wrong && ['invalid_value', `Invalid value: '${wrong.type}'.`, 'item.content']
}

/** Whether the service has the model that day. */
export function hasModel(model: string, today?: string): boolean {
  return MODELS.some((one) => model === one || model === `${one}-mini`) && !isSwitchedOff(model, today)
}
