import type { Logger } from 'pino'
import type { LinkedConversation, SessionPort } from '../call/link/linked-conversation.ts'
import type { OpenSession, Owed, SoundSpan } from '../call/link/messages.ts'
import { collectOutput, collectTool } from '../call/log/collect-output.ts'
import type { CallEvent, CallEventBody, EventOf } from '../call/log/events.ts'
import { fromAgent, stagesOf, toAgent } from '../call/path.ts'
import { HANDED_OFF_OUTPUT } from '../call/types/hand-off.ts'
import type { SessionEndReason } from '../call/types/outcome.ts'
import { BEGIN_PROCEDURE, isOfOtherProcedure, procedureText } from '../call/types/procedure.ts'
import type { TurnLatency } from '../call/types/usage.ts'
import { boundary, inBackground } from '../lib/async/boundary.ts'
import type { Clock } from '../lib/clock.ts'
import { codecFor } from '../media/codecs/codec.ts'
import { EchoSuppressor } from '../media/dsp/echo.ts'
import { Limiter } from '../media/dsp/limiter.ts'
import type { Pacer } from '../media/line/pacer.ts'
import type { ProviderIdentity } from '../plugin-sdk/provider-error.ts'
import { hasWords } from '../plugin-sdk/speech/sentences.ts'
import { contextOfCall } from '../traces/trace-context.ts'
import { type CollectState, collectPauseMs } from './collecting/collecting.ts'
import type { ReadingContext } from './collecting/reading.ts'
import { answerGuard } from './guarding/answer-guard.ts'
import { CallerHearing } from './hearing/caller-hearing.ts'
import type { Breakers } from './providers/breaker.ts'
import type { ProviderKind } from './providers/chain.ts'
import { type LocalModels, MODEL_RATE_HZ } from './providers/models.ts'
import { closeProviders, type ProviderSource, type Providers, prewarm } from './providers/providers.ts'
import type { WarmProviders } from './providers/warm-providers.ts'
import type { AnswerAudio } from './realtime/answer.ts'
import { answerVoices } from './realtime/answer-voice.ts'
import { RealtimeLlm } from './realtime/realtime-llm.ts'
import { TurnWords } from './realtime/turn-words.ts'
import { contextOf } from './replying/context.ts'
import { Dialogue, type SpeechOver } from './replying/dialogue.ts'
import { finishTools, isOpen } from './replying/finish-tools.ts'
import { Knowledge } from './replying/knowledge.ts'
import { ResilientLlm } from './replying/resilient-llm.ts'
import { spentOf } from './replying/spending.ts'
import { makeCollectTools, makeTools } from './replying/tools.ts'
import type { Fillers } from './speaking/fillers.ts'
import { replayTimestamps } from './speaking/replay-timestamps.ts'
import { ResilientTts } from './speaking/resilient-tts.ts'
import { SpeechOutput, type SpeechOutputEvents } from './speaking/speech-output.ts'
import { spokenMarkup } from './speaking/spoken-markup.ts'
import type { Order, Report } from './stages/signal.ts'
import { Stages } from './stages/stage.ts'
import { initialState } from './stages/state.ts'
import { UsageMeter, usageEvents } from './usage.ts'
import type { LostAudio } from './worker-metrics.ts'

/** What was used since the last report is lost with the worker. */
const USAGE_EVERY_MS = 3_000
/** Interval of the stages' tick; their timers are far longer. */
const TICK_EVERY_MS = 60

/** What a voice worker counts of its conversations. */
export interface ConversationObserver {
  turn(latency: TurnLatency, callId: string): void
  failure(stage: ProviderKind | 'session'): void
  /** So much of the caller's sound was not heard. */
  audioLost(where: LostAudio, ms: number): void
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
  /** Traces are exported: requests to language models carry the call's trace context. */
  traced?: boolean
  /** Silence that ends every turn of the caller's; default: by their words. */
  fixedSilenceMs?: number
}

/**
 * One conversation: joins the stages (runtime/call/path.ts), which decide, to the devices, which hear, think and speak. Made by
 * conversations.ts.
 */
