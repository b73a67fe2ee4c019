import type { ReadableStream } from 'node:stream/web'
import type { llm, stt, tts } from '@livekit/agents'
import { llm as llms, voice } from '@livekit/agents'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { AgentState } from '../../call/types/leg.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { endedBy } from '../../lib/async/ended-by.ts'
import type { AnswerGuard } from '../guarding/answer-guard.ts'
import type { TurnEnd } from '../hearing/turn-end.ts'
import type { VoiceActivity } from '../hearing/voice-activity.ts'
import type { AnswerAudio } from '../realtime/answer.ts'
import { HEARD_MS, TYPED } from '../realtime/ledger.ts'
import type { SpeechOutput } from '../speaking/speech-output.ts'
import type { Order, Purpose } from '../stages/signal.ts'
import { ConversationAgent } from './agent.ts'
import { keepPrepared } from './keep-prepared.ts'
import type { Knowledge } from './knowledge.ts'
import { createPipeline, type PipelineOptions } from './pipeline.ts'
import { ToolResults } from './tool-results.ts'

const CLOSE_TIMEOUT_MS = 3000
const TELL_RESULTS =
  'A tool returned after your last words, which did not know of it. Tell the caller what it came to, and repeat nothing.'
/** An answer waits so long for the end of the speech that it cut off. */
const CUT_OFF_TIMEOUT_MS = 500

/** Speech that another worker doesn't repeat, or whose stage reports it itself. */
const PASSING: ReadonlySet<Purpose> = new Set(['apology', 'prompt', 'collect', 'goodbye', 'supervisor'])

/** A piece of speech that is over. */
export interface SpeechOver {
  purpose: Purpose
  interrupted: boolean
  /** The provider's stage that failed while it was made. */
  failed: 'llm' | 'tts' | undefined
  /** The language model wants the call ended with it. */
  hangsUp: boolean
}

interface DialogueEvents {
  /** True when the caller's turn is not the language model's to answer. */
  takesTurn(text: string): boolean
  state(state: AgentState): void
  /** The language model gave its first words. */
  firstText(): void
  /** All the words of a piece of speech are there: what is to be spoken. */
  said(text: string): void
  over(speech: SpeechOver): void
  /** What is said to its end begins, or is over. */
  uninterruptible(on: boolean): void
  failed(error: unknown): void
  /** The session ended by itself. */
  ended(error: unknown): void
}

interface DialogueOptions {
  agent: AgentSpec
  /** What was said and done before this worker. */
  context: llm.ChatContext
  providers: { llm: llm.LLM; tts: tts.TTS }
  /** Since 1970. */
  nowMs(): number
  voice: VoiceActivity
  turnEnd: TurnEnd
  output: SpeechOutput
  /** The voices of an answer that has sound of its own. */
  voiceOf(audio: AnswerAudio): tts.TTS
  knowledge: Knowledge | undefined
  guard: AnswerGuard | undefined
  /** What is spoken at the moment: a tag, and what is said in place of an answer that holds nothing to say. */
  spoken(): { tag: string; nothingSaid: string }
  /** @param keep for what each tool comes to */
  tools(hangUp: (speech: voice.SpeechHandle) => void, keep: ToolResults['keep']): llm.FunctionTool[]
  /** A tool that is not the model's now. */
  isHidden(tool: string): boolean
  listen(): ReadableStream<stt.SpeechEvent>
  pipeline: PipelineOptions
  events: DialogueEvents
}

interface Speech {
  readonly purpose: Purpose
  failed: 'llm' | 'tts' | undefined
  hangsUp: boolean
}

/**
 * The one door to a session of @livekit/agents: thinking and speaking, the tools and the chat context are its; who is answered,
 * when and with what is the stages' to say.
 */
export class Dialogue {
  readonly #options: DialogueOptions
  readonly #agent: ConversationAgent
  readonly #session: voice.AgentSession
  readonly #results: ToolResults
  /** What is said, is about to be, or is prepared for a turn that may be over. */
  readonly #speeches = new Map<voice.SpeechHandle, Speech>()
  #purpose: Purpose = 'reply'
  #uninterruptible = 0
  #state: AgentState = 'listening'
  /** Answers follow each other: what cuts off the last one is awaited. */
  #last: Promise<void> = Promise.resolve()
  #closing = false
  /** Nothing is said. */
  #silent = false

