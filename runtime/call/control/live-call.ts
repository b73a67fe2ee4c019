import { setTimeout as sleep } from 'node:timers/promises'
import type { SlotClaim } from '../../admission/slot-claim.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { AnsweredBy } from '../../plugin-sdk/telephony/carrier.ts'
import type { Logger } from '../../process/log.ts'
import type { CallTap } from '../../recording/call-recording.ts'
import type { LinkSession } from '../link/api-end.ts'
import type { AskMethod, Owed, SoundSpan } from '../link/messages.ts'
import { CallLog } from '../log/call-log.ts'
import type { CallEventBody, EventOf, SupervisorEvent } from '../log/events.ts'
import { cutOff, errorOf } from '../log/fold.ts'
import { type CallJournal, journalSink } from '../log/journal.ts'
import { resumeOf } from '../log/resume.ts'
import { DRAINED, fromCaller, fromWorker, input, type PathCall, told } from '../path.ts'
import { CallTimeline } from '../timeline.ts'
import type { AgentSpec, SessionLimits } from '../types/agent-spec.ts'
import type { Leg } from '../types/leg.ts'
import type { Outcome } from '../types/outcome.ts'
import type { ServingAgent } from '../types/usage.ts'
import { CallWorker } from './call-worker.ts'
import { CallerAudio } from './caller-audio.ts'
import type { ClaimedSlot, Dispatch } from './dispatch.ts'
import { describes, type HandoffOrder, handedOffEvent } from './hand-off.ts'
import { HoldSound } from './hold-sound.ts'
import type { Leases } from './leases.ts'
import { lostUsage, pauseAfterLossMs } from './lost-workers.ts'
import { Marks } from './marks.ts'
import {
  type EndCause,
  outcomeOf,
  QUEUED,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  step,
  type Waits,
} from './session.ts'
import { Supervision } from './supervision.ts'
import { Transfer, type TransferOrder, type TransferResult } from './transfer.ts'
import { workerAlias } from './worker-alias.ts'
import { type AskAnswers, WorkerRequests } from './worker-requests.ts'

const MAX_FAILED_OPENINGS = 3
/** The worker keeps the time; this is for one that doesn't. */
const OVERTIME_MS = 10_000

export interface LiveCallOptions {
  callId: string
  /** The claim with which the call asks for a slot. */
  claim: SlotClaim
  agent: AgentSpec
  limits: SessionLimits
  leg: Leg
  journal: CallJournal
  /** A seat taken beforehand, for the first worker; the call releases it. */
  seat?: ClaimedSlot
  /** How long a callee without a reserved slot waits before the announcement. Absent: the usual wait. */
  unseated?: { waitMs: number; announcement: AgentSpec }
  /** The log of the call before it had a leg, which goes on. */
  before?: CallLog
  dispatch: Dispatch
  leases: Leases
  /** Does what workers ask for. */
  answers: AskAnswers
  waits: Waits
  clock: Clock
  log: Logger
}

/** One call of this node: its leg, its state, and the worker that runs its conversation, replaced when it dies. */
export class LiveCall implements PathCall {
  readonly callId: string
  readonly leg: Leg
  readonly marks = new Marks()
  readonly log: CallLog
  link: LinkSession | undefined
  readonly audio = new CallerAudio()
  readonly supervision: Supervision
  readonly timeline: CallTimeline
  tap: CallTap | undefined
  /** The caller is on the way to another human, or with them. */
  transferring: Transfer | undefined
  /** Resolves when the call is over and written down. */
  readonly done: Promise<Outcome>
  readonly #options: LiveCallOptions
  readonly #asks: WorkerRequests
  readonly #over = new AbortController()
  #state: SessionState = QUEUED
  readonly #worker: CallWorker
  /** The agent that has the call. */
  #agent: AgentSpec
  /** Those that had it, by id. */
  readonly #agents = new Map<string, AgentSpec>()
  #overtime: NodeJS.Timeout | undefined
  /** Sounds while no worker speaks. */
  #hold: HoldSound | undefined
  #failedOpenings = 0
  /** What requests of the worker's that are under way will have cost. */
  #owed: Owed | undefined
  #resolveDone: (outcome: Outcome) => void = () => undefined

