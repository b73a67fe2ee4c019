import { llm } from '@livekit/agents'
import type { ChatUsage } from '../../plugin-sdk/chat/llm-chunks.ts'
import { findFailure } from '../../plugin-sdk/provider-error.ts'

/** What one request to a language model cost. */
export interface Spent {
  provider: string
  model: string
  inputTokens: number
  outputTokens: number
  /** Parts of the tokens; undefined where the provider says nothing of them. */
  cachedReadTokens: number | undefined
  cacheWriteTokens: number | undefined
  reasoningTokens: number | undefined
  /** Sound, of speech-to-speech models. */
  audioInputTokens?: number | undefined
  audioOutputTokens?: number | undefined
  cachedAudioTokens?: number | undefined
  /** Guessed by the length of the text: the answer was cut off, or its usage never came. */
  isEstimated: boolean
}

/** Letters of a token, about, and what a message costs beside its words. */
const CHARS_PER_TOKEN = 4
const TOKENS_PER_ITEM = 4

/** Counts what a request uses, also where it is broken off and the provider never says. */
export class Spending {
  readonly #asked: { provider: string; model: string }
  readonly #context: llm.ChatContext
  readonly #tools: llm.ToolContextLike | undefined
  #usage: ChatUsage | undefined
  #answerChars = 0
  #refused = false

  constructor(
    asked: { provider: string; model: string },
    context: llm.ChatContext,
    tools: llm.ToolContextLike | undefined,
  ) {
    this.#asked = asked
    this.#context = context
    this.#tools = tools
  }

  count({ delta, usage }: llm.ChatChunk): void {
    if (usage !== undefined) this.#usage = usage
    this.#answerChars += delta?.content?.length ?? 0
    for (const { name, args } of delta?.toolCalls ?? []) this.#answerChars += name.length + args.length
  }

  /** A request that was refused, or reached nobody, costs nothing. */
  failed(error: unknown): void {
    const failure = findFailure(error)
    this.#refused = this.#answerChars === 0 && failure !== undefined && failure.timedOut !== true
  }

  total(): Spent {
    const { provider, model } = this.#asked
    const usage = this.#usage
    if (usage !== undefined && usage.promptTokens + usage.completionTokens > 0) {
      return {
        provider,
        model,
        inputTokens: usage.promptTokens,
        outputTokens: usage.completionTokens,
        cachedReadTokens: usage.cachedReadTokens,
        cacheWriteTokens: usage.cacheWriteTokens,
        reasoningTokens: usage.reasoningTokens,
        audioInputTokens: usage.audioInputTokens,
        audioOutputTokens: usage.audioOutputTokens,
        cachedAudioTokens: usage.cachedAudioTokens,
        isEstimated: false,
      }
    }
    return {
      provider,
      model,
      inputTokens: this.#refused ? 0 : tokensAskedFor(this.#context, this.#tools),
      outputTokens: Math.ceil(this.#answerChars / CHARS_PER_TOKEN),
      cachedReadTokens: undefined,
      cacheWriteTokens: undefined,
      reasoningTokens: undefined,
      isEstimated: !this.#refused,
    }
  }
}

function tokensAskedFor(context: llm.ChatContext, tools: llm.ToolContextLike | undefined): number {
  const texts = context.items.map((item) => {
    if (item.type === 'message') return item.textContent ?? ''
    if (item.type === 'function_call') return `${item.name}${item.args}`
    return item.type === 'function_call_output' ? item.output : ''
  })
  if (tools !== undefined) {
    for (const [name, tool] of llm.sortedToolEntries(llm.toToolContext(tools))) {
      if (llm.isFunctionTool(tool))
        texts.push(`${name}${tool.description}${JSON.stringify(llm.toJsonSchema(tool.parameters))}`)
    }
  }
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / CHARS_PER_TOKEN) + TOKENS_PER_ITEM, 0)
}
