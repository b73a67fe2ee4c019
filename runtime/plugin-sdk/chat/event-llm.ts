import { randomUUID } from 'node:crypto'
import { APIConnectionError, type APIConnectOptions, APIError, DEFAULT_API_CONNECT_OPTIONS, llm } from '@livekit/agents'
import { joinSignals } from '../../lib/async/join-signals.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from '../speech/api-error.ts'
import { type ChatRequest, chatRequestOf, type LlmEvent } from './chat-request.ts'
import { LlmChunks } from './llm-chunks.ts'

/** A language model defined by its stream of events. */
interface ChatModel {
  /** The plugin. */
  provider: string
  identity: ProviderIdentity
  model: string
  temperature: number | undefined
  /** Answers one request, as it comes. The reader classifies its failures. */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<LlmEvent>
  /** The call or chat is over. */
  dispose?(): void
}

/** Maximum length of one answer: far beyond any reply to a caller. */
const MAX_ANSWER_CHARACTERS = 256 << 10

/** A language model as the conversation uses it. */
export class EventLLM extends llm.LLM {
  readonly #source: ChatModel

  constructor(source: ChatModel) {
    super()
    this.#source = source
  }

  override label(): string {
    return `${this.#source.provider}.LLM`
  }

  override get model(): string {
    return this.#source.model
  }

  override get provider(): string {
    return this.#source.provider
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    toolChoice?: llm.ToolChoice
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    return new EventStream(this, this.#source, options)
  }

  override async aclose(): Promise<void> {
    this.#source.dispose?.()
    await super.aclose()
  }
}

class EventStream extends llm.LLMStream {
  readonly #source: ChatModel
  readonly #request: ChatRequest
  readonly #timeoutMs: number

  constructor(
    owner: EventLLM,
    source: ChatModel,
    { chatCtx, toolCtx, toolChoice, connOptions = DEFAULT_API_CONNECT_OPTIONS }: Parameters<EventLLM['chat']>[0],
  ) {
    super(owner, { chatCtx, toolCtx, connOptions })
    this.#source = source
    // A model that is offered none has to answer; not every server knows how to be told so otherwise.
    this.#request = chatRequestOf(chatCtx, toolChoice === 'none' ? undefined : toolCtx, source.temperature)
    this.#timeoutMs = connOptions.timeoutMs
  }

  protected override async run(): Promise<void> {
    const { signal } = this.abortController
    const late = new AbortController()
    const watchdog = setTimeout(() => late.abort({ code: 'ETIMEDOUT' }), this.#timeoutMs)
    const chunks = new LlmChunks(randomUUID(), this.#source.identity, callIds(this.#request))
    let said = false
    let characters = 0
    try {
      for await (const event of this.#source.chat(this.#request, joinSignals(signal, late.signal))) {
        watchdog.refresh()
        if (signal.aborted) return
        if (event.type === 'text') characters += String(event.text).length
        if (characters > MAX_ANSWER_CHARACTERS) throw new Error('its answer does not end')
        const chunk = chunks.of(event)
        if (chunk !== undefined && !this.queue.closed) this.queue.put(chunk)
        said ||= event.type === 'text' || event.type === 'tool_call'
      }
      chunks.end()
    } catch (error) {
      if (signal.aborted) return
      const judged = apiErrorOf(this.#source.identity, late.signal.reason ?? error)
      // Another attempt would say again what was heard already.
      if (said && judged instanceof APIError && judged.retryable) {
        const again = new APIConnectionError({ message: judged.message, options: { retryable: false } })
        again.cause = judged.cause
        throw again
      }
      throw judged
    } finally {
      clearTimeout(watchdog)
    }
  }
}

function callIds({ messages }: ChatRequest): string[] {
  return messages.flatMap((message) => (message.role === 'tool_call' ? [message.id] : []))
}
