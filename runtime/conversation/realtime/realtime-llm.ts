import { type APIConnectOptions, llm } from '@livekit/agents'
import type { RealtimeConfig, RealtimeUsage } from '../../../packages/plugin/realtime.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { pluginTools } from '../../plugin-sdk/chat/chat-request.ts'
import type { ChatUsage } from '../../plugin-sdk/chat/llm-chunks.ts'
import { explainFailure, ProviderError, type ProviderIdentity } from '../../plugin-sdk/provider-error.ts'
import type { RealtimeProvider } from '../../plugin-sdk/realtime/realtime-provider.ts'
import { CallerVoice } from './caller-voice.ts'
import { RealtimeConnection } from './connection.ts'
import { argumentsOf, isInstructions, SESSION_ITEM, type TranscribedMessage } from './ledger.ts'
import type { AnswerPart, RealtimeAnswer } from './realtime-answer.ts'

/** In `delta.extra` of an answer's first words: the sound they are spoken in (AnswerAudio). */
export const ANSWER_AUDIO = 'answer_audio'
/** Of its longest time, after so much a session is renewed. */
const RENEWED_AFTER = 0.75
/** The one that is open, and new ones, each of which another question may have taken first. */
const MAX_SESSIONS_ASKED = 5

type ChatOptions = Parameters<llm.LLM['chat']>[0]

interface RealtimeModel {
  provider: RealtimeProvider
  /** Its plugin. */
  name: string
  model: string
  identity: ProviderIdentity
  /** What it is told before the first answer. */
  config: RealtimeConfig
}

/**
 * A speech-to-speech model in the place of a language model: it hears the caller's sound in place of the words, and its answers come
 * with their own sound. Everything else, from turns to tools, is as with any other model; and the next model of the agent answers
 * where this one fails. One session at a time serves; it is renewed before its time is over.
 */
export class RealtimeLlm extends llm.LLM {
  readonly caller: CallerVoice
  readonly #source: RealtimeModel
  readonly #closing = new AbortController()
  #config: RealtimeConfig
  #current: RealtimeConnection | undefined
  #opening: Promise<RealtimeConnection> | undefined
  /** What an answer used, where the provider says so after it. */
  usedLater: (usage: ChatUsage) => void = () => undefined
  /** What the caller said in a message, as the session wrote it, where it is asked for that. */
  transcribed: (words: TranscribedMessage) => void = () => undefined
  /** Another model wrote it, and is billed apart by the length of the sound. */
  transcriptionUsed: (usage: { model: string; seconds: number }) => void = () => undefined
  /** The session that takes the place of the running one in the next pause. */
  #next: RealtimeConnection | undefined
  #renewal: NodeJS.Timeout | undefined

  constructor(source: RealtimeModel) {
    super()
    this.#source = source
    this.#config = source.config
    this.caller = new CallerVoice(source.provider.capabilities.inputRateHz)
  }

  override label(): string {
    return `${this.#source.name}.RealtimeLlm`
  }

  override get model(): string {
    return this.#source.model
  }

  override get provider(): string {
    return this.#source.name
  }

  /** It answers in sound of its own. */
  get speaks(): boolean {
    return this.#source.provider.capabilities.speaks
  }

