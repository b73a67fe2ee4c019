import { outcomeOf } from '../call/control/session.ts'
import type { OpenSession } from '../call/link/messages.ts'
import { collectOutput, collectTool } from '../call/log/collect-output.ts'
import { type CallEvent, type CallEventBody, isPassing } from '../call/log/events.ts'
import { type CallState, fold, NOTHING_YET } from '../call/log/fold.ts'
import { stagesOf } from '../call/path.ts'
import type { AgentSpec, SessionLimits } from '../call/types/agent-spec.ts'
import type { AgentState } from '../call/types/leg.ts'
import type { EndReason } from '../call/types/outcome.ts'
import { answerGuard } from '../conversation/guarding/answer-guard.ts'
import { isBackchannel } from '../conversation/hearing/barge-in.ts'
import { SpokenLanguage } from '../conversation/hearing/spoken-language.ts'
import type { Order, Report } from '../conversation/stages/signal.ts'
import { Stages } from '../conversation/stages/stage.ts'
import { initialState } from '../conversation/stages/state.ts'
import type { CallerAct, TestCaller } from './caller.ts'
import type { MockAnswer } from './mocks.ts'
import type { NextAgents } from './next-agents.ts'
import type { SimulatedClock } from './simulated-clock.ts'
import { type ReplyModel, TextReplies } from './text-replies.ts'
import { type SpokenPiece, speechMs, TextSpeech } from './text-speech.ts'

/** What calls add to the model's time until the caller's turn is over. */
const ENDPOINTING_MS = 500
/** Words over the agent's voice cut it off after so long. */
const BARGE_IN_MS = 400
const TICK_MS = 60
const PROGRESS_EVERY_TICKS = 5
const YIELD_EVERY_TICKS = 500
const KEY_MS = 200
/** Longer than keys are gathered (keypad.ts). */
const KEYS_OVER_MS = 1_800
/** Something goes round in circles. */
const MAX_CALLER_TURNS = 300

interface TextConversationOptions {
  agent: AgentSpec
  limits: SessionLimits
  clock: SimulatedClock
  model: ReplyModel
  caller: TestCaller
  handoffs: NextAgents
  /** Answers a call of a tool. What it throws ends the conversation. */
  callTool(name: string, given: Record<string, unknown>): Promise<MockAnswer>
  /** What happens, as it happens. */
  tell?(event: CallEvent): void
  signal: AbortSignal
}

/**
 * One conversation in text and simulated time: the stages of a call decide (runtime/call/path.ts), the agent's own language model answers;
 * hearing and speaking take the time that they would take.
 */
export class TextConversation {
  readonly #options: TextConversationOptions
  readonly #stages: Stages
  readonly #speech: TextSpeech
  readonly #replies: TextReplies
  readonly #spoken: SpokenLanguage
  readonly #events: CallEvent[] = []
  #call: CallState = NOTHING_YET
  #state: AgentState = 'listening'
  /** A request to the model or the caller that time waits for. */
  #awaited: Promise<void> | undefined
  #suppressed = false
  #filler: (() => void) | undefined
  /** What the agent said since the caller's last turn. */
  #said = ''
  #callerActs = false
  #callerTurns = 0
  #seq = 0
  #over: { reason: EndReason; error?: string } | undefined
  #failure: unknown