export class Conversation implements LinkedConversation {
  readonly #deps: ConversationDeps
  readonly #open: OpenSession
  readonly #port: SessionPort
  readonly #providers: Providers
  readonly #log: Logger
  readonly #abort = new AbortController()
  readonly #stages: Stages
  readonly #hearing: CallerHearing
  readonly #echo: EchoSuppressor
  readonly #output: SpeechOutput
  readonly #dialogue: Dialogue
  readonly #knowledge: Knowledge | undefined
  readonly #tts: ResilientTts
  /** The agent's speech-to-speech model, where it has one. */
  readonly #realtime: RealtimeLlm | undefined
  /** Where the model's words for what the caller said take the place of the recogniser's. */
  readonly #turnWords: TurnWords | undefined
  readonly #usage = new UsageMeter()
  readonly #answeredMs: number
  readonly #leave: (() => void)[] = []
  readonly #in: ReturnType<typeof toAgent>
  #toolCalls: number
  /** Tools that another worker had called have returned, and the model knows of it. */
  #caughtUp = false
  /** Procedures that the model has begun. */
  readonly #begun = new Set<string>()
  #usageReportedMs: number
  #isUsageDue = false
  #owedTold: Owed
  #tickedMs = 0
  #lost: Readonly<Record<LostAudio, number>> = { line: 0, late: 0, voice_activity: 0 }
  #held: boolean
  /** What is being collected from the caller. */
  #collecting: { state: CollectState; context: ReadingContext } | undefined
  #closing: Promise<void> | undefined