  /** Opens the session beforehand. Its failure shows with the first answer. */
  override prewarm(): void {
    if (this.#current === undefined) this.#connect().catch(() => undefined)
  }

  override chat(options: ChatOptions & { connOptions?: APIConnectOptions }): llm.LLMStream {
    return new RealtimeStream(this, options)
  }

  /** The caller cut off what was being said. */
  cut(): void {
    this.#current?.cut()
  }

  override async aclose(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#renewal)
    this.caller.goTo(undefined)
    this.#current?.close()
    this.#next?.close()
    await super.aclose()
  }

  /**
   * Asks the session that is open, or another one where it can't be brought up to the conversation.
   *
   * @returns undefined where the signal aborts first
   * @throws ProviderError
   */
  async ask(
    items: readonly llm.ChatItem[],
    config: Pick<RealtimeConfig, 'instructions' | 'tools'>,
    request: Parameters<RealtimeConnection['answer']>[2],
    signal: AbortSignal,
  ): Promise<{ connection: RealtimeConnection; answer: RealtimeAnswer } | undefined> {
    this.#config = { ...this.#config, ...config }
    for (let attempt = 1; attempt <= MAX_SESSIONS_ASKED; attempt++) {
      const connection = await this.#session()
      if (signal.aborted) return undefined
      const answer = connection.answer(items, this.#config, request)
      if (answer !== undefined) return { connection, answer }
    }
    throw new ProviderError(explainFailure(this.#source.identity, { message: 'no session takes the conversation' }))
  }

  /** The session that answers now. Throws ProviderError. */
  async #session(): Promise<RealtimeConnection> {
    this.#renewIfIdle()
    const current = this.#current
    if (current?.isOpen === true && !current.isStale) return current
    const connection = await this.#connect()
    if (connection !== current) current?.retire()
    return connection
  }

  async #connect(): Promise<RealtimeConnection> {
    const connection = await this.#openOne()
    if (connection !== this.#current) this.#use(connection)
    return connection
  }

  /** One session opens at a time, whatever it is for. */
  #openOne(): Promise<RealtimeConnection> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #open(): Promise<RealtimeConnection> {
    const { identity, provider } = this.#source
    const connection = await RealtimeConnection.open(
      identity,
      provider,
      this.#config,
      {
        idle: () => this.#renewIfIdle(),
        goingAway: () => this.#renew(),
        used: (usage) => this.usedLater(usageOf(usage)),
        transcribed: (words, usage) => {
          if (words !== undefined) this.transcribed(words)
          if (usage !== undefined) this.transcriptionUsed(usage)
        },
        closed: (one) => this.#closed(one),
      },
      this.#closing.signal,
    )
    if (!this.#closing.signal.aborted) return connection
    connection.close()
    throw this.#closing.signal.reason
  }

  #use(connection: RealtimeConnection): void {
    this.#current = connection
    if (this.#next === connection) this.#next = undefined
    this.caller.goTo(connection)
    clearTimeout(this.#renewal)
    const afterMs = this.#source.provider.capabilities.maxSessionMs * RENEWED_AFTER
    this.#renewal = setTimeout(
      boundary('provider', () => this.#renew()),
      afterMs,
    )
    this.#renewal.unref()
  }

  /** Opens the session that goes on; the running one serves until a pause. */
  #renew(): void {
    if (this.#next !== undefined || this.#closing.signal.aborted) return
    inBackground(
      'provider',
      this.#openOne().then((connection) => {
        if (connection === this.#current) return
        this.#next = connection
        this.#renewIfIdle()
      }),
    )
  }

  #renewIfIdle(): void {
    const next = this.#next
    if (next === undefined || this.#current?.isBusy === true) return
    this.#next = undefined
    const before = this.#current
    if (!next.isOpen) return
    this.#use(next)
    before?.retire()
  }

  #closed(connection: RealtimeConnection): void {
    if (connection !== this.#current || this.#closing.signal.aborted) return
    this.#current = undefined
    this.caller.goTo(undefined)
    this.#renewIfIdle()
    // One that never answered would fail again: it is tried with the next question, as its breaker allows.
    if (connection.hasAnswered) this.prewarm()
  }
}

class RealtimeStream extends llm.LLMStream {
  readonly #owner: RealtimeLlm
  readonly #options: ChatOptions

  constructor(owner: RealtimeLlm, options: ChatOptions & { connOptions?: APIConnectOptions }) {
    const { chatCtx, toolCtx, connOptions = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 8_000 } } = options
    super(owner, { chatCtx, connOptions, ...(toolCtx && { toolCtx }) })
    this.#owner = owner
    this.#options = options
  }

  protected override async run(): Promise<void> {
    const { signal } = this.abortController
    const { chatCtx, toolCtx, toolChoice } = this.#options
    const { caller } = this.#owner
    const config = { instructions: instructionsIn(chatCtx), tools: pluginTools(toolCtx) }
    const request = {
      spoke: () => caller.hasSpoken,
      committed: () => caller.committed(),
      mayCallTools: toolChoice !== 'none',
    }
    const asked = await this.#owner.ask(chatCtx.items, config, request, signal)
    if (asked === undefined) return
    const { connection, answer } = asked
    const cancel = boundary('provider', (): void => connection.cancel(answer))
    signal.addEventListener('abort', cancel, { once: true })
    const said = { items: new Set<string>(), any: false }
    try {
      for await (const part of answer.parts) {
        if (this.queue.closed) continue
        said.any ||= part.type === 'text' || part.type === 'tool_call'
        this.queue.put(chunkOf(part, said.items))
      }
    } finally {
      signal.removeEventListener('abort', cancel)
      // A reader that went away without an abort.
      connection.cancel(answer)
    }
    if (signal.aborted) return
    const { failure } = answer
    if (failure !== undefined) throw new ProviderError(said.any ? { ...failure, retryable: false } : failure)
  }
}

function chunkOf(part: AnswerPart, items: Set<string>): llm.ChatChunk {
  const id = 'answer'
  if (part.type === 'usage') return { id, usage: usageOf(part.usage) }
  if (part.type === 'usage_later') return { id, usage: USAGE_LATER }
  if (part.type === 'tool_call') {
    const call = llm.FunctionCall.create({ callId: part.callId, name: part.name, args: argumentsOf(part.arguments) })
    return { id, delta: { role: 'assistant', toolCalls: [call] } }
  }
  const { text: content, itemId, audio } = part
  const isFirst = !items.has(itemId)
  items.add(itemId)
  const extra = { [SESSION_ITEM]: itemId, ...(audio === undefined ? {} : { [ANSWER_AUDIO]: audio }) }
  return { id, delta: { role: 'assistant', content, ...(isFirst ? { extra } : {}) } }
}

const USAGE_LATER: ChatUsage = {
  promptTokens: 0,
  completionTokens: 0,
  promptCachedTokens: 0,
  totalTokens: 0,
  comesLater: true,
}

function usageOf(usage: RealtimeUsage): ChatUsage {
  const { inputTokens, outputTokens, cachedInputTokens, audioInputTokens, audioOutputTokens, cachedAudioTokens } = usage
  return {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    promptCachedTokens: cachedInputTokens ?? 0,
    totalTokens: inputTokens + outputTokens,
    ...(cachedInputTokens === undefined ? {} : { cachedReadTokens: cachedInputTokens }),
    ...(audioInputTokens === undefined ? {} : { audioInputTokens }),
    ...(audioOutputTokens === undefined ? {} : { audioOutputTokens }),
    ...(cachedAudioTokens === undefined ? {} : { cachedAudioTokens }),
    ...(usage.raw === undefined ? {} : { raw: usage.raw }),
  }
}

function instructionsIn({ items }: llm.ChatContext): string {
  const [first] = items
  return isInstructions(first) ? (first.textContent ?? '') : ''
}
