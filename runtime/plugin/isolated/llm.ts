import { randomUUID } from 'node:crypto'
import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import { LlmChunks } from '../../plugin-sdk/chat/llm-chunks.ts'
import { type ChatRequest, chatRequestOf, type LlmEvent } from '../../plugin-sdk/speech/chat-request.ts'
import { settle } from './fault.ts'
import { IsolatedFault } from './plugin-runner.ts'
import type { IsolatedUse } from './stt.ts'

/** Maximum length of one answer: far beyond any reply to a caller. */
const MAX_ANSWER_CHARACTERS = 256 << 10

/** A language model by a plugin in a process of its own. */
export class IsolatedLLM extends llm.LLM {
  readonly #use: IsolatedUse
  readonly #temperature: number | undefined

  constructor(use: IsolatedUse, temperature: number | undefined) {
    super()
    this.#use = use
    this.#temperature = temperature
  }

  override label(): string {
    return `${this.#use.provider}.LLM`
  }

  override get model(): string {
    return this.#use.options.model ?? ''
  }

  override get provider(): string {
    return this.#use.provider
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    return new IsolatedLlmStream(this, this.#use, this.#temperature, options)
  }
}

class IsolatedLlmStream extends llm.LLMStream {
  readonly #use: IsolatedUse
  readonly #request: ChatRequest
  #characters = 0

  constructor(
    owner: IsolatedLLM,
    use: IsolatedUse,
    temperature: number | undefined,
    { chatCtx, toolCtx, connOptions = DEFAULT_API_CONNECT_OPTIONS }: Parameters<IsolatedLLM['chat']>[0],
  ) {
    super(owner, { chatCtx, toolCtx, connOptions })
    this.#use = use
    this.#request = chatRequestOf(chatCtx, toolCtx, temperature)
  }

  protected override async run(): Promise<void> {
    const { process, options, faultOf } = this.#use
    const { signal } = this.abortController
    await settle(faultOf, signal, async () => {
      await process.ready()
      if (signal.aborted) return
      const over = Promise.withResolvers<void>()
      const chunks = new LlmChunks(randomUUID(), { title: this.#use.provider })
      const session = process.open({ kind: 'llm', request: this.#request }, options, {
        event: (event) => {
          if (this.#isLonger(event as LlmEvent)) over.reject(new IsolatedFault('its answer does not end'))
          else this.#take(chunks, event as LlmEvent, over.reject)
        },
        done: over.resolve,
        failed: over.reject,
      })
      const cancel = boundary('plugin', (): void => {
        session.cancel()
        over.resolve()
      })
      signal.addEventListener('abort', cancel, { once: true })
      try {
        await over.promise
        if (!signal.aborted) chunks.end()
      } finally {
        signal.removeEventListener('abort', cancel)
        session.cancel()
      }
    })
  }

  #isLonger(event: LlmEvent): boolean {
    if (event.type === 'text') this.#characters += String(event.text).length
    return this.#characters > MAX_ANSWER_CHARACTERS
  }

  #take(chunks: LlmChunks, event: LlmEvent, broke: (error: unknown) => void): void {
    if (this.queue.closed) return
    try {
      const chunk = chunks.of(event)
      if (chunk !== undefined) this.queue.put(chunk)
    } catch (error) {
      broke(error)
    }
  }
}
