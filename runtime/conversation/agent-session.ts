import { voice } from '@livekit/agents'
import type { Logger } from 'pino'
import { fromAgent, toAgent } from '../call.ts'
import type { CallEvent } from '../call-log/events.ts'
import type { Clock } from '../clock.ts'
import type { OpenSession, SessionEndReason, TurnLatency } from '../link/messages.ts'
import { codecFor } from '../media/codec.ts'
import type { Pacer } from '../media/pacer.ts'
import type { ProviderIdentity } from '../plugin/provider-error.ts'
import type { AgentState } from '../session/leg.ts'
import { ConversationAgent } from './agent.ts'
import type { Breakers } from './breaker.ts'
import { Company } from './company.ts'
import type { Conversation, SessionPort } from './contract.ts'
import { Ears } from './ears.ts'
import { Failures } from './failures.ts'
import { Farewell } from './farewell.ts'
import type { Fillers } from './fillers.ts'
import { type Entry, Keypad } from './keypad.ts'
import { Knowledge } from './knowledge.ts'
import { languageOf } from './languages/index.ts'
import { LatencyMeter } from './latency.ts'
import { CallLimits } from './limits.ts'
import { Listen } from './listen.ts'
import { type LocalModels, MODEL_RATE_HZ } from './models.ts'
import { Mouth } from './mouth.ts'
import { Opening } from './opening.ts'
import { createPipeline } from './pipeline.ts'
import { closeProviders, type ProviderSource, type Providers, prewarm } from './providers.ts'
import { ResilientLlm } from './resilient-llm.ts'
import { ResilientTts } from './resilient-tts.ts'
import { makeTools } from './tools.ts'
import { Transcript } from './transcript.ts'
import { endpointingDelayMs, TurnEnd } from './turn.ts'
import { UsageMeter, usageEvents } from './usage.ts'
import { VoiceActivity } from './voice-activity.ts'
import type { WarmProviders } from './warm-providers.ts'

const CLOSE_TIMEOUT_MS = 3000
/** What was used since the last report is lost with the worker. */
const USAGE_EVERY_MS = 3_000

/** What a voice worker counts of its conversations. */
export interface ConversationObserver {
  turn(latency: TurnLatency): void
  failure(stage: 'stt' | 'llm' | 'tts' | 'session'): void
}

export interface ConversationDeps {
  providers: ProviderSource
  /** Opened while a phone rang. */
  warm?: WarmProviders
  /** Who a provider is to an operator. */
  identityOf?: (provider: string) => ProviderIdentity
  /** Shared by the conversations of the process. */
  breakers: Breakers
  fillers: Fillers
  random(): number
  models: LocalModels
  pacer: Pacer
  clock: Clock
  log: Logger
  observer: ConversationObserver
  /** Silence that ends the caller's turn, by how sure the end-of-turn model is; default: the curve of turn.ts. */
  endpointingDelayMs?: (probability: number) => number
}

/** One conversation: wires the stages around a session of @livekit/agents. Made by conversations.ts. */
export class AgentConversation implements Conversation {
  readonly #deps: ConversationDeps
  readonly #open: OpenSession
  readonly #port: SessionPort
  readonly #providers: Providers
  readonly #log: Logger
  readonly #abort = new AbortController()
  readonly #ears: Ears
  readonly #voice: VoiceActivity
  readonly #turnEnd: TurnEnd
  readonly #listen: Listen
  readonly #mouth: Mouth
  readonly #knowledge: Knowledge | undefined
  readonly #transcript: Transcript
  readonly #latency = new LatencyMeter()
  readonly #usage = new UsageMeter()
  readonly #answeredMs: number
  readonly #limits: CallLimits
  readonly #keypad = new Keypad()
  readonly #company: Company
  readonly #opening: Opening
  readonly #farewell: Farewell
  readonly #failures: Failures
  readonly #session: voice.AgentSession
  readonly #leave: (() => void)[] = []
  readonly #in: ReturnType<typeof toAgent>
  #state: AgentState = 'listening'
  #speechStartMs: number | undefined
  #speechEndMs = 0
  /** A typed turn that the session has not taken yet. */
  #typed: { text: string; inputs: readonly number[] } | undefined
  #toolCalls: number
  /** What the session says or is about to say. */
  readonly #speeches = new Set<voice.SpeechHandle>()
  /** The caller's last turn was answered with at least a sound. */
  #replied = false
  #usageReportedMs: number
  #closing: Promise<void> | undefined

