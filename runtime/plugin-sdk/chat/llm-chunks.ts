import { llm } from '@livekit/agents'
import type { LlmEvent } from '../../../packages/plugin/mod.ts'
import { explainFailure, ProviderError, type ProviderIdentity } from '../provider-error.ts'
import { hasWords } from '../speech/sentences.ts'
import { wholeToolArguments } from './tool-arguments.ts'

/** What an answer used. A part that the provider doesn't name is undefined, which is not 0. */
export interface ChatUsage extends llm.CompletionUsage {
  /** Part of `promptTokens`. */
  cachedReadTokens?: number
  /** Part of `promptTokens`. */
  cacheWriteTokens?: number
  /** Part of `completionTokens`. */
  reasoningTokens?: number
  /** Sound: parts of `promptTokens`, of `completionTokens` and of `cachedReadTokens`. */
  audioInputTokens?: number
  audioOutputTokens?: number
  cachedAudioTokens?: number
  /** The provider says it after the answer: nothing is guessed. */
  comesLater?: true
  /** As the provider wrote it. */
  raw?: Readonly<Record<string, unknown>>
}

/** Why an answer ended before it was whole. Absent in `delta.extra` where it ended by itself. */
export const STOPPED = 'stopped'
/** Marks a chunk without words of a model that is thinking. */
export const THINKING = 'thinking'

const REASONS = {
  length: 'its limit of tokens was reached',
  refusal: 'the model refused to answer',
  safety: 'its filter blocked the answer',
  tool_call: 'the model called a tool in a wrong form',
  thoughts:
    'the answer holds the thoughts of the model, which were left out; start the server with its reasoning parser',
  call_in_words: 'the answer holds calls of tools among its words; start the server with its tool parser',
} as const

/** An answer's events as chunks of @livekit/agents, each checked: those of our plugins and of plugins in processes alike. */
export class LlmChunks {
  readonly #id: string
  readonly #provider: ProviderIdentity
  readonly #callIds: Set<string>
  #answered = false
  #stopped: string | undefined

  /** @param callIds of the calls in the conversation */
  constructor(id: string, provider: ProviderIdentity, callIds: Iterable<string> = []) {
    this.#id = id
    this.#provider = provider
    this.#callIds = new Set(callIds)
  }

  /** The chunk of an event; undefined where it holds nothing. Throws ProviderError for a tool call that was cut off. */
  of(event: LlmEvent): llm.ChatChunk | undefined {
    const id = this.#id
    switch (event.type) {
      case 'text': {
        const content = String(event.text)
        if (content === '') return undefined
        this.#answered ||= hasWords(content)
        return { id, delta: { role: 'assistant', content } }
      }
      case 'tool_call': {
        const args = wholeToolArguments(String(event.arguments))
        if (args === undefined) throw this.#broken(`the arguments of the tool "${event.name}" were cut off`)
        this.#answered = true
        const callId = freeId(String(event.id), this.#callIds)
        this.#callIds.add(callId)
        const call = llm.FunctionCall.create({ callId, name: String(event.name), args })
        return { id, delta: { role: 'assistant', toolCalls: [call] } }
      }
      case 'stop': {
        this.#stopped = reasonOf(event.reason, event.detail)
        return { id, delta: { role: 'assistant', content: '', extra: { [STOPPED]: this.#stopped } } }
      }
      case 'thinking':
        return { id, delta: { role: 'assistant', content: '', extra: { [THINKING]: true } } }
      case 'usage':
        return { id, usage: usageOf(event) }
      default:
        return undefined
    }
  }

  /** Call it when the answer is over. Throws ProviderError for one without a word and without a tool call. */
  end(): void {
    if (this.#answered) return
    const why = this.#stopped === undefined ? '' : `: ${this.#stopped}`
    throw this.#broken(`the model gave no words${why}`)
  }

  #broken(words: string): ProviderError {
    return new ProviderError({
      ...explainFailure(this.#provider, { message: words }),
      message: `${this.#provider.title} gave no usable answer: ${words}`,
    })
  }
}

/** An id that no other call of the conversation has: some servers number the calls of each answer anew (`book:0`). */
function freeId(id: string, taken: ReadonlySet<string>): string {
  const [, head = `${id}_`, number = '0'] = /^(.*:)(\d{1,9})$/s.exec(id) ?? []
  let free = id
  for (let next = Number(number) + 1; taken.has(free); next++) free = `${head}${next}`
  return free
}

function reasonOf(reason: string, detail: string | undefined): string {
  const words = REASONS[reason as keyof typeof REASONS] ?? 'it stopped'
  return detail === undefined ? words : `${words} (${detail})`
}

function usageOf(event: LlmEvent & { type: 'usage' }): ChatUsage {
  const promptTokens = tokens(event.inputTokens) ?? 0
  const completionTokens = tokens(event.outputTokens) ?? 0
  const cachedReadTokens = tokens(event.cachedInputTokens)
  const cacheWriteTokens = tokens(event.cacheWriteTokens)
  const reasoningTokens = tokens(event.reasoningTokens)
  return {
    promptTokens,
    completionTokens,
    promptCachedTokens: cachedReadTokens ?? 0,
    totalTokens: promptTokens + completionTokens,
    ...(cachedReadTokens === undefined ? {} : { cachedReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens, cacheCreationTokens: cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(event.raw === undefined ? {} : { raw: event.raw }),
  }
}

/** Most tokens that are counted: what a column of the database holds. */
export const MAX_TOKENS = 2 ** 31 - 1

/** A count as providers write it: some as text. Undefined for what is no count. */
export function tokens(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS ? count : undefined
}