  constructor(options: TextConversationOptions) {
    this.#options = options
    const { agent, clock, limits } = options
    this.#spoken = new SpokenLanguage(agent.language, agent)
    const open: OpenSession = {
      session: 0,
      callId: 'test',
      agent,
      format: { encoding: 'pcm_s16le', sampleRateHz: 16_000 },
      limits,
      elapsedMs: 0,
    }
    this.#stages = new Stages(
      stagesOf({
        open,
        callMs: (ms) => ms,
        language: () => this.#spoken.language,
        tag: () => this.#spoken.tag,
        nowMs: () => clock.nowMs(),
      }),
      initialState(undefined),
      () => clock.monotonicMs(),
      (order) => this.#do(order),
    )
    this.#speech = new TextSpeech(clock, {
      started: (piece) => this.#voiceStarted(piece),
      ended: (piece, heard, interrupted) => this.#voiceEnded(piece, heard, interrupted),
    })
    this.#replies = new TextReplies({
      clock,
      model: options.model,
      agent,
      handoffs: options.handoffs,
      guard: answerGuard(
        agent,
        () => this.#spoken,
        (event) => this.#tell(event),
      ),
      speech: this.#speech,
      callTool: options.callTool,
      report: (report) => this.#report(report),
      tell: (event) => this.#tell(event),
      later: (delayMs, act) => this.#later(delayMs, act),
      await: (work) => this.#await(work),
      transferred: () => this.#end('transferred'),
    })
  }

  /** Runs to the end of the conversation and returns its log. Throws what a tool threw, and the signal's reason. */
  async run(): Promise<CallEvent[]> {
    const { clock, signal } = this.#options
    this.#tell({ type: 'answered' })
    this.#report({ type: 'begin' })
    this.#settle()
    for (let ticks = 1; this.#over === undefined; ) {
      signal.throwIfAborted()
      if (this.#failure !== undefined) throw this.#failure
      if (this.#awaited !== undefined) {
        await this.#awaited
        continue
      }
      if (!clock.step(ticks * TICK_MS)) {
        ticks++
        // A long silence is many ticks: others of the process have their turn meanwhile.
        if (ticks % YIELD_EVERY_TICKS === 0) await new Promise(setImmediate)
        if (ticks % PROGRESS_EVERY_TICKS === 0) this.#progress()
        this.#report({ type: 'tick' })
      }
      this.#settle()
    }
    if (this.#failure !== undefined) throw this.#failure
    const heard = this.#speech.heardSoFar()
    this.#report({ type: 'voice_ended', text: '', startMs: 0, endMs: 0, interrupted: false, ...heard })
    this.#report({ type: 'closing' })
    const { status, endReason: end_reason, disposition, error } = outcomeOf(this.#over, true, this.#call)
    const why = error === undefined ? {} : { error }
    this.#tell({ type: 'ended', status, end_reason, disposition, ...why, duration_ms: clock.monotonicMs() })
    return this.#events
  }

  #report(report: Report): boolean {
    return this.#stages.report(report)
  }

  #do(order: Order): void {
    switch (order.type) {
      case 'tell':
        this.#tell(order.event)
        return
      case 'say': {
        const { text, purpose, interruptible, remembered } = order
        if (this.#suppressed) return
        const remember = remembered && text !== '' ? this.#options.model.said(text) : undefined
        this.#speech.say({ text, purpose, interruptible, hangsUp: false, over: (heard) => remember?.(heard) })
        return
      }
      case 'answer':
        this.#answer(order.text)
        return
      case 'continue_reply':
        this.#startReply(order.instructions)
        return
      case 'interrupt':
        if (order.force === 'keep_uninterruptible' && this.#speech.uninterruptible) return
        this.#interrupt(order.force !== false)
        return
      case 'suppress_output':
        this.#suppressed = order.on
        if (order.on) this.#interrupt(true)
        return
      case 'note':
        this.#options.model.note(order.role, order.text)
        return
      case 'run_tool':
        this.#await(this.#replies.runTool(order))
        return
      case 'collecting':
      case 'prepare_filler':
        return
      case 'collected':
        this.#collected(order)
        return
      case 'play_filler':
        this.#playFiller(order.text)
        return
      case 'stop_filler':
        this.#filler?.()
        this.#filler = undefined
        return
      case 'end':
        this.#end(order.reason === 'worker_drained' ? 'error' : order.reason, order.error)
    }
  }

  #collected({ event, continues }: Extract<Order, { type: 'collected' }>): void {
    this.#tell(event)
    const { id, name, status } = event
    this.#options.model.returned({ id, name: collectTool(name), args: '{}', output: collectOutput(event) })
    if (continues) this.#startReply(undefined)
    this.#report({ type: 'collect_over', id, status })
  }

  #end(reason: EndReason, error?: string): void {
    this.#over ??= { reason, ...(error === undefined ? {} : { error }) }
  }

  #tell(body: CallEventBody): CallEvent {
    const event: CallEvent = { ...body, seq: this.#seq++, at: this.#options.clock.nowMs() }
    this.#call = fold(this.#call, event)
    if (!isPassing(event)) this.#events.push(event)
    this.#options.tell?.(event)
    return event
  }

  // The agent's voice

  #voiceStarted(piece: SpokenPiece): void {
    const atMs = this.#options.clock.monotonicMs()
    if (!piece.interruptible) this.#report({ type: 'uninterruptible', on: true })
    this.#report({ type: 'voice_started', purpose: piece.purpose })
    this.#report({ type: 'audible', atMs, purpose: piece.purpose })
    this.#said = `${this.#said} ${piece.text}`.trim()
    if (this.#callerActs) return
    const cut = this.#options.caller.cutIn(this.#said)
    if (cut === undefined) return
    this.#callerActs = true
    this.#later(cut.atMs, () => this.#callerSpeaks(cut.say))
  }

  #voiceEnded(piece: SpokenPiece, heard: { text: string; startMs: number; endMs: number }, interrupted: boolean): void {
    if (!piece.interruptible && !this.#speech.uninterruptible) this.#report({ type: 'uninterruptible', on: false })
    if (piece.text !== '') {
      this.#report({ type: 'voice_ended', ...heard, interrupted })
    }
    const { purpose, hangsUp, failed } = piece
    this.#report({ type: 'speech_over', purpose, interrupted, hangsUp })
    if (failed !== undefined && !interrupted) {
      const { lastFailure: why, hopeless } = this.#options.model
      this.#report({ type: 'unanswered', stage: failed, why, hopeless, purpose })
    }
  }

  #progress(): void {
    const heard = this.#speech.heardSoFar()
    if (heard !== undefined && heard.text !== '') this.#report({ type: 'voice_progress', ...heard })
  }

  #playFiller(text: string): void {
    const over = (): void => {
      this.#filler = undefined
      this.#report({ type: 'filler_over' })
    }
    if (text === '') over()
    else this.#filler = this.#options.clock.after(speechMs(text), over)
  }

  // The agent's answers

  #answer(text: string): void {
    this.#options.model.heard(text)
    this.#startReply()
  }

  #interrupt(force: boolean): void {
    this.#replies.cancel()
    this.#speech.interrupt(force)
  }

  #startReply(instructions?: string): void {
    if (this.#suppressed) return
    this.#interrupt(false)
    this.#replies.start(instructions)
    this.#turnState()
  }

  /** Tells the stages what the agent does now, where that changed. */
  #turnState(): void {
    const state: AgentState = this.#speech.speaks ? 'speaking' : this.#replies.thinking ? 'thinking' : 'listening'
    if (state === this.#state) return
    this.#state = state
    this.#report({ type: 'agent_state', state })
  }

  // The caller

  /** After everything that happens: whose turn it is. */
  #settle(): void {
    if (this.#over !== undefined || this.#awaited !== undefined) return
    this.#turnState()
    const waits = this.#state === 'listening' && !this.#speech.busy && !this.#callerActs && this.#filler === undefined
    if (waits) this.#callerNext()
  }

  #callerNext(): void {
    this.#callerActs = true
    if (++this.#callerTurns > MAX_CALLER_TURNS) {
      this.#failure = new Error(`The conversation did not end within ${MAX_CALLER_TURNS} turns of the caller`)
      return
    }
    const act = (next: CallerAct): void => this.#later(next.waitMs, () => this.#callerDoes(next.does))
    const next = this.#options.caller.next(this.#said)
    if (next instanceof Promise) this.#await(next.then(act))
    else act(next)
  }

  #callerDoes(does: CallerAct['does']): void {
    if (does === 'hang_up') this.#end('caller_hangup')
    else if ('say' in does) this.#callerSpeaks(does.say)
    else if ('keys' in does) this.#callerPresses([...does.keys])
    else
      this.#later(does.silenceMs, () => {
        this.#callerActs = false
      })
  }

  #callerSpeaks(text: string): void {
    const { agent, clock } = this.#options
    this.#callerActs = true
    const startMs = clock.monotonicMs()
    this.#report({ type: 'speech_started', atMs: startMs })
    const mayInterrupt = agent.interruption?.enabled ?? true
    const cuts = mayInterrupt && !isBackchannel(text, this.#spoken.language)
    const overAgent = this.#speech.speaks
    if (cuts && overAgent) this.#later(Math.min(BARGE_IN_MS, speechMs(text)), () => this.#interrupt(false))
    this.#later(speechMs(text), () => {
      const endMs = clock.monotonicMs()
      this.#report({ type: 'speech_ended', atMs: endMs })
      this.#spoken.heard(text, undefined)
      this.#report({ type: 'heard_words', text, final: true, startMs, endMs })
      if (this.#speech.speaks) {
        this.#report({ type: 'over_speech', text, startMs, endMs })
        this.#callerDone()
        return
      }
      this.#later(ENDPOINTING_MS, () => {
        this.#callerDone()
        const isTaken = this.#report({ type: 'turn_over', turn: { text, startMs, endMs }, kept: false })
        if (!isTaken && this.#over === undefined) this.#answer(text)
      })
    })
  }

  #callerPresses(keys: readonly string[]): void {
    const [digit, ...rest] = keys
    if (digit === undefined) {
      // Keys are gathered until a pause: the agent is waited for.
      this.#later(KEYS_OVER_MS, () => this.#callerDone())
      return
    }
    const event = this.#tell({ type: 'key', digit })
    this.#report({ type: 'input', event })
    this.#later(KEY_MS, () => this.#callerPresses(rest))
  }

  #callerDone(): void {
    this.#callerActs = false
    this.#said = ''
  }

  /** Time stands still until all of it is done. What fails ends the conversation. */
  #await(work: Promise<unknown>): void {
    const awaited = Promise.all([this.#awaited, work])
      .then(() => {})
      .catch((error: unknown) => {
        this.#failure = error
      })
      .finally(() => {
        if (this.#awaited === awaited) this.#awaited = undefined
      })
    this.#awaited = awaited
  }

  /** Acts then, unless the conversation is over. */
  #later(delayMs: number, act: () => void): void {
    this.#options.clock.after(delayMs, () => {
      if (this.#over === undefined) act()
    })
  }
}