  constructor(options: DialogueOptions) {
    this.#options = options
    const { agent, context, knowledge, guard, output, events, tools, isHidden, listen, nowMs } = options
    this.#results = new ToolResults(nowMs)
    const keep: ToolResults['keep'] = (run, result) =>
      this.#results.keep(run, result).finally(() => setImmediate(boundary('call', () => this.#tellResults())))
    this.#agent = new ConversationAgent(agent, context, {
      listen,
      isHidden,
      knowledge,
      guard,
      results: this.#results,
      tools: tools((speech) => {
        const known = this.#speeches.get(speech)
        if (known !== undefined) known.hangsUp = true
      }, keep),
      voiceOf: options.voiceOf,
      takesTurn: (text) => events.takesTurn(text),
      firstText: () => events.firstText(),
      cutOff: () => this.#cutOff(),
      spoken: options.spoken,
      says: (words) => output.addText(words),
      allSaid: (text) => {
        output.textDone()
        if (text !== '' && !PASSING.has(this.purpose)) events.said(text)
      },
    })
    this.#session = createPipeline(options.providers, options.voice, options.turnEnd, options.pipeline)
  }

  async start(): Promise<void> {
    this.#subscribe()
    this.#session.output.audio = this.#options.output
    await this.#session.start({ agent: this.#agent, record: false })
    keepPrepared(this.#session)
  }

  /** What the running speech is for. */
  get purpose(): Purpose {
    const current = this.#session._activity?.currentSpeech
    return (current === undefined ? undefined : this.#speeches.get(current)?.purpose) ?? 'reply'
  }

  /** Something is said or prepared. */
  get busy(): boolean {
    return this.#speeches.size > 0
  }

  /** Says a text after what is being said. */
  say(
    text: string,
    purpose: Purpose,
    { interruptible, remembered }: { interruptible: boolean; remembered: boolean },
  ): void {
    if (this.#silent) return
    this.#act(() => {
      this.#purpose = purpose
      try {
        const speech = this.#session.say(text, { allowInterruptions: interruptible, addToChatCtx: remembered })
        if (interruptible) return
        if (this.#uninterruptible++ === 0) this.#options.events.uninterruptible(true)
        speech.addDoneCallback(() => {
          if (--this.#uninterruptible === 0) this.#options.events.uninterruptible(false)
        })
      } finally {
        this.#purpose = 'reply'
      }
    })
  }

  /** Answers the caller. What is being said is cut off. */
  answer(text: string, spoken: boolean): void {
    const extra = spoken ? {} : { [TYPED]: true }
    const userInput = llms.ChatMessage.create({ role: 'user', content: text, extra })
    this.#last = this.#last.then(async () => {
      try {
        // What is said to its end is not cut off by an answer, either.
        while (this.#uninterruptible > 0 && !this.#closing)
          await this.#session._activity?.currentSpeech?.waitForPlayout()
        if (this.#closing || this.#silent) return
        await this.#session.interrupt().await
        if (!this.#closing && !this.#silent)
          this.#session.generateReply({ userInput, inputModality: spoken ? 'audio' : 'text' })
      } catch (error) {
        this.#options.events.failed(error)
      }
    })
  }

  /** What was cut off is in the context as far as it was heard: the library ends it on its own time. */
  async #cutOff(): Promise<void> {
    const cut = [...this.#speeches.keys()].filter(({ interrupted }) => interrupted)
    if (cut.length === 0) return
    const whole = Promise.all(cut.map((speech) => speech.waitForPlayout()))
    await endedBy(whole, AbortSignal.timeout(CUT_OFF_TIMEOUT_MS)).catch(() => undefined)
  }

  /** Has the language model speak with the context as it is. */
  continueReply(instructions: string | undefined): void {
    if (this.#silent) return
    this.#act(() => this.#session.generateReply(instructions === undefined ? {} : { instructions }))
  }

  interrupt(how: Extract<Order, { type: 'interrupt' }>['force']): void {
    if (how === 'keep_uninterruptible' && this.#uninterruptible > 0) return
    const force = how !== false
    this.#act(() => this.#session.interrupt({ force }))
    // A forced interrupt ends the speech before its audio: the audio must be stopped here.
    if (force) this.#options.output.clearBuffer()
  }

  /** Replies are prepared before the caller's turn is over, or not. */
  prepareReplies(on: boolean): void {
    const { prepares } = this.#options.pipeline
    this.#session.sessionOptions.turnHandling.preemptiveGeneration.enabled = on && prepares && !this.#silent
  }

  /** Suppresses all output from here on, or allows it again. */
  suppressOutput(on: boolean): void {
    this.#silent = on
    // Also avoids paying for replies that will not be played.
    this.prepareReplies(!on)
    if (on) this.interrupt(true)
  }

  /** The language model gets to know something, and doesn't answer. `nowMs`: since 1970. */
  note(role: 'user' | 'system', text: string, nowMs: number): void {
    const context = this.#agent.chatCtx.copy()
    context.addMessage({ role, content: text, createdAt: nowMs, extra: { [TYPED]: true } })
    this.remember(context)
  }

  /** What a tool returned that had ended its answer. `nowMs`: since 1970. */
  toolReturned({ id, name, output }: { id: string; name: string; output: string }, nowMs: number): void {
    const context = this.#agent.chatCtx.copy()
    const returned = new Set(
      context.items.flatMap((item) => (item.type === 'function_call_output' ? [item.callId] : [])),
    )
    // The session keeps the call without an output, which no provider takes.
    const open = context.items.findLastIndex(
      (item) => item.type === 'function_call' && item.name === name && !returned.has(item.callId),
    )
    if (open >= 0) context.items.splice(open, 1)
    context.insert([
      llms.FunctionCall.create({ callId: id, name, args: '{}', createdAt: nowMs }),
      llms.FunctionCallOutput.create({ callId: id, name, output, isError: false, createdAt: nowMs }),
    ])
    this.remember(context)
  }

  /** What was said and done until now, in place of what the language model knows of it. */
  remember(context: llm.ChatContext): void {
    this.#agent.updateChatCtx(context).catch((error: unknown) => this.#options.events.failed(error))
  }

  async close(): Promise<void> {
    this.#closing = true
    let timer: NodeJS.Timeout | undefined
    try {
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)
      })
      await Promise.race([this.#session.close(), late])
    } finally {
      clearTimeout(timer)
      this.#session.removeAllListeners()
    }
  }

  /** What a tool of a cut-off answer returned is told once nothing else is said, unless the caller speaks: their turn is answered with it. */
  #tellResults(): void {
    if (this.#closing || this.busy || !this.#results.areUntold || this.#session.userState === 'speaking') return
    this.continueReply(TELL_RESULTS)
  }

  /** A call into the session that fails concerns this conversation alone. */
  #act(act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!this.#closing) this.#options.events.failed(error)
    }
  }

  #subscribe(): void {
    const session = this.#session
    const { events, output } = this.#options
    const { AgentSessionEventTypes: types } = voice
    session.on(
      types.AgentStateChanged,
      boundary('call', ({ newState }) => this.#stateChanged(newState)),
    )
    session.on(
      types.ConversationItemAdded,
      boundary('call', ({ item }) => {
        if (item.type !== 'message' || item.role !== 'assistant' || !item.interrupted) return
        // A cut-off first message is kept in full by the session: the model is to know what was heard.
        item.content = [output.heardSoFar()?.text ?? '']
        item.extra[HEARD_MS] = output.lastSoundMs
      }),
    )
    session.on(
      types.SpeechCreated,
      boundary('call', ({ speechHandle }) => this.#created(speechHandle)),
    )
    session.on(
      types.Error,
      boundary('call', ({ error }) => this.#erred(error)),
    )
    session.on(
      types.Close,
      boundary('call', ({ error }) => {
        if (!this.#closing) events.ended(error)
      }),
    )
  }

  #created(handle: voice.SpeechHandle): void {
    const speech: Speech = { purpose: this.#purpose, failed: undefined, hangsUp: false }
    this.#speeches.set(handle, speech)
    handle.addDoneCallback(() => {
      this.#speeches.delete(handle)
      setImmediate(boundary('call', () => this.#tellResults()))
      // Prepared for a turn that continued: discard it.
      if (!handle.scheduled) return
      const { purpose, failed, hangsUp } = speech
      this.#options.events.over({ purpose, interrupted: handle.interrupted, failed, hangsUp })
    })
  }

  /** All providers of a stage failed. Each failure was reported by itself. */
  #erred(event: unknown): void {
    const { type, recoverable, error } = event as { type?: string; recoverable?: boolean; error?: unknown }
    const stage = type === 'llm_error' ? 'llm' : type === 'tts_error' ? 'tts' : undefined
    if (stage === undefined) {
      if (!this.#closing) this.#options.events.failed(error ?? event)
      return
    }
    if (recoverable === true) return
    const newest = [...this.#speeches].filter(([, { purpose }]) => stage === 'tts' || purpose === 'reply').at(-1)?.[1]
    const current = this.#session._activity?.currentSpeech
    const running = current === undefined ? undefined : this.#speeches.get(current)
    const failed = stage === 'tts' ? (running ?? newest) : (newest ?? running)
    if (stage === 'tts') this.#options.output.voiceFailed()
    if (failed !== undefined) failed.failed = stage
  }

  #stateChanged(state: voice.AgentState): void {
    const next = state === 'thinking' || state === 'speaking' ? state : 'listening'
    if (next === this.#state && state !== 'listening') return
    this.#state = next
    this.#options.events.state(next)
  }
}
