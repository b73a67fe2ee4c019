import type { SeatClaim } from '../admission/seat-claim.ts'
import { fromCaller, fromWorker, type PathCall } from '../call.ts'
import type { Clock } from '../clock.ts'
import { PatchbayError } from '../errors.ts'
import type { LinkSession } from '../link/api-end.ts'
import type { AgentSpec, SessionLimits } from '../link/messages.ts'
import type { Logger } from '../log.ts'
import type { CallTap } from '../recording/call-recording.ts'
import type { Consent } from '../telephony/answerer.ts'
import type { AnsweredBy } from '../telephony/carrier.ts'
import type { Dispatch, Seat } from './dispatch.ts'
import { Faults } from './faults.ts'
import { HoldSound } from './hold-sound.ts'
import type { CallJournal } from './journal.ts'
import type { Leases } from './leases.ts'
import type { Leg } from './leg.ts'
import { Recorder } from './recorder.ts'
import { HeldInput, Marks } from './recovery.ts'
import {
  type Outcome,
  QUEUED,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  step,
  type Waits,
} from './session.ts'

/** A worker says yes or no to a session within this, or the session is offered to another. */
const OFFER_TIMEOUT_MS = 12_000
/** The worker keeps the time; this is for one that doesn't. */
const OVERTIME_MS = 10_000

export interface LiveCallOptions {
  callId: string
  /** For whom the call asks a seat. */
  claim: SeatClaim
  agent: AgentSpec
  limits: SessionLimits
  leg: Leg
  journal: CallJournal
  /** A seat taken beforehand, for the first worker; the call releases it. */
  seat?: Seat
  dispatch: Dispatch
  leases: Leases
  waits: Waits
  clock: Clock
  log: Logger
}

/** One call of this node: its leg, its state, and the worker that runs its conversation, replaced when it dies. */
export class LiveCall implements PathCall {
  readonly callId: string
  readonly leg: Leg
  readonly marks = new Marks()
  readonly recorder: Recorder
  readonly faults = new Faults()
  link: LinkSession | undefined
  readonly held: HeldInput
  tap: CallTap | undefined
  /** Resolves when the call is over and written down. */
  readonly done: Promise<Outcome>
  readonly #options: LiveCallOptions
  readonly #over = new AbortController()
  #state: SessionState = QUEUED
  #seat: Seat | undefined
  /** Taken beforehand, until it is used. */
  #reserved: Seat | undefined
  #offered: LinkSession | undefined
  #offerTimer: NodeJS.Timeout | undefined
  #overtime: NodeJS.Timeout | undefined
  /** Sounds while no worker speaks. */
  #hold: HoldSound | undefined
  #resolveDone: (outcome: Outcome) => void = () => undefined