  /** @param answeredMs when the call was answered, monotonic */
  constructor(deps: ConversationDeps, open: OpenSession, port: SessionPort, providers: Providers, answeredMs: number) {
    const { clock, models, pacer, random } = deps
    const { agent, format, resume } = open
    this.#deps = deps
    this.#open = open
    this.#port = port
    this.#providers = providers
    this.#log = deps.log.child({ callId: open.callId })
    this.#realtime = providers.llm.candidates.map(({ instance }) => instance).find((one) => one instanceof RealtimeLlm)
    const turnsBefore = resume?.turnCount ?? resume?.turns.length ?? 0
    this.#turnWords = agent.transcribe === 'model' && this.#realtime ? new TurnWords(turnsBefore) : undefined
    this.#answeredMs = answeredMs
    this.#usageReportedMs = clock.monotonicMs()
    this.#owedTold = this.#usage.owed
    this.#held = resume?.held ?? false
    // A value that is being collected has the id of a call that returned nothing yet.
    const pending = resume?.collecting === undefined ? 0 : 1
    this.#toolCalls = (resume?.toolCalls ?? resume?.tools.length ?? 0) + pending
    for (const tool of resume?.tools ?? [])
      if (tool.name === BEGIN_PROCEDURE) this.#begun.add(String(tool.arguments.name))
    const callMs = (atMs: number) => Math.max(0, Math.round(atMs - this.#answeredMs))
    this.#stages = new Stages(
      stagesOf({
        open,
        callMs,
        language: () => this.#hearing.spoken.language,
        tag: () => this.#hearing.spoken.tag,
        nowMs: () => clock.nowMs(),
      }),
      initialState(resume),
      () => clock.monotonicMs(),
      (order) => this.#do(order),
    )
    this.#knowledge = agent.hasKnowledge
      ? new Knowledge(port, this.#abort.signal, (err) => this.#log.warn({ err }, 'Knowledge base lookup failed'))
      : undefined
    this.#echo = new EchoSuppressor(format.sampleRateHz, MODEL_RATE_HZ)
    const { encode } = codecFor(format)
    const limiter =
      format.encoding === 'pcmu' || format.encoding === 'pcma' ? new Limiter(format.sampleRateHz) : undefined
    const send = (frame: Int16Array) => {
      const limited = limiter?.push(frame) ?? frame
      this.#echo.sent(limited, clock.monotonicMs())
      return encode(limited)
    }
    const said: SpeechOutputEvents = {
      started: () => this.#report({ type: 'voice_started', purpose: this.#dialogue.purpose }),
      audible: (atMs) => this.#report({ type: 'audible', atMs, purpose: this.#dialogue.purpose }),
      progress: () => this.#progress(),
      fillerOver: () => this.#report({ type: 'filler_over' }),
      wordsSettled: () => this.#hearing.recogniser.settled(),
    }
    this.#output = new SpeechOutput(format, send, port, clock, said, answeredMs)
    if (resume?.held === true) this.#output.hold(true)
    this.#hearing = new CallerHearing({
      open,
      chain: providers.stt,
      models,
      clock,
      echo: this.#echo,
      fixedSilenceMs: deps.fixedSilenceMs,
      agent: {
        busy: () => this.#dialogue.busy,
        speaks: () => this.#output.speaking,
        said: () => this.#output.heardSoFar()?.text ?? '',
      },
      dictationPauseMs: (words) =>
        this.#collecting && collectPauseMs(this.#collecting.state, words, this.#collecting.context),
      events: {
        report: (report) => {
          this.#heedVoice(report)
          this.#report(report)
        },
        // What is dictated is no question, and no model's to answer.
        words: (text) => this.#collecting ?? this.#knowledge?.hint(text),
        prepares: (on) => this.#dialogue.prepareReplies(on && this.#collecting === undefined),
        language: (tag) => this.#tts.speakIn(tag),
        unheard: () => this.#unanswered('stt', 'reply', true),
        failed: (err) => this.#failed('session', err),
      },
      signal: this.#abort.signal,
    })
    this.#tts = this.#voices(providers.tts)
    if (this.#hearing.spoken.follows) this.#tts.speakIn(this.#hearing.spoken.tag)
    this.#dialogue = new Dialogue({
      agent,
      context: contextOf(resume, clock.nowMs()),
      providers: {
        llm: new ResilientLlm(providers.llm, random, {
          trace: deps.traced ? contextOfCall(open.callId) : undefined,
          asked: (more) => this.#asked(more),
          spent: (spent) => this.#usage.spent(spent),
        }),
        tts: this.#tts,
      },
      voice: this.#hearing.voice,
      turnEnd: this.#hearing.turnEnd,
      output: this.#output,
      voiceOf: (audio) => this.#voiceOf(audio),
      knowledge: this.#knowledge,
      guard: answerGuard(
        agent,
        () => this.#hearing.spoken,
        (event) => this.#tell(event),
      ),
      spoken: () => {
        const { tag, language } = this.#hearing.spoken
        return { tag, nothingSaid: language.phrases.sayAgain }
      },
      nowMs: () => clock.nowMs(),
      tools: (hangUp, keep) => {
        const hooks = {
          keep,
          nextId: () => `tool-${++this.#toolCalls}`,
          hangUp,
          procedureBegun: (id: string, name: string) => this.#procedureBegun(id, name),
          settle: () => this.#settle(false),
          collect: (id: string, name: string) => this.#report({ type: 'collect', id, name }),
          transferring: (on: boolean) => this.#report({ type: 'transferring', on }),
          phrases: () => this.#hearing.spoken.language.phrases,
        }
        return [
          ...makeTools(agent.tools ?? [], port, hooks, this.#abort.signal),
          ...makeCollectTools(agent.collect ?? [], hooks),
        ]
      },
      isHidden: (tool) => isOfOtherProcedure(agent.procedures ?? [], this.#begun, tool),
      listen: () => this.#hearing.recogniser.stream(),
      pipeline: {
        interruption: agent.interruption ?? { enabled: true, sensitivity: 'normal' },
        // Sound that is made in vain costs: a model that speaks is asked when the turn is over.
        prepares: this.#realtime?.speaks !== true,
      },
      events: {
        takesTurn: (text) => this.#turnOver(text),
        state: (state) => this.#stateChanged(state),
        firstText: () => this.#report({ type: 'first_text', atMs: clock.monotonicMs() }),
        over: (speech) => this.#speechOver(speech),
        said: (text) => this.#tell({ type: 'said', text }),
        uninterruptible: (on) => this.#report({ type: 'uninterruptible', on }),
        failed: (err) => this.#failed('session', err),
        ended: (err) => this.#sessionEnded(err),
      },
    })
    const saidAt = replayTimestamps(
      resume?.heard,
      this.#answeredMs,
      format.sampleRateHz,
      () => this.#hearing.inbound.behind,
    )
    const realtime = this.#realtime
    if (realtime !== undefined) {
      this.#leave.push(this.#hearing.inbound.listen((samples, endMs) => realtime.caller.hear(samples, endMs)))
      realtime.usedLater = (usage) => this.#usage.spent(spentOf(realtime, usage))
      realtime.transcribed = (words) => {
        for (const { event, sound } of this.#turnWords?.transcribed(words) ?? []) port.tell(event, sound)
      }
      realtime.transcriptionUsed = ({ model, seconds }) =>
        port.tell({ type: 'usage', stage: 'stt', seconds, served_by: { provider: realtime.provider, model } })
    }
    this.#in = toAgent(format, MODEL_RATE_HZ, this.#echo, this.#hearing.inbound, clock, pacer, saidAt)
    this.#leave.push(
      this.#in.close,
      fromAgent(this.#output, pacer).close,
      pacer.add((_frames, nowMs) => this.#tick(nowMs)),
    )
    if (agent.voicemail !== undefined && resume?.answeredBy === undefined) {
      this.#leave.push(this.#hearing.listenForTones())
    }
  }

  async start(): Promise<void> {
    // The phone is still ringing: connections are open before the first word.
    prewarm(this.#providers)
    await this.#dialogue.start()
    this.#report({ type: 'begin' })
  }

  audio(bytes: Uint8Array, timestamp: number): void {
    // A caller who has put us on hold sends only music.
    if (this.#closing === undefined && !this.#held) this.#in.audio(bytes, timestamp)
  }

  input(event: CallEvent): void {
    if (event.type === 'held' || event.type === 'unheld') {
      this.#held = event.type === 'held'
      this.#output.hold(this.#held)
    }
    // Text typed after speech is answered after it.
    if (this.#hearing.inbound.behind)
      inBackground(
        'call',
        this.#hearing.inbound.caughtUp().then(() => this.#report({ type: 'input', event })),
      )
    else this.#report({ type: 'input', event })
  }

  played(markId: number): void {
    this.#output.played(markId)
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    this.#log.debug({ reason }, 'Conversation closes')
    for (const leave of this.#leave.splice(0)) leave()
    this.#tellRest()
    this.#abort.abort()
    this.#hearing.turnEnd.close()
    this.#output.stop()
    try {
      await this.#dialogue.close()
    } catch (err) {
      this.#log.warn({ err }, 'The agent session did not close cleanly')
    } finally {
      // Usage of work the close cut off is included.
      this.#reportUsage()
      await closeProviders(this.#providers, this.#log)
    }
  }

  /** Ends the session from this side: reported once, then everything is released. */
  #end(reason: SessionEndReason, error?: string): void {
    if (this.#closing !== undefined) return
    this.#tellRest()
    this.#port.ended(reason, error)
    inBackground('call', this.close(reason))
  }

  /** Reports what was said until now and is not logged yet. */
  #tellRest(): void {
    this.#settle(true)
    this.#report({ type: 'closing' })
    this.#reportUsage()
  }

  #report(report: Report): boolean {
    return this.#closing === undefined && this.#stages.report(report)
  }

  #do(order: Order): void {
    switch (order.type) {
      case 'tell':
        this.#tell(order.event, order.sound)
        return
      case 'say': {
        const text = spokenMarkup(order.text, this.#hearing.spoken.tag)
        // A language without sentences of its own says nothing by itself.
        if (hasWords(text)) this.#dialogue.say(text, order.purpose, order)
        else this.#saidNothing(order.purpose)
        return
      }
      case 'answer':
        // Words that waited are answered as a turn of their own.
        if (order.spoken) this.#hearing.dropTurn()
        this.#expectReply()
        this.#dialogue.answer(order.text, order.spoken)
        return
      case 'continue_reply':
        inBackground('call', this.#continueReply(order.instructions))
        return
      case 'interrupt':
        this.#dialogue.interrupt(order.force)
        return
      case 'suppress_output':
        this.#dialogue.suppressOutput(order.on)
        return
      case 'note':
        this.#dialogue.note(order.role, order.text, this.#deps.clock.nowMs())
        return
      case 'collecting':
        this.#collecting = order.state && { state: order.state, context: order.context }
        // What is dictated, secrets among it, is no model's to hear.
        this.#realtime?.caller.listen(order.state === undefined)
        this.#dialogue.prepareReplies(order.state === undefined)
        return
      case 'collected':
        inBackground('call', this.#collected(order))
        return
      case 'run_tool':
        inBackground('call', this.#runTool(order))
        return
      case 'prepare_filler':
        if (order.text === '') return
        this.#deps.fillers.prepare(this.#voiceKey, order.text, this.#tts)
        return
      case 'play_filler': {
        if (order.text === '') {
          this.#report({ type: 'filler_over' })
          return
        }
        const { samples, sampleRateHz, text } = this.#deps.fillers.take(this.#voiceKey, order.text)
        this.#output.playFiller(samples, sampleRateHz, text)
        return
      }
      case 'stop_filler':
        this.#output.stopFiller()
        return
      case 'end':
        // Other signals of the same report are logged before the end.
        queueMicrotask(boundary('call', () => this.#end(order.reason, order.error)))
    }
  }

  /** The model gets what was collected, a secret's value the api node alone. */
  async #collected({ event, continues, secret }: Extract<Order, { type: 'collected' }>): Promise<void> {
    let known = event
    if (secret !== undefined) {
      try {
        await this.#port.ask('secret', secret, this.#abort.signal)
      } catch (err) {
        this.#failed('session', err)
        known = { ...event, status: 'gave_up' }
      }
      if (this.#closing !== undefined) return
    }
    this.#tell(known)
    const { id, name } = known
    this.#dialogue.toolReturned({ id, name: collectTool(name), output: collectOutput(known) }, this.#deps.clock.nowMs())
    if (continues) this.#dialogue.continueReply(undefined)
    this.#report({ type: 'collect_over', id, status: known.status })
  }

  /** Goes on where another worker stopped, once the tools it had called have returned. */
  async #continueReply(instructions: string | undefined): Promise<void> {
    const { resume } = this.#open
    const asked = this.#caughtUp ? undefined : resume?.tools
    const tools = asked && (await finishTools(asked, this.#port, this.#abort.signal))
    if (this.#closing !== undefined) return
    const handOff = tools?.find(
      ({ id, result }) => result === HANDED_OFF_OUTPUT && isOpen(asked?.find((one) => one.id === id)),
    )
    if (handOff !== undefined) {
      await this.#port.ask('hand_off', { id: handOff.id }, this.#abort.signal)
      return
    }
    this.#caughtUp = true
    if (tools !== undefined)
      this.#dialogue.remember(
        contextOf({ turns: resume?.turns ?? [], tools, notes: resume?.notes ?? [] }, this.#deps.clock.nowMs()),
      )
    this.#dialogue.continueReply(instructions)
  }

  /** The model knows the procedure's text; its fixed steps are the stages'. */
  #procedureBegun(id: string, name: string): boolean {
    const procedure = this.#open.agent.procedures?.find((one) => one.name === name)
    this.#begun.add(name)
    if (procedure === undefined || procedure.fixed.length === 0) return false
    this.#dialogue.note('system', procedureText(procedure), this.#deps.clock.nowMs())
    // Behind the tool, which ends the model's answer.
    setImmediate(boundary('call', () => this.#report({ type: 'procedure_begun', id, name })))
    return true
  }

  /** For a stage: a failure is an answer, too. */
  async #runTool({ id, name, arguments: given }: Extract<Order, { type: 'run_tool' }>): Promise<void> {
    this.#toolCalls++
    this.#caughtUp = true
    const ask = this.#port.ask('tool', { id, name, arguments: given }, this.#abort.signal)
    const output = await ask.then(
      (answer) => answer.output,
      (error: unknown) => `The tool failed: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (this.#closing !== undefined) return
    this.#dialogue.note('system', `The tool ${name} was called and returned: ${output}`, this.#deps.clock.nowMs())
    this.#report({ type: 'tool_over', output })
  }

  #saidNothing(purpose: SpeechOver['purpose']): void {
    queueMicrotask(
      boundary('call', () => this.#speechOver({ purpose, interrupted: false, failed: undefined, hangsUp: false })),
    )
  }

  /** A speech-to-speech model hears voices, and no noise. */
  #heedVoice({ type }: Report): void {
    const caller = this.#realtime?.caller
    if (type === 'speech_started') caller?.speechStarted(this.#hearing.voice.speechStartMs)
    else if (type === 'speech_ended') caller?.speechEnded()
    else if (type === 'noise' || type === 'no_words') caller?.drop()
  }

  #voiceOf(audio: AnswerAudio): ResilientTts {
    const { llm, tts } = this.#providers
    const model = llm.candidates.find(({ instance }) => instance === this.#realtime)!
    return this.#voices(answerVoices(audio, model, tts))
  }

  #voices(chain: Providers['tts']): ResilientTts {
    return new ResilientTts(chain, this.#deps.random, {
      pronunciation: this.#open.agent.pronunciation,
      tag: () => this.#hearing.spoken.tag,
      asked: (characters) => this.#asked({ characters }),
      spent: (characters) => this.#usage.spoken(characters),
    })
  }

  get #voiceKey(): string {
    const { tts } = this.#open.agent
    return JSON.stringify([tts.provider, tts.voice, this.#hearing.spoken.tag])
  }

  #tell(event: CallEventBody, sound?: SoundSpan): void {
    this.#port.tell(event, sound)
    for (const corrected of this.#turnWords?.told(event, sound) ?? []) this.#port.tell(corrected.event, corrected.sound)
    if (event.type === 'latency') this.#deps.observer.turn(latencyOf(event), this.#open.callId)
  }

  #tick(nowMs: number): void {
    if (nowMs - this.#tickedMs >= TICK_EVERY_MS) {
      this.#tickedMs = nowMs
      this.#report({ type: 'tick' })
    }
    if (this.#isUsageDue || nowMs - this.#usageReportedMs >= USAGE_EVERY_MS) this.#reportUsage()
  }

  /** The caller's spoken turn is over. True when a stage consumed it and the language model must not answer. */
  #turnOver(text: string): boolean {
    const taken = this.#hearing.takeTurn(text)
    this.#expectReply()
    const isTaken = this.#report({ type: 'turn_over', ...taken, kept: false })
    // Its words are answered otherwise, or are a note: the next turn is not to begin with their sound.
    if (isTaken) this.#realtime?.caller.turnTaken()
    return isTaken
  }

  #expectReply(): void {
    this.#output.expectReply()
  }

  #progress(): void {
    const heard = this.#output.heardSoFar()
    if (heard !== undefined) this.#report({ type: 'voice_progress', ...heard })
  }

  #speechOver({ purpose, interrupted, failed, hangsUp }: SpeechOver): void {
    if (!this.#output.speaking) {
      this.#settle(interrupted)
      // Words of another speech, whose sound is still being made, stay.
      if (!this.#dialogue.busy) this.#output.dropUnspoken()
    }
    if (interrupted && purpose === 'reply') this.#realtime?.cut()
    this.#report({ type: 'speech_over', purpose, interrupted, hangsUp })
    if (failed !== undefined && !interrupted) this.#unanswered(failed, purpose, this.#providers[failed].hopeless)
  }

  /** The agent's speech is over: the part that was heard goes into the log. */
  #settle(interrupted: boolean): void {
    const heard = this.#output.speaking ? this.#output.heardSoFar() : this.#output.takePlayedText()
    const { text, startMs, endMs } = heard ?? { text: '', startMs: 0, endMs: 0 }
    this.#report({ type: 'voice_ended', text, startMs, endMs, interrupted })
    this.#reportUsage()
  }

  #unanswered(stage: ProviderKind, purpose: SpeechOver['purpose'], hopeless: boolean): void {
    this.#report({ type: 'unanswered', stage, purpose, hopeless, why: this.#providers[stage].lastFailure })
  }

  #stateChanged(state: 'listening' | 'thinking' | 'speaking'): void {
    this.#port.state(state)
    this.#report({ type: 'agent_state', state })
  }

  #failed(stage: ProviderKind | 'session', err: unknown): void {
    if (this.#closing !== undefined) return
    this.#deps.observer.failure(stage)
    this.#log.warn({ err, stage }, 'A stage of the conversation failed')
  }

  #sessionEnded(err: unknown): void {
    this.#failed('session', err)
    this.#end('error', 'The agent session ended by itself')
  }

  #reportLosses(): void {
    const before = this.#lost
    this.#lost = { ...this.#in.lost, voice_activity: this.#hearing.voice.droppedMs }
    for (const where of ['line', 'late', 'voice_activity'] as const) {
      const ms = this.#lost[where] - before[where]
      if (ms > 0) this.#deps.observer.audioLost(where, ms)
    }
  }

  /** A worker that is killed takes with it what it has not told: that requests begin is told before they do. */
  #asked(more: Partial<Owed>): void {
    this.#usage.owe(more)
    // Of those that are over, it waits for the next tick, with what they cost.
    if (Object.values(more).some((amount) => amount < 0)) this.#isUsageDue = true
    else if (this.#isUsageDue) this.#reportUsage()
    else this.#tellOwed()
  }

  #tellOwed(): void {
    const { owed } = this.#usage
    if (owed === this.#owedTold) return
    this.#owedTold = owed
    this.#port.owes(owed)
  }

  #reportUsage(): void {
    this.#isUsageDue = false
    this.#usageReportedMs = this.#deps.clock.monotonicMs()
    this.#reportLosses()
    const usage = this.#usage.take(this.#hearing.inbound.heardMs)
    for (const event of usage === undefined ? [] : usageEvents(usage)) this.#port.tell(event)
    this.#tellOwed()
  }
}

function latencyOf(event: EventOf<'latency'>): TurnLatency {
  return {
    totalMs: event.total_ms,
    endpointingMs: event.endpointing_ms + event.stt_ms,
    llmMs: event.llm_ms,
    ttsMs: event.tts_ms,
  }
}