  constructor(options: LiveCallOptions) {
    this.#options = options
    this.#agent = options.agent
    this.callId = options.callId
    this.leg = options.leg
    this.timeline = new CallTimeline(options.leg.format, (nowMs) => this.callMs(nowMs))
    this.supervision = new Supervision(options.leg, this.timeline, options.clock, () => this.tap)
    this.#worker = new CallWorker({
      dispatch: options.dispatch,
      reserved: options.seat,
      events: () => {
        const { agentId } = this.#agent
        return { ...fromWorker(this, options.clock), late: (event, sound) => this.#late(event, agentId, sound) }
      },
      silent: () => this.workerLost('no answer to the offer'),
    })
    this.log = options.before ?? new CallLog(options.clock, [])
    this.log.follow([
      journalSink(options.journal, options.callId, (event) => this.#servingAt(event)),
      (event) => this.audio.take(event, options.clock.monotonicMs()),
    ])
    this.#asks = new WorkerRequests({
      ...{ callId: options.callId, log: this.log, answers: options.answers, clock: options.clock },
      agent: () => this.#agent,
      isAlone: () => this.#state.worker !== 'joined',
      handOff: (order) => this.#handOff(order),
    })
    this.done = new Promise((resolve) => {
      this.#resolveDone = resolve
    })
    this.#options.leases.holdCall(this.callId).catch((err) => {
      options.log.warn({ err, callId: this.callId }, 'The call could not be leased yet')
    })
    if (!this.log.state.queued) {
      const { agentVersion, rolloutId } = options.agent
      this.log.append({
        type: 'queued',
        ...(agentVersion === undefined ? {} : { agent_version: agentVersion }),
        ...(rolloutId === undefined ? {} : { rollout_id: rolloutId }),
      })
    }
    this.leg.start(fromCaller(this, options.clock))
    this.happened({ type: 'connected' })
  }

  /** Moves the state machine and does what follows. */
  happened(event: SessionEvent): void {
    const { state, effects } = step(this.#state, event, this.#options.clock.monotonicMs(), this.#waits)
    this.#state = state
    for (const effect of effects) this.#do(effect)
  }

  get #waits(): Waits {
    const { unseated, waits } = this.#options
    return unseated === undefined ? waits : { ...waits, queueMs: unseated.waitMs, announces: true }
  }

  callMs(nowMs = this.#options.clock.monotonicMs()): number {
    const { answeredAtMs } = this.#state
    return answeredAtMs === undefined ? 0 : nowMs - answeredAtMs
  }

  /** The process stops before the call is over. */
  shutDown(): void {
    this.happened({ type: 'leg_ended', reason: 'shutdown' })
  }

  /** Someone ends the call over the API. */
  hangUp(who?: EventOf<'hung_up'>['who']): void {
    if (who !== undefined && this.#state.phase !== 'ended') this.log.append({ type: 'hung_up', who })
    this.happened({ type: 'hung_up' })
  }

  /** The caller said that the call may be recorded. */
  consented(): void {
    if (this.tap === undefined) this.#record(this.#options.clock.monotonicMs())
  }

  /** The carrier says who picked up. */
  classified(by: AnsweredBy): void {
    input(this, { type: 'answered_by', by, source: 'carrier' })
  }

  /** A supervisor acted on the call. False: the call has no conversation, or it is over. */
  supervised(event: SupervisorEvent): boolean {
    if (this.#state.phase !== 'in_progress') return false
    input(this, event)
    return true
  }

  /** Transfers the caller to another human. Resolves when the two are connected, or when the transfer failed. */
  async transfer(order: TransferOrder): Promise<TransferResult> {
    if (this.#state.phase !== 'in_progress' || this.transferring !== undefined) {
      return { ok: false, reason: 'the call is being transferred already, or over' }
    }
    const { clock, log, dispatch } = this.#options
    const transfer = new Transfer(order, {
      ...{ callId: this.callId, leg: this.leg, clock, log },
      tell: (event) => {
        this.log.append(event)
      },
      takeSeat: (waitMs) => dispatch.take({ ...this.#options.claim, kind: 'recovering' }, waitMs, this.#over.signal),
      heard: (bytes) => this.tap?.agent(bytes, this.timeline.said(bytes, clock.monotonicMs())),
      joined: () => {
        this.happened({ type: 'transferred' })
        inBackground('call', this.#leaveWorker('done', 'transferred'))
      },
      left: () => this.happened({ type: 'leg_ended', reason: 'transferred' }),
    })
    this.transferring = transfer
    const result = await transfer.result
    if (!result.ok) this.transferring = undefined
    return result
  }

  /** What a worker asks for. */
  ask(method: AskMethod, params: unknown): Promise<unknown> {
    return this.#asks.ask(method, params)
  }

  /** The call goes on with another agent, in the slot of the one before. */
  #handOff({ faults, ...order }: HandoffOrder): void {
    if (this.#state.phase !== 'in_progress') return
    const cut = cutOff(this.log.state)
    if (cut !== undefined) told(this, cut)
    this.log.append(handedOffEvent(order, this.#agent, this.log.state))
    for (const sentence of faults) this.log.append({ type: 'fault', stage: 'tool', sentence })
    this.#agents.set(this.#agent.agentId, this.#agent)
    this.#agent = order.agent
    // The worker tells it late.
    this.#owed = undefined
    this.happened({ type: 'handed_off' })
  }

  /** The agent that was handed the call can't be run: the one before goes on. False: there is none, or it is that one. */
  #handBack(message: string): boolean {
    const last = this.log.state.handoffs.at(-1)
    const before = last === undefined || last.failed ? undefined : this.#agents.get(last.from)
    if (this.#state.handingOff !== true || before === undefined) return false
    const { agentName } = this.#agent
    this.log.append({ type: 'fault', stage: 'session', sentence: `The call stays: ${agentName}: ${message}` })
    const reason = `${agentName} could not take it.`
    this.#handOff({ agent: before, faults: [], reason, carries: 'all', failed: true })
    return true
  }

  /** Who serves; of what is told late, the agent that handed the call off. */
  #servingAt(event: CallEventBody): ServingAgent {
    const own = event.type === 'usage' && event.agent_id !== undefined ? this.#agents.get(event.agent_id) : undefined
    const { agentId, llm, stt, tts, language } = own ?? this.#agent
    const spoken = language === undefined ? {} : { language }
    return { llm, stt, tts, ...spoken, ...(agentId === this.#options.agent.agentId ? {} : { handedTo: agentId }) }
  }

  /**
   * The last words of an ended call count, and usage always counts, as that of the session's agent. Other events of a session that
   * moved are dropped: the next worker derives them from the replayed audio, and they would be logged twice.
   */
  #late(event: CallEventBody, agentId: string, sound?: SoundSpan): void {
    if (event.type === 'usage') told(this, agentId === this.#agent.agentId ? event : { ...event, agent_id: agentId })
    else if (this.#state.phase === 'ended') told(this, event, sound)
  }

  /** @param startMs monotonic */
  #record(startMs: number): void {
    this.tap = this.#options.journal.record?.(this.callId, this.leg.format, startMs, this.#options.agent.recording)
    if (this.tap === undefined) return
    const { answeredAtMs = startMs } = this.#state
    this.log.append({ type: 'recording_started', start_ms: startMs - answeredAtMs })
  }

  /** The worker that was offered the session runs it now. */
  accepted(): void {
    this.#worker.accepted()
    this.happened({ type: 'accepted' })
  }

  /** The worker had no room after all. */
  declined(full: boolean): void {
    inBackground('call', this.#leaveWorker(full ? 'full' : 'done'))
    this.happened({ type: 'declined' })
  }

  /**
   * The worker could not open the conversation: another one may. A call that rings gives up after a few; one that talks has
   * been opened before, and goes on looking.
   */
  failedToOpen(message: string): void {
    if (this.#handBack(message)) return
    this.log.append({ type: 'fault', stage: 'session', sentence: message })
    this.#failedOpenings++
    if (this.#state.answeredAtMs === undefined && this.#failedOpenings >= MAX_FAILED_OPENINGS) {
      this.happened({ type: 'refused', message })
      return
    }
    inBackground('call', this.#leaveWorker('failed'))
    this.happened({ type: 'declined' })
  }

  /** No worker can run the agent. */
  badAgent(message: string): void {
    if (!this.#handBack(message)) this.happened({ type: 'refused', message })
  }

  owes(owed: Owed): void {
    this.#owed = owed
  }

  /** The worker is gone, or gives the session back. */
  workerLost(reason: string): void {
    const workerId = this.#worker.id
    inBackground('call', this.#leaveWorker('lost'))
    const cut = cutOff(this.log.state)
    if (cut !== undefined) told(this, cut)
    // One that is drained tells it itself.
    for (const event of reason === DRAINED ? [] : lostUsage(this.#owed)) told(this, event)
    this.#owed = undefined
    if (workerId !== undefined) this.log.append({ type: 'worker_lost', worker: workerAlias(workerId), reason })
    this.happened({ type: 'worker_lost', ...(reason === DRAINED ? {} : { cameTo: this.#cameTo() }) })
    // What the agent had to say before is lost with its worker: the one that is found is offered the next agent.
    this.#asks.handOff()
  }

  #cameTo() {
    const { turns, greeting } = this.log.state
    return {
      turns: turns.filter(({ role }) => role === 'user').length,
      answers: turns.filter(({ role, interrupted }) => role === 'assistant' && !interrupted).length,
      // Recording starts only after its notice was played.
      mayLeaveOut: greeting !== 'notice' || this.tap === undefined,
    }
  }

  /** The next worker does without what the caller said last and what the agent was about to say. Returns words for the log. */
  #leaveOut(): string {
    const { waiting, said, greeting, consent } = this.log.state
    this.audio.drop()
    const inputs = waiting.map(({ seq }) => seq)
    if (inputs.length > 0) this.log.append({ type: 'inputs_taken', inputs })
    if (said !== undefined) {
      const atMs = Math.max(0, Math.round(this.callMs()))
      this.log.append({ type: 'heard', text: '', start_ms: atMs, end_ms: atMs, interrupted: false, final: true })
    }
    const asks = Boolean(this.#options.agent.consentMessage?.trim())
    if (greeting === 'notice') {
      this.log.append({ type: 'greeting', step: asks ? 'consent_asked' : 'first_message' })
      return 'the recording notice is left out'
    }
    if (greeting === 'consent_asked' && consent === undefined) {
      this.log.append({ type: 'consent', consent: 'unanswered' })
      return 'the question for consent is left out'
    }
    if (greeting === undefined || greeting === 'done') return 'what the caller said last is left out'
    this.log.append({ type: 'greeting', step: 'done' })
    return 'what the caller said last and the first message are left out'
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case 'record_ringing':
        if (!this.log.state.rang) this.log.append({ type: 'ringing' })
        break
      case 'seek':
        inBackground('call', this.#seek())
        return
      case 'offer':
        this.#offer()
        break
      case 'offer_next':
        this.link = undefined
        this.#worker.handOff()
        this.audio.settle(this.#options.clock.monotonicMs())
        this.leg.agentState('thinking')
        this.#offer(true)
        break
      case 'join_next':
        this.#join()
        break
      case 'announce':
        this.#announce()
        break
      case 'answer':
        this.log.append({ type: 'answered', ...describes(this.#options.agent) })
        this.#workerTaken('worker_taken')
        this.#overtime = setTimeout(
          boundary('call', () => this.happened({ type: 'agent_ended', reason: 'max_duration' })),
          this.#options.limits.maxDurationMs + OVERTIME_MS,
        )
        // Where consent is required, recording starts only after it is given.
        if (!this.#state.abandoned && !this.#options.agent.consentMessage?.trim()) {
          this.#record(this.#state.answeredAtMs ?? this.#options.clock.monotonicMs())
        }
        this.leg.answer()
        this.#join()
        break
      case 'leave_out':
        this.log.append({ type: 'fault', stage: 'session', sentence: `${effect.because}; ${this.#leaveOut()}` })
        break
      case 'hold':
        this.leg.agentState('thinking')
        this.#hold ??= new HoldSound(this.leg)
        // The caller talks with a supervisor and needs no hold sound.
        if (!this.log.state.takenOver) this.#hold.start()
        break
      case 'resume':
        this.#options.log.info({ callId: this.callId, workerId: this.#worker.id }, 'Call taken over')
        this.#workerTaken('resumed')
        this.#join()
        break
      case 'finish':
        this.#finish(effect.cause)
        return
    }
  }

  async #seek(): Promise<void> {
    const { clock } = this.#options
    try {
      const pauseMs = pauseAfterLossMs(this.#state.lost, clock.monotonicMs())
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: this.#over.signal })
      const waitMs = this.#state.seekUntilMs - clock.monotonicMs()
      const seat = await this.#worker.find(this.#claim(), waitMs, this.#over.signal)
      if (this.#state.phase === 'ended') return seat.release('done')
      this.#worker.keep(seat)
      this.happened({ type: 'seated' })
    } catch (err) {
      if (this.#over.signal.aborted) return
      if (!(err instanceof PatchbayError)) this.#options.log.error({ err, callId: this.callId }, 'Dispatch failed')
      this.happened({ type: 'no_capacity' })
    }
  }

  /** A call that lost its worker goes before any that has yet to begin. */
  #claim(): SlotClaim {
    const { claim } = this.#options
    return this.#state.answeredAtMs === undefined ? claim : { ...claim, kind: 'recovering' }
  }

  /** @param next in the slot of the agent before */
  #offer(next = false): void {
    const { limits } = this.#options
    const agent = this.#agent
    const { answeredAtMs } = this.#state
    this.marks.forget()
    this.timeline.forgetWorker()
    const session = {
      ...{ callId: this.callId, agent, format: this.leg.format, limits },
      ...(answeredAtMs === undefined ? {} : { resume: resumeOf(this.log.state, this.audio.last) }),
      elapsedMs: Math.round(this.callMs()),
    }
    this.#worker.offer(session, next)
  }

  /** The session without a slot: a worker says the announcement. */
  #announce(): void {
    const { unseated, limits, claim } = this.#options
    const isAsked =
      unseated !== undefined &&
      this.#worker.announce(
        { callId: this.callId, agent: unseated.announcement, format: this.leg.format, limits, elapsedMs: 0 },
        claim.pool,
      )
    if (!isAsked) this.happened({ type: 'no_capacity' })
  }

  #join(): void {
    this.#hold?.stop()
    this.link = this.#worker.session
    if (this.link === undefined) return
    this.audio.deliver(this.link, this.#options.clock.monotonicMs())
    for (const event of this.log.state.waiting) this.link.event(event)
  }

  #workerTaken(type: 'worker_taken' | 'resumed'): void {
    const workerId = this.#worker.id
    if (workerId !== undefined) this.log.append({ type, worker: workerAlias(workerId) })
  }

  /** Resolves when the worker has reported all usage of the session. */
  #leaveWorker(why: Parameters<ClaimedSlot['release']>[0], reason = 'moved'): Promise<void> {
    this.link = undefined
    return this.#worker.leave(why, reason)
  }

  #finish(cause: EndCause): void {
    clearTimeout(this.#overtime)
    this.#hold?.stop()
    this.#over.abort()
    this.#worker.end()
    this.#asks.close()
    const told = this.#leaveWorker('done', cause.reason)
    this.transferring?.close(cause.reason)
    this.leg.close(cause.reason)
    this.tap?.ended()
    if (this.tap !== undefined) this.log.append({ type: 'recording_stopped' })
    this.supervision.close(cause.reason)
    const { answeredAtMs } = this.#state
    const { clock } = this.#options
    const durationMs = answeredAtMs === undefined ? 0 : Math.round(clock.monotonicMs() - answeredAtMs)
    inBackground('call', this.#writeEnd(cause, told, durationMs))
  }

  /** The end is the last event of the log: it is written once the worker has reported everything. */
  async #writeEnd(cause: EndCause, told: Promise<void>, durationMs: number): Promise<void> {
    const { journal, leases, log } = this.#options
    await told
    const cut = cutOff(this.log.state)
    if (cut !== undefined) this.log.append(cut)
    const { state } = this.log
    const end = outcomeOf(cause, this.#state.answeredAtMs !== undefined, state)
    const error = errorOf(state, end.error)
    const outcome: Outcome = { ...end, ...(error === undefined ? {} : { error }) }
    const { status, endReason: end_reason, disposition } = outcome
    const why = error === undefined ? {} : { error }
    this.log.append({ type: 'ended', status, end_reason, disposition, ...why, duration_ms: durationMs })
    log.info({ callId: this.callId, ...outcome, durationMs }, 'Call ended')
    // Nothing waits for a database that is away; the lease stays until the end is written.
    try {
      await journal.written(this.callId)
      await leases.dropCall(this.callId)
    } catch (err) {
      log.warn({ err, callId: this.callId }, 'Could not drop the lease of an ended call')
    }
    this.#resolveDone(outcome)
  }
}