  constructor(options: LiveCallOptions) {
    this.#options = options
    this.callId = options.callId
    this.leg = options.leg
    this.#reserved = options.seat
    this.held = new HeldInput(options.leg.format.sampleRateHz)
    this.recorder = new Recorder(options.callId, options.journal, options.log)
    this.done = new Promise((resolve) => {
      this.#resolveDone = resolve
    })
    this.#options.leases.holdCall(this.callId).catch((err) => {
      options.log.warn({ err, callId: this.callId }, 'The call could not be leased yet')
    })
    this.leg.start(fromCaller(this))
    this.happened({ type: 'connected' })
  }

  /** Moves the state machine and does what follows. */
  happened(event: SessionEvent): void {
    const { state, effects } = step(this.#state, event, this.#options.clock.monotonicMs(), this.#options.waits)
    this.#state = state
    for (const effect of effects) this.#do(effect)
  }

  /** The process stops before the call is over. */
  shutDown(): void {
    this.happened({ type: 'leg_ended', reason: 'shutdown' })
  }

  /** Someone ends the call over the API. */
  hangUp(): void {
    this.happened({ type: 'hung_up' })
  }

  /** What the caller said to the question whether the call may be recorded. */
  consented(consent: Consent): void {
    this.recorder.observed({ consent })
    if (consent === 'given' && this.tap === undefined) this.#record()
  }

  /** The carrier says who picked up. */
  classified(by: AnsweredBy): void {
    this.link?.carrierVerdict(by)
  }

  #record(): void {
    this.tap = this.#options.journal.record?.(this.callId, this.leg.format)
  }

  /** The worker that was offered the session runs it now. */
  accepted(): void {
    clearTimeout(this.#offerTimer)
    this.happened({ type: 'accepted' })
  }

  /** The worker had no room after all. */
  declined(full: boolean): void {
    void this.#leaveWorker(full ? 'full' : 'done')
    this.happened({ type: 'declined' })
  }

  /** The worker is gone, or gives the session back. */
  workerLost(): void {
    void this.#leaveWorker('lost')
    if (this.#state.phase === 'in_progress') {
      this.leg.agentState('thinking')
      this.#hold ??= new HoldSound(this.leg)
      this.#hold.start()
    }
    this.happened({ type: 'worker_lost' })
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case 'record_ringing':
        this.recorder.ringing()
        break
      case 'record_turn':
        this.recorder.turn(effect.seq, effect.turn)
        break
      case 'seek':
        return void this.#seek()
      case 'offer':
        this.#offer()
        break
      case 'answer':
        this.recorder.answered(new Date(this.#options.clock.nowMs()))
        this.#overtime = setTimeout(
          () => this.happened({ type: 'agent_ended', reason: 'max_duration' }),
          this.#options.limits.maxDurationMs + OVERTIME_MS,
        )
        // Where consent is asked for, nothing is recorded before it is given.
        if (!this.#options.agent.consentMessage?.trim()) this.#record()
        this.leg.answer()
        this.#join()
        break
      case 'resume':
        this.#options.log.info({ callId: this.callId, workerId: this.#seat?.worker.workerId }, 'Call taken over')
        this.#join()
        break
      case 'finish':
        this.#finish(effect.outcome)
        return
    }
  }

  async #seek(): Promise<void> {
    const waitMs = this.#state.seekUntilMs - this.#options.clock.monotonicMs()
    try {
      const seat = this.#takeReserved() ?? (await this.#options.dispatch.take(this.#claim(), waitMs, this.#over.signal))
      if (this.#state.phase === 'ended') return seat.release('done')
      this.#seat = seat
      this.happened({ type: 'seated' })
    } catch (err) {
      if (this.#over.signal.aborted) return
      if (!(err instanceof PatchbayError)) this.#options.log.error({ err, callId: this.callId }, 'Dispatch failed')
      this.happened({ type: 'no_capacity' })
    }
  }

  /** A call that lost its worker goes before any that has yet to begin. */
  #claim(): SeatClaim {
    const { claim } = this.#options
    return this.#state.answeredAtMs === undefined ? claim : { ...claim, kind: 'recovering' }
  }

  /** Undefined when there was none, or its worker has gone since. */
  #takeReserved(): Seat | undefined {
    const seat = this.#reserved
    this.#reserved = undefined
    if (seat === undefined || seat.worker.state !== 'draining') return seat
    seat.release('done')
    return undefined
  }

  #offer(): void {
    const seat = this.#seat
    if (seat === undefined) return
    const { agent, limits, clock } = this.#options
    const { answeredAtMs, turns } = this.#state
    this.marks.forget()
    this.#offerTimer = setTimeout(() => this.workerLost(), OFFER_TIMEOUT_MS)
    this.#offered = seat.worker.open(
      {
        callId: this.callId,
        agent,
        format: this.leg.format,
        limits,
        history: [...turns],
        elapsedMs: answeredAtMs === undefined ? 0 : Math.round(clock.monotonicMs() - answeredAtMs),
        reserved: seat === this.#options.seat,
      },
      fromWorker(this),
    )
  }

  #join(): void {
    this.#hold?.stop()
    this.link = this.#offered
    if (this.link !== undefined) this.held.deliver(this.link)
  }

  /** Resolves when the worker has told all the session used. */
  #leaveWorker(why: 'done' | 'full' | 'lost', reason = 'moved'): Promise<void> {
    clearTimeout(this.#offerTimer)
    const told = this.#offered?.close(reason)
    this.#offered = undefined
    this.link = undefined
    this.#seat?.release(why)
    this.#seat = undefined
    return told ?? Promise.resolve()
  }

  #finish(end: Outcome): void {
    const error = this.faults.sum(end.error)
    const outcome = { ...end, ...(error === undefined ? {} : { error }) }
    const { clock, leases, log } = this.#options
    clearTimeout(this.#overtime)
    this.#hold?.stop()
    this.#over.abort()
    this.#reserved?.release('done')
    this.#reserved = undefined
    const told = this.#leaveWorker('done', outcome.endReason)
    this.leg.close(outcome.endReason)
    this.tap?.ended()
    const { answeredAtMs } = this.#state
    const durationMs = answeredAtMs === undefined ? 0 : Math.round(clock.monotonicMs() - answeredAtMs)
    log.info({ callId: this.callId, ...outcome, durationMs }, 'Call ended')
    // The lease is dropped once the end is written: until then the reaper keeps off, and afterwards finds nothing.
    const endedAt = new Date(clock.nowMs())
    told
      .then(() => this.recorder.ended(outcome, endedAt, durationMs))
      .then(() => leases.dropCall(this.callId))
      .catch((err) => log.warn({ err, callId: this.callId }, 'The lease of an ended call was not dropped'))
      .finally(() => this.#resolveDone(outcome))
  }
}
