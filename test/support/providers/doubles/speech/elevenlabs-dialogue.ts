import type { Channel } from '../server.ts'
import { bytesOf, type SpeechWorld } from './speech.ts'

/**
 * ElevenLabs' dialogue socket of several contexts, as npm @elevenlabs/elevenlabs-js 2.73.0 types it (TextToDialogueWebsocket*Multi.d.ts) and
 * as others found it on 2026-09-22: a context that is closed speaks what it was given, and a message to it closes the socket.
 */
const QUERY = new Set([
  ...['model_id', 'language_code', 'output_format', 'sync_alignment', 'enable_logging'],
  ...['apply_text_normalization', 'seed'],
])
const MODELS = ['eleven_v3', 'eleven_v3_conversational', 'eleven_v4', 'eleven_v4_turbo']
const FIELDS = new Set([
  ...['context_id', 'inputs', 'flush', 'close_context', 'close_socket', 'keep_alive'],
  ...['voices', 'voice_settings', 'pronunciation_dictionary_locators'],
])
const MAX_CONTEXTS = 5
const MS_PER_CHAR = 60

interface DialogueRequest {
  context_id?: string
  inputs?: { text?: string; voice_id?: string; new_turn?: boolean }[]
  flush?: boolean
  close_context?: boolean
  keep_alive?: boolean
  voices?: string[]
  voice_settings?: Record<string, unknown>
}

interface DialogueContext {
  voices: readonly string[]
  pending: string
  closing: boolean
  turn: Promise<void>
}

function faultOfQuery({ searchParams: query }: URL): readonly [error: string, message: string] | undefined {
  const stranger = [...query.keys()].find((name) => !QUERY.has(name))
  if (stranger !== undefined) return ['invalid_parameters', `Unknown parameter ${stranger}`]
  if (!MODELS.includes(query.get('model_id') ?? '')) {
    return ['model_not_supported', 'The model does not support text to dialogue.']
  }
  return /^pcm_(8000|16000|22050|24000|32000|44100|48000)$/.test(query.get('output_format') ?? '')
    ? undefined
    : ['invalid_output_format', 'The double speaks pcm only']
}

/** What is wrong with the first message of a context. */
function faultOfFirst(
  { voices = [], voice_settings = {} }: DialogueRequest,
  known: string,
): readonly [error: string, message: string] | undefined {
  if (voices.length !== 1) return ['invalid_message', 'The first message of a context registers its one voice']
  if (voices[0] !== known) return ['voice_not_found', `A voice with voice ID ${voices[0]} was not found.`]
  const stranger = Object.keys(voice_settings).find((name) => name !== 'stability')
  return stranger === undefined ? undefined : ['invalid_message', `Voices have no ${stranger} here`]
}

export function converse(channel: Channel, url: URL, speech: SpeechWorld, knownVoice: string) {
  const rateHz = Number(/^pcm_(\d+)$/.exec(url.searchParams.get('output_format') ?? '')?.[1])
  const contexts = new Map<string, DialogueContext>()
  const refuse = (error: string, message: string) => {
    channel.send({ message, error, code: 1008 })
    channel.close(1008, message.slice(0, 100))
  }
  const wrong = faultOfQuery(url)
  if (wrong) return refuse(...wrong)
  const utter = async (context_id: string, text: string): Promise<void> => {
    let isFirst = true
    for await (const samples of speech.speak(text, rateHz, channel.signal)) {
      if (channel.signal.aborted) return
      if (samples.length === 0) continue
      const alignment = isFirst && url.searchParams.get('sync_alignment') === 'true' ? alignmentOf(text) : undefined
      channel.send({ audio: bytesOf(samples).toString('base64'), alignment, context_id })
      isFirst = false
    }
    channel.send({ is_final_audio_for_turn: true, context_id })
  }
  const flush = (id: string, context: DialogueContext) => {
    const said = context.pending
    context.pending = ''
    if (said.trim() !== '') context.turn = context.turn.then(() => utter(id, said))
  }
  channel.onMessage((data) => {
    const { fault } = channel
    if (fault?.kind === 'error') return refuse(fault.code, fault.message)
    const asked = JSON.parse(String(data)) as DialogueRequest
    const stranger = Object.keys(asked).find((name) => !FIELDS.has(name))
    const { context_id: id, inputs = [] } = asked
    if (stranger !== undefined || id === undefined) return refuse('invalid_message', 'Unknown field or no context_id')
    const known = contexts.get(id)
    if (known === undefined) {
      if (contexts.size >= MAX_CONTEXTS) return refuse('too_many_contexts', 'At most 5 contexts at once')
      const fault = faultOfFirst(asked, knownVoice)
      if (fault) return refuse(...fault)
      contexts.set(id, { voices: asked.voices ?? [], pending: '', closing: false, turn: Promise.resolve() })
      return
    }
    if (known.closing) return refuse('context_closing', `The context ${id} is being closed`)
    if (asked.voices !== undefined || asked.voice_settings !== undefined) {
      return refuse('invalid_message', 'voices and voice_settings belong into the first message of a context')
    }
    const foreign = inputs.find(({ voice_id = '' }) => !known.voices.includes(voice_id))
    if (foreign) return refuse('invalid_message', `The voice ${foreign.voice_id} is not registered`)
    known.pending += inputs.map(({ text = '' }) => text).join('')
    if (asked.flush === true || asked.close_context === true) flush(id, known)
    if (asked.close_context !== true) return
    known.closing = true
    void known.turn.then(() => {
      contexts.delete(id)
      channel.send({ is_final: true, context_id: id })
    })
  })
}

/** Characters at an even pace, their times counted from the beginning of this piece of audio. */
function alignmentOf(text: string): object {
  const chars = [...text]
  return {
    chars,
    char_start_times_ms: chars.map((_, i) => i * MS_PER_CHAR),
    char_durations_ms: chars.map(() => MS_PER_CHAR),
  }
}
