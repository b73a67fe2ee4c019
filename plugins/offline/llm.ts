import { randomUUID } from 'node:crypto'
import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, llm } from '@livekit/agents'
import { answer, type Conversation } from './answer.ts'

/** Tokens a word counts for in the usage figures: nothing is tokenised here. */
const TOKENS_PER_WORD = 4 / 3

/** A language model without any model: it answers with sentences of its instructions and of retrieved passages. */
export class OfflineLLM extends llm.LLM {
  readonly #language: string | undefined

  /** `language`: the agent's language tag; otherwise it is told from each question. */
  constructor(language?: string) {
    super()
    this.#language = language
  }

  override label(): string {
    return 'offline.LLM'
  }

  override get model(): string {
    return 'extractive'
  }

  override get provider(): string {
    return 'offline'
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    return new OfflineStream(this, this.#language, options)
  }
}

class OfflineStream extends llm.LLMStream {
  readonly #language: string | undefined

  constructor(
    owner: OfflineLLM,
    language: string | undefined,
    { chatCtx, toolCtx, connOptions = DEFAULT_API_CONNECT_OPTIONS }: Parameters<OfflineLLM['chat']>[0],
  ) {
    super(owner, { chatCtx, toolCtx, connOptions })
    this.#language = language
  }

  protected override async run(): Promise<void> {
    const conversation = readConversation(this.chatCtx, this.#language)
    const text = answer(conversation)
    const id = randomUUID()
    for (const content of text.match(/\s*\S+/g) ?? []) {
      if (this.abortController.signal.aborted || this.queue.closed) return
      this.queue.put({ id, delta: { role: 'assistant', content } })
    }
    const promptTokens = estimateTokens([...conversation.sources, ...conversation.turns.map((turn) => turn.text)])
    const completionTokens = estimateTokens([text])
    if (this.queue.closed) return
    this.queue.put({
      id,
      usage: { promptTokens, completionTokens, promptCachedTokens: 0, totalTokens: promptTokens + completionTokens },
    })
  }
}

/** Every system or developer message is a source of facts: the agent's prompt, then the passages found for the question. */
export function readConversation(context: llm.ChatContext, language?: string): Conversation {
  const sources: string[] = []
  const turns: { role: 'user' | 'assistant'; text: string }[] = []
  for (const item of context.items) {
    if (item.type !== 'message') continue
    const text = item.textContent ?? ''
    if (item.role === 'user' || item.role === 'assistant') turns.push({ role: item.role, text })
    else sources.push(text)
  }
  return language === undefined ? { sources, turns } : { sources, turns, language }
}

/** An estimate by words; a script without spaces counts a token a character. */
export function estimateTokens(texts: readonly string[]): number {
  let tokens = 0
  for (const text of texts) {
    const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0
    tokens += dense + (text.match(/\S+/g)?.length ?? 0) * TOKENS_PER_WORD
  }
  return Math.ceil(tokens)
}
