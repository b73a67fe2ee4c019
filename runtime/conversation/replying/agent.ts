import { type ReadableStream, TransformStream } from 'node:stream/web'
import { llm, type stt, voice } from '@livekit/agents'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import { instructionsFor } from '../languages/instructions.ts'
import type { Knowledge } from './knowledge.ts'
import { presentContext } from './present-context.ts'

interface AgentNodes {
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

/** The agent of one conversation: its prompt, and the places where the session's pipeline is ours. */
export class ConversationAgent extends voice.Agent {
  readonly #nodes: AgentNodes

  constructor(spec: AgentSpec, chatCtx: llm.ChatContext, nodes: AgentNodes) {
    super({ instructions: instructionsFor(spec.systemPrompt, spec.language, spec), chatCtx, tools: nodes.tools })
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
    const answer = await voice.Agent.default.llmNode(
      this,
      await this.#informed(presentContext(chatCtx, this.chatCtx)),
      toolCtx,
      settings,
    )
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
