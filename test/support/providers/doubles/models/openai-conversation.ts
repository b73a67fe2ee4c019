import { randomUUID } from 'node:crypto'
import type { Channel } from '../server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf } from '../speech/speech.ts'
import { type Called, replyTo, type ScriptLine, textOf, usageOf } from './openai-conversation-reply.ts'
import {
  type ClientEvent,
  type Content,
  faultOfItem,
  faultOfModalities,
  faultOfSession,
  hasModel,
  type Item,
  RATE_HZ,
  RESPONSE_FIELDS,
  type Refusal,
  type ResponseRequest,
  type Session,
  stranger,
} from './openai-conversation-rules.ts'

/**
 * A conversation of the Realtime API: npm openai 7.59.0 (2026-11-17), resources/realtime/realtime.d.ts. Codes and words of errors as
 * its users report them (github.com/openai/openai-agents-python/issues/1466, openai-agents-js/issues/189). It detects no turns: a
 * session that leaves that to the server is refused.
 */
export interface ConversationOptions {
  speech: SpeechWorld
  /** How long a session lasts; OpenAI's 60 minutes by default. */
  sessionMs?: number | undefined
  /** The model says these words instead of what it is given. */
  misread?: (() => string | undefined) | undefined
  told?: ((event: Readonly<Record<string, unknown>>) => void) | undefined
  /** What it refused, except a cancellation that crossed with the end of its response, which no client can avoid. */
  refused?: ((code: string | null, message: string) => void) | undefined
  /** It says something of this type. */
  says?: ((type: string) => void) | undefined
  /** A session began, which holds this. */
  began?: ((held: () => readonly { role: string; text: string }[]) => void) | undefined
  /** Models whose last day is over are refused; `YYYY-MM-DD`. */
  today?: string | undefined
  /** What it answers to these questions; `{output}` is what the tool gave that it calls first. */
  script?: readonly ScriptLine[] | undefined
}

const HOUR_MS = 3_600_000
/** Of a transcription, which runs beside the answer. */
const TRANSCRIBED_AFTER_MS = 40
/** How long after its end a response is still cancelled by a client to which its end is on its way. */
const CROSSING_MS = 1_000

/** Serves one session over a channel. */
export function openaiConversation(channel: Channel, url: URL, options: ConversationOptions): void {
  new Conversation(channel, url.searchParams.get('model') ?? '', options)
}

class Conversation {
  readonly #channel: Channel
  readonly #model: string
  readonly #options: ConversationOptions
  readonly #items: Item[] = []
  readonly #calls = new Set<string>()
  readonly #running = new Map<string, AbortController>()
  /** When each response ended. */
  readonly #endedMs = new Map<string, number>()
  #session: Session = {}
  /** The response that writes to the conversation. */
  #active: string | undefined
  /** Once the model has spoken, its voice stays. */
  #voice: string | undefined
  #listener: Listener | undefined
  #bufferedSamples = 0
  #heard: string[] = []

  constructor(channel: Channel, model: string, options: ConversationOptions) {
    this.#channel = channel
    this.#model = model
    this.#options = options
    if (!hasModel(model, options.today)) {
      this.#fail(['model_not_found', `The model \`${model}\` does not exist or you do not have access to it.`])
      channel.close(4000, 'model_not_found')
      return
    }
    this.#send('session.created', { session: { type: 'realtime', id: `sess_${randomUUID()}`, model } })
    const expiry = setTimeout(() => {
      this.#fail(['session_expired', 'Your session hit the maximum duration of 60 minutes.'])
      channel.close(1001)
    }, options.sessionMs ?? HOUR_MS)
    expiry.unref()
    channel.signal.addEventListener('abort', () => clearTimeout(expiry))
    options.began?.(() =>
      this.#items.flatMap((item) => (item.role === undefined ? [] : [{ role: item.role, text: textOf(item) }])),
    )
    channel.onMessage((data) => this.#take(data))
  }

  #send(type: string, fields: object = {}): void {
    this.#options.says?.(type)
    this.#channel.send({ type, event_id: `event_${randomUUID()}`, ...fields })
  }

