import { ReadableStream, TransformStream } from 'node:stream/web'
import { llm, type stt, type tts, voice } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { AnswerGuard } from '../guarding/answer-guard.ts'
import { guardAnswer, SENTENCE_END } from '../guarding/guard-answer.ts'
import { instructionsFor } from '../languages/instructions.ts'
import { AnswerAudio } from '../realtime/answer.ts'
import { ANSWER_AUDIO } from '../realtime/realtime-llm.ts'
import { ANSWER_PIECES, sourcesOf, spokenPieces, withRefusal } from './answer-pieces.ts'
import type { Knowledge } from './knowledge.ts'
import { presentContext } from './present-context.ts'
import type { ToolResults } from './tool-results.ts'

interface AgentNodes {
  /** The words of the caller, as the session wants them. */
  listen(): ReadableStream<stt.SpeechEvent>
  knowledge: Knowledge | undefined
  /** A tool that is not the model's now. */
  isHidden(tool: string): boolean
  tools: llm.FunctionTool[]
  results: ToolResults
  /** Undefined: nothing is checked. */
  guard: AnswerGuard | undefined
  /** True when the caller's turn is not the model's to answer. */
  takesTurn(text: string): boolean
  /** The language model gave its first words. */
  firstText(): void
  /** What is spoken at the moment: a tag, and what is said in place of an answer that holds nothing to say. */
  spoken(): { tag: string; nothingSaid: string }
  /** Resolves when the context has what was heard of a speech that was cut off. */
  cutOff(): Promise<void>
  /** The voices of an answer that has sound of its own. */
  voiceOf(audio: AnswerAudio): tts.TTS
  /** The agent's words, beside the audio they belong to. */
  says(words: string): void
  /** All words of a piece of speech are there. */
  allSaid(text: string): void
}

/** The agent of one conversation: its prompt, and the places where the session's pipeline is ours. */
export class ConversationAgent extends voice.Agent {
  readonly #nodes: AgentNodes
  /** The sound of answers, by what LiveKit hands to both nodes of one. */
  readonly #sounds = new WeakMap<voice.ModelSettings, AnswerAudio>()

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
    await this.#nodes.cutOff()
    const informed = await this.#informed(this.#nodes.results.complete(presentContext(chatCtx, this.chatCtx)))
    const offered = new llm.ToolContext(
      toolCtx.tools.filter((tool) => !('name' in tool && this.#nodes.isHidden(String(tool.name)))),
    )
    const answer = await this.#guarded(informed, (context) =>
      voice.Agent.default.llmNode(this, context, offered, settings),
    )
    if (answer === null) return null
    let first = true
    const { tag, nothingSaid } = this.#nodes.spoken()
    return answer.pipeThrough(spokenPieces(tag, nothingSaid)).pipeThrough(
      new TransformStream({
        transform: (chunk, controller) => {
          if (first) {
            first = false
            this.#nodes.firstText()
          }
          if (typeof chunk === 'object') this.#takeSound(chunk, settings)
          controller.enqueue(chunk)
        },
      }),
    )
  }

  /** An answer with sound of its own is spoken in it. */
  override async ttsNode(
    text: ReadableStream<string>,
    settings: voice.ModelSettings,
  ): Promise<ReadableStream<AudioFrame> | null> {
    const sound = this.#sounds.get(settings)
    if (sound === undefined) return voice.Agent.default.ttsNode(this, text, settings)
    return spokenBy(this.#nodes.voiceOf(sound), text)
  }

  /** The sound goes beside the words: what the conversation remembers are words. */
  #takeSound(chunk: { delta?: llm.ChoiceDelta | undefined }, settings: voice.ModelSettings): void {
    const sound = chunk.delta?.extra?.[ANSWER_AUDIO]
    if (!(sound instanceof AnswerAudio)) return
    delete chunk.delta?.extra?.[ANSWER_AUDIO]
    // Sound can't be held back with its words: checked words are spoken by the agent's voice.
    if (!this.#sounds.has(settings) && this.#nodes.guard === undefined) this.#sounds.set(settings, sound)
  }

  override async transcriptionNode(
    text: ReadableStream<string | voice.TimedString>,
  ): Promise<ReadableStream<string | voice.TimedString> | null> {
    // Of this piece of speech alone: one that is cut off never ends, and its words are not the next one's.
    let said = ''
    return text.pipeThrough(
      new TransformStream({
        transform: (chunk, controller) => {
          const words = (typeof chunk === 'string' ? chunk : chunk.text).replaceAll(SENTENCE_END, '')
          said += words
          this.#nodes.says(words)
          controller.enqueue(chunk)
        },
        flush: () => this.#nodes.allSaid(said.trim()),
      }),
    )
  }

  /** The model's answer as far as it may be said. */
  async #guarded(
    context: llm.ChatContext,
    ask: (context: llm.ChatContext) => ReturnType<voice.Agent['llmNode']>,
  ): ReturnType<voice.Agent['llmNode']> {
    const { guard: checks } = this.#nodes
    if (checks === undefined) return ask(context)
    const first = await ask(context)
    if (first === null) return null
    const source = {
      ...ANSWER_PIECES,
      open: async (again?: { said: string; reason: string }) =>
        again === undefined ? first : ask(withRefusal(context, again)),
    }
    const { guard, phrase, refused } = checks
    return ReadableStream.from(guardAnswer(guard, sourcesOf(context), source, phrase, refused))
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

/** A text as a voice speaks it while it comes. */
function spokenBy(speaker: tts.TTS, text: ReadableStream<string>): ReadableStream<AudioFrame> {
  const stream = speaker.stream()
  stream.updateInputStream(text)
  const close = async (): Promise<void> => {
    stream.close()
    await text.cancel().catch(() => undefined)
  }
  return new ReadableStream({
    async start(controller) {
      try {
        for await (const piece of stream) {
          if (typeof piece === 'symbol') break
          controller.enqueue(piece.frame)
        }
        controller.close()
      } finally {
        await close()
      }
    },
    cancel: close,
  })
}
