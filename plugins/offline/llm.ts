import { randomUUID } from 'node:crypto'
import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, llm } from '@livekit/agents'
import { estimateTokens, readChatText } from '../../runtime/plugin-sdk/chat/chat-text.ts'
import { answer } from './answer.ts'

/** A language model without any model: it answers with sentences of its instructions and of retrieved passages. */
export class OfflineLLM extends llm.LLM {
  readonly #language: string | undefined

  /** `language`: the agent's language tag; otherwise it is detected from each question. */
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
    const { sources, turns } = readChatText(this.chatCtx)
    const text = answer({ sources, turns, language: this.#language })
    const id = randomUUID()
    for (const content of text.trim().match(/\s*\S+/g) ?? []) {
      if (this.abortController.signal.aborted || this.queue.closed) return
      this.queue.put({ id, delta: { role: 'assistant', content } })
    }
    const promptTokens = estimateTokens([...sources, ...turns.map((turn) => turn.text)])
    const completionTokens = estimateTokens([text])
    if (this.queue.closed) return
    this.queue.put({
      id,
      usage: { promptTokens, completionTokens, promptCachedTokens: 0, totalTokens: promptTokens + completionTokens },
    })
  }
}
