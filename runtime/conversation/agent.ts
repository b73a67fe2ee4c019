import { type ReadableStream, TransformStream } from 'node:stream/web'
import { llm, type stt, voice } from '@livekit/agents'
import type { Turn } from '../call-log/resume.ts'
import type { AgentSpec } from '../link/messages.ts'
import type { Knowledge } from './knowledge.ts'

export interface AgentNodes {
  /** The words of the caller, as the session wants them. */
  listen(): ReadableStream<stt.SpeechEvent>
  knowledge: Knowledge | undefined
  tools: llm.FunctionTool[]
  /** True when the caller's turn is not the model's to answer. */
  takesTurn(text: string): boolean
  /** The language model gave its first words. */
  firstText(): void
  /** The agent's words, beside the audio they belong to; undefined after the last of a piece of speech. */
  spoken(text: string | voice.TimedString | undefined): void
}

/** The turns said so far as the language model's context. */
export function contextOf(history: readonly Turn[]): llm.ChatContext {
  const context = llm.ChatContext.empty()
  const nowMs = Date.now()
  history.forEach((turn, index) => {
    // Messages are kept in order of creation: the past lies before everything that is said from now on.
    const createdAt = nowMs - (history.length - index)
    context.addMessage({ role: turn.role, content: turn.text, interrupted: turn.interrupted, createdAt })
  })
  return context
}

/** The agent of one conversation: its prompt, and the places where the session's pipeline is ours. */
export class ConversationAgent extends voice.Agent {
  readonly #nodes: AgentNodes

  constructor(spec: AgentSpec, history: readonly Turn[], nodes: AgentNodes) {
    super({ instructions: spec.systemPrompt, chatCtx: contextOf(history), tools: nodes.tools })
    this.#nodes = nodes
  }

  override async sttNode(): Promise<ReadableStream<stt.SpeechEvent | string> | null> {
    return this.#nodes.listen()
  }

  override async onUserTurnCompleted(_context: llm.ChatContext, message: llm.ChatMessage): Promise<void> {
    if (this.#nodes.takesTurn(message.textContent ?? '')) throw new voice.StopResponse()
  }

  override async llmNode(
    chatCtx: llm.ChatContext,
    toolCtx: llm.ToolContext,
    settings: voice.ModelSettings,
  ): ReturnType<voice.Agent['llmNode']> {
    const answer = await voice.Agent.default.llmNode(this, await this.#informed(chatCtx), toolCtx, settings)
    if (answer === null) return null
    let first = true
    return answer.pipeThrough(
      new TransformStream({
        transform: (chunk, controller) => {
          if (first) {
            first = false
            this.#nodes.firstText()
          }
          controller.enqueue(chunk)
        },
      }),
    )
  }

  override async transcriptionNode(
    text: ReadableStream<string | voice.TimedString>,
  ): Promise<ReadableStream<string | voice.TimedString> | null> {
    return text.pipeThrough(
      new TransformStream({
        transform: (chunk, controller) => {
          this.#nodes.spoken(chunk)
          controller.enqueue(chunk)
        },
        flush: () => this.#nodes.spoken(undefined),
      }),
    )
  }

  /** The context with what the knowledge base says to the caller's last words. The conversation's own is unchanged. */
  async #informed(chatCtx: llm.ChatContext): Promise<llm.ChatContext> {
    const last = chatCtx.items.at(-1)
    if (this.#nodes.knowledge === undefined || last?.type !== 'message' || last.role !== 'user') return chatCtx
    const note = await this.#nodes.knowledge.note(last.textContent ?? '')
    if (note === undefined) return chatCtx
    const informed = chatCtx.copy()
    informed.items.splice(-1, 0, llm.ChatMessage.create({ role: 'system', content: note, createdAt: last.createdAt }))
    return informed
  }
}
