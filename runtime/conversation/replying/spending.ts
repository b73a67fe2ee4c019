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
  /** Guessed by the length of the text, as the model counted others: the answer was cut off, or its usage never came. */
  isEstimated: boolean
}

/** Letters of a token, about, and what a message costs beside its words. */
const CHARS_PER_TOKEN = 4
const TOKENS_PER_ITEM = 4
/** Between scripts and encoders guesses are off by no more than this. */
const MAX_RATE = 4

/** What a model counted itself, and what its texts were guessed at. */
interface Counted {
  tokens: number
  guessed: number
}

/** What a request will cost, about. */
export interface Expected {
  input_tokens: number
  output_tokens: number
}

/** Of two sentences: before a model has answered. */
const FIRST_ANSWER_TOKENS = 40
const ANSWERS_KNOWN = 15

/** How far guesses by length lie from what a model counts, learnt from the answers whose usage came. */
export class TokenRates {
  readonly #of = new Map<string, Counted>()
  #answers: readonly number[] = []
  #lastInput: number | undefined

  /** @param what of which model: few differ in a call */
  learn(what: string, tokens: number, guessed: number): void {
    const before = this.#of.get(what) ?? { tokens: 0, guessed: 0 }
    this.#of.set(what, { tokens: before.tokens + tokens, guessed: before.guessed + guessed })
  }

  /** The model has answered. */
  answered({ promptTokens, completionTokens }: ChatUsage): void {
    this.#answers = [...this.#answers, Math.round(completionTokens)].slice(-ANSWERS_KNOWN)
    this.#lastInput = promptTokens
  }

  /** The median: a long answer among many is no measure of the next. */
  get answerTokens(): number {
    return this.#answers.toSorted((a, b) => a - b)[this.#answers.length >> 1] ?? FIRST_ANSWER_TOKENS
  }

  /** What the next request will be, about. Sound, which is in no text, weighs as much as in the last one. */
  asked(what: string, guessed: number): number {
    return this.#of.has(what) ? this.corrected(what, guessed) : (this.#lastInput ?? guessed)
  }

  /** The guess, put right. */
  corrected(what: string, guessed: number): number {
    const { tokens, guessed: before } = this.#of.get(what) ?? { tokens: 0, guessed: 0 }
    if (tokens === 0 || before === 0) return guessed
    // A provider that counts nonsense spoils no guess by more.
    const rate = Math.min(MAX_RATE, Math.max(1 / MAX_RATE, tokens / before))
    return Math.round(guessed * rate)
  }
}

/** Counts what a request uses, also where it is broken off and the provider never says. */
export class Spending {
  readonly #asked: { provider: string; model: string }
  readonly #context: llm.ChatContext
  readonly #tools: llm.ToolContextLike | undefined
  readonly #rates: TokenRates
  #usage: ChatUsage | undefined
  #answerChars = 0
  #refused = false

  constructor(
    asked: { provider: string; model: string },
    context: llm.ChatContext,
    tools: llm.ToolContextLike | undefined,
    rates: TokenRates,
  ) {
    this.#rates = rates
    this.#asked = asked
    this.#context = context
    this.#tools = tools
  }

  /** Before it is sent. */
  expected(): Expected {
    const { provider, model } = this.#asked
    const input = this.#rates.asked(`${provider} ${model} input`, tokensAskedFor(this.#context, this.#tools))
    return { input_tokens: Math.round(input), output_tokens: this.#rates.answerTokens }
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
    const guessedInput = tokensAskedFor(this.#context, this.#tools)
    const guessedOutput = Math.ceil(this.#answerChars / CHARS_PER_TOKEN)
    const key = `${provider} ${model}`
    if (usage?.comesLater === true) return spentOf(this.#asked, usage)
    if (usage !== undefined && usage.promptTokens + usage.completionTokens > 0) {
      this.#rates.answered(usage)
      if (usage.audioInputTokens === undefined && usage.audioOutputTokens === undefined) {
        this.#rates.learn(`${key} input`, usage.promptTokens, guessedInput)
        // What it thought is not in the words.
        this.#rates.learn(`${key} output`, usage.completionTokens - (usage.reasoningTokens ?? 0), guessedOutput)
      }
      return spentOf(this.#asked, usage)
    }
    return {
      provider,
      model,
      inputTokens: this.#refused ? 0 : this.#rates.corrected(`${key} input`, guessedInput),
      outputTokens: this.#rates.corrected(`${key} output`, guessedOutput),
      cachedReadTokens: undefined,
      cacheWriteTokens: undefined,
      reasoningTokens: undefined,
      isEstimated: !this.#refused,
    }
  }
}

/** What a provider says that a request cost. */
export function spentOf({ provider, model }: { provider: string; model: string }, usage: ChatUsage): Spent {
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