  constructor(deps: ConversationDeps, open: OpenSession, port: SessionPort, providers: Providers) {
    const { clock, models, pacer } = deps
    this.#deps = deps
    this.#open = open
    this.#port = port
    this.#providers = providers
    this.#log = deps.log.child({ callId: open.callId })
    const answeredMs = clock.monotonicMs() - open.elapsedMs
    this.#answeredMs = answeredMs
    this.#usageReportedMs = clock.monotonicMs()
    this.#limits = new CallLimits(open.limits, answeredMs)
    this.#toolCalls = open.resume?.tools.length ?? 0
    this.#transcript = new Transcript(port, (atMs) => Math.max(0, Math.round(atMs - answeredMs)))
    this.#ears = new Ears(clock)
    const language = () => languageOf(open.agent.language)
    this.#turnEnd = new TurnEnd(
      this.#ears,
      models,
      clock,
      deps.endpointingDelayMs ?? endpointingDelayMs,
      (err) => this.#failures.stage('session', err),
      language,
    )
    this.#voice = new VoiceActivity(this.#ears, models, clock, {
      speechStarted: (startMs) => this.#speechStarted(startMs),
      paused: () => this.#turnEnd.paused(),
      speechEnded: (endMs) => this.#speechEnded(endMs),
    })
    this.#knowledge = open.agent.hasKnowledge
      ? new Knowledge(port, this.#abort.signal, (err) => this.#log.warn({ err }, 'Knowledge base lookup failed'))
      : undefined
    this.#mouth = new Mouth(open.format, codecFor(open.format).encode, port, clock, {
      started: () => this.#transcript.agentStarted(),
      audible: (atMs) => this.#audible(atMs),
      progress: () => this.#progress(),
    })
    this.#listen = new Listen(
      providers.stt,
      this.#ears,
      this.#voice,
      {
        agentSpeaks: () => this.#mouth.speaking,
        language,
        interim: (text) => this.#said(text),
        overdue: (endMs) => this.#company.waits(endMs),
        noWords: () => this.#company.over(),
        failed: () => void this.#failures.giveUp('stt'),
      },
      this.#abort.signal,
    )
    const llm = new ResilientLlm(providers.llm, deps.random)
    const tts = new ResilientTts(providers.tts, deps.random)
    this.#company = new Company(open.agent, this.#mouth, deps.fillers, tts)
    this.#opening = new Opening(open, port, this.#ears, answeredMs, {
      voicemail: () => this.#end('voicemail'),
      userTurn: (text) => this.#userTurn(text),
      failed: (error) => this.#failures.stage('session', error),
    })
    this.#session = createPipeline({ llm, tts }, this.#voice, this.#turnEnd)
    this.#farewell = new Farewell(
      this.#session,
      open.agent.language,
      { replied: () => this.#replied, hungUp: () => this.#end('agent_hangup') },
      this.#log,
    )
    this.#failures = new Failures({
      providers,
      session: this.#session,
      farewell: this.#farewell,
      language: open.agent.language,
      observer: deps.observer,
      log: this.#log,
      over: () => this.#closing !== undefined,
      end: (reason) => this.#end('error', reason),
    })
    this.#in = toAgent(open.format, MODEL_RATE_HZ, this.#ears, clock, pacer)
    this.#leave.push(
      this.#in.close,
      fromAgent(this.#mouth, pacer).close,
      pacer.add((_frames, nowMs) => this.#tick(nowMs)),
    )
  }

  async start(): Promise<void> {
    const { agent, resume } = this.#open
    const history = resume?.turns ?? []
    this.#subscribe()
    this.#session.output.audio = this.#mouth
    // The phone rings still: connections are there when the first word is.
    prewarm(this.#providers)
    await this.#session.start({
      agent: new ConversationAgent(agent, history, {
        listen: () => this.#listen.stream(),
        knowledge: this.#knowledge,
        tools: makeTools(
          agent.tools ?? [],
          this.#port,
          { nextId: () => `tool-${++this.#toolCalls}`, hangUp: (speech) => this.#farewell.hangUp(speech) },
          this.#abort.signal,
        ),
        takesTurn: (text) => this.#opening.takesTurn(text),
        firstText: () => this.#latency.firstText(this.#deps.clock.monotonicMs()),
        spoken: (text) => (text === undefined ? this.#mouth.textDone() : this.#mouth.addText(text)),
      }),
      record: false,
    })
    const last = history.at(-1)
    const nowMs = this.#deps.clock.monotonicMs()
    if (last === undefined ? agent.firstMessage.trim() !== '' : last.role === 'user' || last.interrupted) {
      this.#company.waits(nowMs)
    }
    if (last === undefined) {
      this.#opening.begin(this.#session)
    } else if (last.role === 'user') {
      // The caller has been waiting since then, whichever worker answers.
      this.#latency.turnCommitted(this.#answeredMs + last.endMs, nowMs)
      this.#session.generateReply()
    } else if (last.interrupted) {
      this.#session.generateReply({
        instructions: 'Your last words were cut off by a fault of the line. Finish what you were saying from there.',
      })
    }
  }

  audio(bytes: Uint8Array, timestamp: number): void {
    if (this.#closing === undefined) this.#in.audio(bytes, timestamp)
  }

  input(event: CallEvent): void {
    if (this.#closing !== undefined) return
    const nowMs = this.#deps.clock.monotonicMs()
    if (event.type === 'typed') {
      this.#text(event.text, [event.seq])
    } else if (event.type === 'key') {
      this.#limits.active()
      if (!this.#opening.takesKey(event.digit, event.seq)) {
        this.#keyed(this.#keypad.press(event.digit, event.seq, nowMs))
      }
    } else if (event.type === 'answered_by') {
      const { by } = event
      if (by === 'human' || by === 'machine' || by === 'unknown') this.#opening.carrierVerdict(by, nowMs)
    }
  }

  #text(text: string, inputs: readonly number[]): void {
    this.#limits.active()
    this.#company.waits(this.#deps.clock.monotonicMs())
    this.#typed = { text, inputs }
    this.#guard(async () => {
      await this.#session.interrupt().await
      this.#session.generateReply({ userInput: text, inputModality: 'text' })
    })
  }

  played(markId: number): void {
    this.#mouth.played(markId)
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    this.#log.debug({ reason }, 'Conversation closes')
    for (const leave of this.#leave.splice(0)) leave()
    this.#settle(true)
    this.#reportUsage()
    this.#abort.abort()
    this.#opening.close()
    this.#turnEnd.close()
    this.#mouth.stop()
    let timer: NodeJS.Timeout | undefined
    try {
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)
      })
      await Promise.race([this.#session.close(), late])
    } catch (err) {
      this.#log.warn({ err }, 'The agent session did not close cleanly')
    } finally {
      clearTimeout(timer)
      // What was cut off by the close is counted with it.
      this.#reportUsage()
      this.#session.removeAllListeners()
      await closeProviders(this.#providers, this.#log)
    }
  }

  /** Ends the session from this side: said once, then everything is released. */
  #end(reason: SessionEndReason, error?: string): void {
    if (this.#closing !== undefined) return
    this.#settle(true)
    this.#reportUsage()
    this.#port.ended(reason, error)
    void this.close(reason)
  }

  #subscribe(): void {
    const session = this.#session
    const { AgentSessionEventTypes: events } = voice
    session.on(events.AgentStateChanged, ({ newState }) => this.#stateChanged(newState))
    session.on(events.UserInputTranscribed, ({ transcript, isFinal }) => this.#words(transcript, isFinal))
    session.on(events.ConversationItemAdded, ({ item }) => {
      if (item.type !== 'message') return
      if (item.role === 'user') this.#userTurn(item.textContent ?? '')
      // A cut-off first message is kept in full by the session: the model is to know what was heard.
      else if (item.role === 'assistant' && item.interrupted) item.content = [this.#mouth.heardSoFar()?.text ?? '']
    })
    session.on(events.SpeechCreated, ({ speechHandle }) => {
      this.#speeches.add(speechHandle)
      speechHandle.addDoneCallback(() => {
        this.#speeches.delete(speechHandle)
        if (this.#mouth.speaking) return
        this.#settle(speechHandle.interrupted)
        // Words of another speech, whose sound is still being made, stay.
        if (this.#speeches.size === 0) this.#mouth.dropUnspoken()
      })
    })
    session.on(events.MetricsCollected, ({ metrics }) => this.#usage.count(metrics))
    session.on(events.Error, ({ error }) => this.#failures.providers(error))
    session.on(events.Close, ({ error }) => {
      if (this.#closing !== undefined) return
      this.#failures.stage('session', error)
      this.#end('error', 'The agent session ended by itself')
    })
  }

  #tick(nowMs: number): void {
    this.#keyed(this.#keypad.tick(nowMs))
    this.#opening.tick(nowMs)
    const waiting = this.#state === 'listening' && !this.#voice.speaking && !this.#mouth.speaking
    this.#company.tick(nowMs, { callerSpeaks: this.#voice.speaking, thinking: this.#state === 'thinking' })
    const over = this.#limits.check(nowMs, waiting)
    if (over !== undefined) this.#end(over)
    if (nowMs - this.#usageReportedMs >= USAGE_EVERY_MS) this.#reportUsage()
  }

  #speechStarted(startMs: number): void {
    this.#limits.active()
    this.#turnEnd.speechStarted()
    this.#opening.speechStarted(startMs)
    this.#listen.speechStarted()
    this.#company.interrupted()
    this.#speechStartMs ??= startMs
  }

  #speechEnded(endMs: number): void {
    // The model's window ends up to 64 ms after the last sound; the sound itself says when, unless the line is noisy.
    const { lastLoudMs } = this.#ears
    this.#speechEndMs = lastLoudMs < endMs && lastLoudMs > endMs - 300 ? lastLoudMs : endMs
    this.#turnEnd.speechEnded(this.#speechEndMs)
    this.#opening.speechEnded(this.#speechEndMs)
    this.#listen.speechEnded(endMs)
  }

  /** Words of the caller, also those that are no turn. */
  #said(text: string): void {
    this.#knowledge?.hint(text)
    this.#opening.words(text, this.#deps.clock.monotonicMs())
  }

  #words(text: string, final: boolean): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const endMs = this.#voice.speaking ? nowMs : this.#speechEndMs || nowMs
    // Words, not sounds, are what an answer is owed to.
    if (!this.#voice.speaking && !this.#mouth.speaking) this.#company.waits(endMs)
    this.#transcript.words(text, this.#speechStartMs ?? endMs, endMs, final)
  }

  #userTurn(text: string): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const typed = text === this.#typed?.text ? this.#typed : undefined
    this.#company.waits(nowMs)
    if (typed !== undefined) this.#typed = undefined
    this.#ears.forget()
    this.#mouth.expectReply()
    this.#replied = false
    if (typed !== undefined) {
      this.#latency.turnCommitted(nowMs, nowMs)
      this.#transcript.user(text, nowMs, nowMs, typed.inputs)
      return
    }
    const endMs = this.#voice.speaking ? nowMs : this.#speechEndMs || nowMs
    this.#transcript.user(text, this.#speechStartMs ?? endMs, endMs)
    this.#speechStartMs = undefined
    this.#latency.turnCommitted(endMs, nowMs)
  }

  #audible(atMs: number): void {
    this.#failures.overcome()
    this.#replied = true
    const latency = this.#latency.audible(atMs)
    if (latency === undefined) return
    const { endpointingMs, llmMs, ttsMs, totalMs } = latency
    this.#port.tell({
      type: 'latency',
      endpointing_ms: endpointingMs,
      stt_ms: 0,
      llm_ms: llmMs,
      tts_ms: ttsMs,
      total_ms: totalMs,
    })
    this.#deps.observer.turn(latency)
  }

  #progress(): void {
    const heard = this.#mouth.heardSoFar()
    if (heard !== undefined) this.#transcript.agentProgress(heard)
  }

  /** The agent's running turn is over: what was heard of it goes into the record. */
  #settle(interrupted: boolean): void {
    const heard = this.#mouth.speaking ? this.#mouth.heardSoFar() : this.#mouth.takeHeard()
    this.#transcript.agentDone(heard, interrupted)
    this.#reportUsage()
  }

  #stateChanged(state: voice.AgentState): void {
    const next = state === 'thinking' || state === 'speaking' ? state : 'listening'
    if (next === this.#state && state !== 'listening') return
    this.#state = next
    this.#port.state(next)
  }

  #keyed(entry: Entry | undefined): void {
    if (entry === undefined) return
    this.#text(`[The caller pressed ${[...entry.digits].join(' ')} on the keypad]`, entry.inputs)
  }

  #reportUsage(): void {
    this.#usageReportedMs = this.#deps.clock.monotonicMs()
    const usage = this.#usage.take(this.#ears.heardMs)
    for (const event of usage === undefined ? [] : usageEvents(usage)) this.#port.tell(event)
  }

  /** A call into the session that fails concerns this conversation alone. */
  #guard(act: () => void | Promise<void>): void {
    void (async () => act())().catch((err: unknown) => this.#failures.stage('session', err))
  }
}