  #fail([code, message, param]: Refusal, event?: string, type = 'invalid_request_error'): void {
    this.#send('error', { error: { type, code, message, param: param ?? null, event_id: event ?? null } })
  }

  async #take(data: Buffer): Promise<void> {
    let event: ClientEvent
    try {
      event = JSON.parse(String(data)) as ClientEvent
    } catch {
      return this.#fail(['invalid_json', 'Failed to parse JSON.'])
    }
    const { fault } = this.#channel
    if (fault?.kind === 'error') {
      this.#fail([fault.code, fault.message], undefined, fault.status >= 500 ? 'server_error' : undefined)
      return this.#channel.close(1000)
    }
    this.#options.told?.(event as unknown as Record<string, unknown>)
    const refused = await this.#handle(event)
    if (refused === undefined) return
    if (!this.#crossed(event)) this.#options.refused?.(refused[0], refused[1])
    this.#fail(refused, event.event_id)
  }

  #crossed(event: ClientEvent): boolean {
    const endedMs = this.#endedMs.get(event.response_id ?? '')
    return event.type === 'response.cancel' && endedMs !== undefined && performance.now() - endedMs < CROSSING_MS
  }

  async #handle(event: ClientEvent): Promise<Refusal | undefined> {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session ?? {})
      case 'input_audio_buffer.append':
        return this.#append(samplesOf(Buffer.from(event.audio ?? '', 'base64')))
      case 'input_audio_buffer.clear':
        this.#emptyBuffer()
        return void this.#send('input_audio_buffer.cleared')
      case 'input_audio_buffer.commit':
        return this.#commit()
      case 'conversation.item.create':
        return this.#create(event)
      case 'conversation.item.delete': {
        const at = this.#items.findIndex(({ id }) => id === event.item_id)
        if (at === -1) return this.#noItem(event.item_id)
        this.#items.splice(at, 1)
        return void this.#send('conversation.item.deleted', { item_id: event.item_id })
      }
      case 'conversation.item.truncate':
        return this.#truncate(event)
      case 'response.create':
        return this.#respond(event.response ?? {})
      case 'response.cancel': {
        const running = this.#running.get(event.response_id ?? this.#active ?? '')
        if (running === undefined)
          return ['response_cancel_not_active', 'Cancellation failed: no active response found']
        return void running.abort()
      }
      default:
        return ['invalid_value', `Invalid value: '${event.type}'.`, 'type']
    }
  }

  #noItem(id: string | undefined): Refusal {
    return ['item_not_found', `Item with item_id '${id}' not found in conversation.`, 'item_id']
  }

  #update(session: Session): Refusal | undefined {
    const refused = faultOfSession(session, this.#model, this.#voice)
    if (refused !== undefined) return refused
    this.#session = { ...this.#session, ...session, audio: { ...this.#session.audio, ...session.audio } }
    this.#send('session.updated', { session: this.#session })
    return undefined
  }

  async #append(samples: Int16Array): Promise<undefined> {
    this.#listener ??= this.#options.speech.listen(RATE_HZ, 200, (heard) => {
      if (heard.type === 'final') this.#heard.push(heard.text)
    })
    this.#bufferedSamples += samples.length
    this.#listener.push(samples)
  }

  #emptyBuffer(): void {
    this.#listener = undefined
    this.#bufferedSamples = 0
    this.#heard = []
  }

  #commit(): Refusal | undefined {
    if (this.#bufferedSamples < RATE_HZ / 10) {
      const words = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${((this.#bufferedSamples * 1000) / RATE_HZ).toFixed(2)}ms of audio.`
      return ['input_audio_buffer_commit_empty', words]
    }
    this.#listener?.flush()
    const seconds = this.#bufferedSamples / RATE_HZ
    const content = [{ type: 'input_audio', transcript: this.#heard.join(' ') }]
    const item: Item = { id: `item_${randomUUID().slice(0, 21)}`, type: 'message', role: 'user', content }
    this.#emptyBuffer()
    const previous_item_id = this.#items.at(-1)?.id ?? null
    this.#items.push(item)
    this.#send('input_audio_buffer.committed', { previous_item_id, item_id: item.id })
    if (this.#session.audio?.input?.transcription !== undefined) this.#transcribe(item.id, textOf(item), seconds)
    // What the model makes of the sound stays with it.
    const shown = { ...item, content: [{ type: 'input_audio', transcript: null }] }
    this.#send('conversation.item.added', { previous_item_id, item: shown })
    this.#send('conversation.item.done', { previous_item_id, item: shown })
    return undefined
  }

  #transcribe(item_id: string, transcript: string, seconds: number): void {
    setTimeout(() => {
      const at = { item_id, content_index: 0 }
      this.#send('conversation.item.input_audio_transcription.delta', { ...at, delta: transcript })
      const usage = { type: 'duration', seconds }
      this.#send('conversation.item.input_audio_transcription.completed', { ...at, transcript, usage })
    }, TRANSCRIBED_AFTER_MS).unref()
  }

  #create({ item, previous_item_id: after }: ClientEvent): Refusal | undefined {
    const refused = faultOfItem(item, this.#calls)
    if (refused !== undefined) return refused
    const own: Item = { ...item!, id: item!.id ?? `item_${randomUUID().slice(0, 21)}` }
    if (this.#items.some(({ id }) => id === own.id)) {
      return ['item_create_invalid_item_id', `Error adding item: the ID '${own.id}' already exists.`]
    }
    const at =
      after === undefined
        ? this.#items.length
        : after === 'root'
          ? 0
          : this.#items.findIndex(({ id }) => id === after) + 1
    if (after !== undefined && after !== 'root' && at === 0) return this.#noItem(after)
    if (own.type === 'function_call') this.#calls.add(own.call_id ?? '')
    const previous_item_id = this.#items[at - 1]?.id ?? null
    this.#items.splice(at, 0, own)
    this.#send('conversation.item.added', { previous_item_id, item: own })
    this.#send('conversation.item.done', { previous_item_id, item: own })
    return undefined
  }

  #truncate({ item_id, audio_end_ms: endMs = -1 }: ClientEvent): Refusal | undefined {
    const item = this.#items.find(({ id }) => id === item_id)
    if (item === undefined) return this.#noItem(item_id)
    if (item.role !== 'assistant' || item.audioMs === undefined) {
      return ['invalid_value', 'Only model output audio messages can be truncated', 'item_id']
    }
    if (endMs < 0 || endMs > item.audioMs) {
      return ['invalid_value', `Audio content of ${Math.round(item.audioMs)}ms is already shorter than ${endMs}ms`]
    }
    const words = textOf(item).split(/\s+/)
    const kept = words.slice(0, Math.round((words.length * endMs) / Math.max(1, item.audioMs)))
    item.content = [{ type: 'output_audio', transcript: kept.join(' ') }]
    item.audioMs = endMs
    this.#send('conversation.item.truncated', { item_id, content_index: 0, audio_end_ms: endMs })
    return undefined
  }

  #respond(asked: ResponseRequest): Refusal | undefined {
    const refused =
      stranger(asked, RESPONSE_FIELDS, 'response') ??
      faultOfModalities(asked.output_modalities) ??
      asked.input?.map((item) => faultOfItem(item, this.#calls)).find((one) => one !== undefined)
    if (refused !== undefined) return refused
    const isOutside = asked.conversation === 'none'
    if (!isOutside && this.#active !== undefined) {
      const words = `Conversation already has an active response in progress: ${this.#active}. Wait until the response is finished before creating a new one.`
      return ['conversation_already_has_active_response', words]
    }
    const id = `resp_${randomUUID().slice(0, 21)}`
    const stop = new AbortController()
    this.#running.set(id, stop)
    if (!isOutside) this.#active = id
    const over = AbortSignal.any([stop.signal, this.#channel.signal])
    this.#generate(id, asked, isOutside, over).catch(() => this.#channel.close(1011))
    return undefined
  }

  async #generate(id: string, asked: ResponseRequest, isOutside: boolean, signal: AbortSignal): Promise<void> {
    const { metadata = null } = asked
    const head = { id, object: 'realtime.response', metadata, conversation_id: isOutside ? null : 'conv_1' }
    this.#send('response.created', { response: { ...head, status: 'in_progress', output: [], usage: null } })
    const items = asked.input ?? this.#items
    const reply = replyTo(
      asked.instructions ?? this.#session.instructions ?? '',
      items,
      asked.tools ?? this.#session.tools,
      this.#options.script,
    )
    const output =
      typeof reply === 'string'
        ? await this.#say(id, this.#options.misread?.() ?? reply, asked, isOutside, signal)
        : this.#call(id, reply, isOutside)
    this.#running.delete(id)
    this.#endedMs.set(id, performance.now())
    if (this.#active === id) this.#active = undefined
    const status = signal.aborted ? 'cancelled' : 'completed'
    const status_details = signal.aborted ? { type: 'cancelled', reason: 'client_cancelled' } : null
    const usage = usageOf(items, output)
    const { audioMs: _, ...shown } = output
    this.#send('response.done', { response: { ...head, status, status_details, output: [shown], usage } })
  }

  async #say(id: string, text: string, asked: ResponseRequest, isOutside: boolean, signal: AbortSignal): Promise<Item> {
    const speaks = (asked.output_modalities ?? this.#session.output_modalities ?? ['audio'])[0] === 'audio'
    const item: Item = { id: `item_${randomUUID().slice(0, 21)}`, type: 'message', role: 'assistant', content: [] }
    const at = { response_id: id, item_id: item.id, output_index: 0, content_index: 0 }
    if (!isOutside) this.#items.push(item)
    this.#send('response.output_item.added', {
      response_id: id,
      output_index: 0,
      item: { ...item, status: 'in_progress' },
    })
    if (!isOutside) this.#send('conversation.item.added', { previous_item_id: null, item })
    const kind = speaks ? 'output_audio_transcript' : 'output_text'
    const content: Content = speaks ? { type: 'output_audio', transcript: '' } : { type: 'output_text', text: '' }
    item.content = [content]
    for (const delta of text.match(/\s*\S+/g) ?? []) {
      if (signal.aborted) break
      this.#send(`response.${kind}.delta`, { ...at, delta })
      if (speaks) content.transcript += delta
      else content.text += delta
    }
    if (speaks) {
      this.#voice = this.#session.audio?.output?.voice ?? 'alloy'
      item.audioMs = 0
      for await (const samples of this.#options.speech.speak(text, RATE_HZ, signal)) {
        if (signal.aborted) break
        item.audioMs += (samples.length * 1000) / RATE_HZ
        this.#send('response.output_audio.delta', { ...at, delta: bytesOf(samples).toString('base64') })
      }
      this.#send('response.output_audio.done', at)
    }
    this.#send(`response.${kind}.done`, {
      ...at,
      ...(speaks ? { transcript: content.transcript } : { text: content.text }),
    })
    item.status = signal.aborted ? 'incomplete' : 'completed'
    const { audioMs: _, ...shown } = item
    this.#send('response.output_item.done', { response_id: id, output_index: 0, item: shown })
    if (!isOutside) this.#send('conversation.item.done', { previous_item_id: null, item: shown })
    return item
  }

  #call(id: string, called: Called, isOutside: boolean): Item {
    const call_id = `call_${randomUUID().slice(0, 16)}`
    const item: Item = {
      id: `item_${randomUUID().slice(0, 21)}`,
      type: 'function_call',
      name: called.tool,
      call_id,
      arguments: called.arguments,
    }
    const at = { response_id: id, item_id: item.id, output_index: 0, call_id }
    this.#calls.add(call_id)
    if (!isOutside) this.#items.push(item)
    this.#send('response.output_item.added', { response_id: id, output_index: 0, item: { ...item, arguments: '' } })
    this.#send('response.function_call_arguments.delta', { ...at, delta: item.arguments })
    this.#send('response.function_call_arguments.done', { ...at, name: called.tool, arguments: item.arguments })
    this.#send('response.output_item.done', { response_id: id, output_index: 0, item })
    return item
  }
}
