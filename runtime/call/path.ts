import type { InboundAudio } from '../conversation/hearing/inbound-audio.ts'
import type { SpeechOutput } from '../conversation/speaking/speech-output.ts'
import { announcement } from '../conversation/stages/announcement.ts'
import { answerer } from '../conversation/stages/answerer.ts'
import { callerInput } from '../conversation/stages/caller-input.ts'
import { collecting } from '../conversation/stages/collecting.ts'
import { deadAir } from '../conversation/stages/dead-air.ts'
import { endOfCall } from '../conversation/stages/end-of-call.ts'
import { greeting } from '../conversation/stages/greeting.ts'
import { listen } from '../conversation/stages/listen.ts'
import { procedure } from '../conversation/stages/procedure.ts'
import { speak } from '../conversation/stages/speak.ts'
import type { ConversationStage, StageContext } from '../conversation/stages/stage.ts'
import { supervisor } from '../conversation/stages/supervisor.ts'
import { think } from '../conversation/stages/think.ts'
import { wishes } from '../conversation/stages/wishes.ts'
import type { Clock } from '../lib/clock.ts'
import type { EchoSuppressor, HeardPiece } from '../media/dsp/echo.ts'
import { Resampler, TELEPHONE } from '../media/dsp/resample.ts'
import type { Pacer } from '../media/line/pacer.ts'
import { receiverFor } from '../media/line/receiver.ts'
import type { CallTap } from '../recording/call-recording.ts'
import type { CallerAudio } from './control/caller-audio.ts'
import type { Marks } from './control/marks.ts'
import type { SessionEvent } from './control/session.ts'
import type { Supervision } from './control/supervision.ts'
import type { Transfer } from './control/transfer.ts'
import type { LinkEvents, LinkSession, SessionMessage } from './link/api-end.ts'
import type { AskMethod, Owed, SoundSpan } from './link/messages.ts'
import type { CallLog } from './log/call-log.ts'
import type { CallEvent, CallEventBody, CallEventType, EventOf } from './log/events.ts'
import type { CallTimeline } from './timeline.ts'
import type { AudioFormat, CarrierFigures, Leg, LegEvents, MediaFigures } from './types/leg.ts'

/**
 * The call path. In an api node:
 *
 *     caller → leg → fromCaller → link (runtime/call/link/api-end.ts) ⇢ worker
 *     worker ⇢ link → fromWorker → leg → caller
 *
 * and beside both, where the call is recorded, the tap (runtime/recording).
 *
 * In a voice worker, around one conversation (runtime/conversation/conversation.ts):
 *
 *     link → toAgent: decode · jitter · resample · echo → InboundAudio → the stages below → SpeechOutput → fromAgent: resample · encode · pace → link
 */

/**
 * The stages of a conversation, in the order in which they receive reports. Each gets a report with its time and returns what is
 * to be done; a stage that consumes a turn or a key keeps it from the later ones.
 */
const STAGES: readonly ((context: StageContext) => ConversationStage)[] = [
  announcement,
  supervisor,
  answerer,
  greeting,
  collecting,
  callerInput,
  procedure,
  listen,
  wishes,
  think,
  speak,
  deadAir,
  endOfCall,
]

/** The stages of one conversation. */
export const stagesOf = (context: StageContext): ConversationStage[] => STAGES.map((stage) => stage(context))

/** A call of an api node (runtime/call/control/live-call.ts), as what travels through it sees it. */
export interface PathCall {
  readonly leg: Leg
  readonly marks: Marks
  /** What happened so far, and where it is written down. */
  readonly log: CallLog
  /** What the caller said that is not in the log yet. */
  readonly audio: CallerAudio
  /** The link to the worker; undefined until one has accepted. */
  readonly link: LinkSession | undefined
  /** The caller is on the way to another human, or with them; undefined: neither. */
  readonly transferring: Transfer | undefined
  /** The supervisors who listen in, and the one the caller hears in the agent's place. */
  readonly supervision: Supervision
  /** Where the sound of both sides stands. */
  readonly timeline: CallTimeline
  /** Milliseconds since the answer. */
  callMs(nowMs?: number): number
  /** Records the sound, while the call is answered and is to be recorded. */
  readonly tap: CallTap | undefined
  happened(event: SessionEvent): void
  accepted(): void
  declined(full: boolean): void
  /** The worker could not open the conversation, for a reason of its own. */
  failedToOpen(message: string): void
  /** No worker can run the agent. */
  badAgent(message: string): void
  /** What the worker's requests to providers will have cost, where it is lost before it tells. */
  owes(owed: Owed): void
  workerLost(reason: string): void
  /** The caller said that the call may be recorded. */
  consented(): void
  /** What the worker asks for. */
  ask(method: AskMethod, params: unknown): Promise<unknown>
}

/** The caller's way in: what the leg hears goes to the worker, and is kept until it is in the log. */
export function fromCaller(call: PathCall, clock: Clock): LegEvents {
  return {
    audio(bytes, timestamp) {
      // Read the clock once: on a busy machine two reads may be more than a frame apart.
      const nowMs = clock.monotonicMs()
      const place = call.timeline.heard(bytes, timestamp, nowMs)
      // A secret is heard by the agent alone.
      if (!hearsSecret(call)) {
        call.tap?.caller(bytes, place)
        call.supervision.caller(bytes, place)
      }
      if (call.transferring?.isJoined) {
        call.transferring.audio(bytes, timestamp)
        return
      }
      call.audio.hear(bytes, timestamp, place.arrivedMs)
      call.link?.audio(bytes, timestamp)
    },
    text(text) {
      if (text.trim() !== '') input(call, { type: 'typed', text })
    },
    dtmf(digit) {
      if (call.transferring?.isJoined) call.transferring.key(digit)
      else input(call, { type: 'key', digit })
    },
    held: (direction) => input(call, { type: 'held', direction }),
    resumed: () => input(call, { type: 'unheld' }),
    carrier(figures) {
      call.log.append(carrierEvent(figures))
    },
    played(markId) {
      const workerMark = call.marks.take(markId)
      if (workerMark !== undefined) call.link?.played(workerMark)
    },
    media(figures) {
      call.log.append(mediaEvent(figures))
    },
    ended(reason) {
      call.happened({ type: 'leg_ended', reason })
    },
  }
}

/** How a line is, as its event. */
export function mediaEvent(figures: MediaFigures): EventOf<'media'> {
  const { jitterMs, rttMs, oneWay, burstDensity, burstMs, gapDensity, gapMs, ...same } = figures
  const told = {
    ...same,
    ...{ jitter_ms: jitterMs, rtt_ms: rttMs, one_way: oneWay },
    ...{ burst_density: burstDensity, burst_ms: burstMs, gap_density: gapDensity, gap_ms: gapMs },
  }
  return { type: 'media', ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) }
}

/** What a carrier knows of a call, as its event. */
export function carrierEvent({
  callId,
  trunk,
  sipStatus,
  q850,
  releasedBy,
  cause,
  redress,
  pddMs,
}: CarrierFigures): EventOf<'carrier'> {
  return {
    type: 'carrier',
    ...(callId === undefined ? {} : { call_id: callId }),
    ...(trunk === undefined ? {} : { trunk }),
    ...(sipStatus === undefined ? {} : { sip_status: sipStatus }),
    ...(q850 === undefined ? {} : { q850 }),
    ...(releasedBy === undefined ? {} : { released_by: releasedBy }),
    ...(cause === undefined ? {} : { cause }),
    ...(redress === undefined ? {} : { redress }),
    ...(pddMs === undefined ? {} : { pdd_ms: pddMs }),
  }
}

/** What was done to the call from outside: into the log, and to the worker, if there is one. */
export function input(call: PathCall, body: CallEventBody): void {
  const event = call.log.append(hearsSecret(call) ? withoutInput(body) : body)
  if (event !== undefined) call.link?.event({ ...event, ...body })
}

/** The caller is giving a value that is for tools alone. */
const hearsSecret = ({ log }: PathCall): boolean => log.state.collecting?.secret === true

/** What is keyed or typed, without saying what. */
function withoutInput(body: CallEventBody): CallEventBody {
  if (body.type === 'key') return { ...body, digit: '*' }
  return body.type === 'typed' ? { ...body, text: '***' } : body
}

/** Why a worker that stops gives its sessions back. */
export const DRAINED = 'drained'

/** How long a late packet is waited for, and the longest loss that is filled with silence. */
const JITTER = { maxWaitMs: 60, maxFillMs: 1000 }

/**
 * The worker's way in: the leg's packets become one unbroken run of samples at the models' rate, for InboundAudio.
 * @param saidAt when the packet of that timestamp came, where another worker had the call then; undefined: now
 */
export function toAgent(
  format: AudioFormat,
  modelRateHz: number,
  echo: EchoSuppressor,
  inbound: InboundAudio,
  clock: Clock,
  pacer: Pacer,
  saidAt: (timestamp: number) => number | undefined = () => undefined,
) {
  const receiver = receiverFor(format, JITTER)
  const isTelephone = format.encoding === 'pcmu' || format.encoding === 'pcma'
  const resampler = new Resampler(format.sampleRateHz, modelRateHz, isTelephone ? TELEPHONE : undefined)
  const msOf = (samples: number) => (samples * 1_000) / format.sampleRateHz
  const pass = (runs: readonly Int16Array[], atMs?: number): void => {
    let behind = runs.reduce((sum, run) => sum + run.length, 0)
    for (const run of runs) {
      behind -= run.length
      const nowMs = atMs ?? clock.monotonicMs()
      const soundMs = msOf(receiver.position - behind)
      give(echo.clean(resampler.push(run), nowMs, soundMs), nowMs, atMs !== undefined)
    }
  }
  const give = (pieces: readonly HeardPiece[], nowMs: number, before: boolean): void => {
    for (const { samples, atMs, soundMs } of pieces) {
      inbound.hear(samples, before || atMs < nowMs ? atMs : undefined, soundMs)
    }
  }
  const leave = pacer.add((_frames, nowMs) => {
    pass(receiver.tick(nowMs))
    give(echo.overdue(nowMs), nowMs, false)
    // Audio held back by the echo suppressor is not missing.
    if (!echo.undecided) inbound.tick(nowMs)
  })
  return {
    /** Audio of the caller lost since the start. */
    get lost(): Readonly<Record<'line' | 'late', number>> {
      return { line: msOf(receiver.lost), late: msOf(receiver.lateSamples) }
    },
    audio: (bytes: Uint8Array, timestamp: number) =>
      pass(receiver.push(bytes, timestamp, clock.monotonicMs()), saidAt(timestamp)),
    close: leave,
  }
}

/** The worker's outbound path: SpeechOutput resamples and encodes speech; the pacer decides when a frame leaves. */
export function fromAgent(output: SpeechOutput, pacer: Pacer) {
  return { close: pacer.add((frames) => output.tick(frames)) }
}

/** The agent's way out: what the worker says goes to the caller and into the call log. */
export function fromWorker(call: PathCall, clock: Clock): Omit<LinkEvents, 'late'> {
  return {
    audio(bytes, timestamp) {
      // Once a human has taken the call, the agent's remaining speech is dropped.
      if (call.supervision.speaker !== undefined) return
      const saidMs = (timestamp * 1000) / call.leg.format.sampleRateHz
      const atMs = call.timeline.said(bytes, clock.monotonicMs(), saidMs)
      call.leg.sendAudio(bytes)
      call.tap?.agent(bytes, atMs)
      call.supervision.agent(bytes, atMs)
    },
    message: (message) => fromWorkerMessage(call, message, clock),
    ask: (method, params) => call.ask(method, params),
    lost: (reason) => call.workerLost(reason),
  }
}

function fromWorkerMessage(call: PathCall, message: SessionMessage, clock: Clock): void {
  switch (message.type) {
    case 'accepted':
      call.accepted()
      break
    case 'rejected':
      if (message.reason === 'bad_agent') {
        call.badAgent(message.message)
        return
      }
      if (message.reason === 'failed') call.failedToOpen(message.message)
      else call.declined(message.reason === 'full')
      break
    case 'state':
      call.leg.agentState(message.state)
      break
    case 'event':
      told(call, message.event, message.sound)
      break
    case 'owes':
      call.owes(message.owed)
      break
    case 'clear': {
      if (call.supervision.speaker !== undefined) break
      const atMs = call.timeline.cleared(clock.monotonicMs())
      call.leg.clear()
      call.tap?.cleared(atMs)
      call.supervision.cleared(atMs)
      break
    }
    case 'mark':
      call.leg.mark(call.marks.issue(message.id))
      break
    case 'ended':
      if (message.reason === 'worker_drained') {
        call.workerLost(DRAINED)
        return
      }
      call.happened({
        type: 'agent_ended',
        reason: message.reason,
        ...(message.error === undefined ? {} : { error: message.error }),
      })
  }
}

/** What only the api node knows of a call. */
const NOT_OF_WORKERS: ReadonlySet<CallEventType> = new Set([
  'queued',
  'ringing',
  'answered',
  'ended',
  'worker_taken',
  'worker_lost',
  'resumed',
  'handed_off',
  'procedure_begun',
  'typed',
  'key',
  'held',
  'unheld',
  'carrier',
  'supervisor_joined',
  'whispered',
  'supervisor_said',
  'took_over',
  'gave_back',
  'left',
  'hung_up',
])

/** A worker's event is logged first, then its effects run. */
export function told(call: PathCall, body: CallEventBody, sound?: SoundSpan): void {
  if (NOT_OF_WORKERS.has(body.type)) return
  if (body.type === 'transcribed' && call.log.state.turns[body.turn]?.role !== 'user') return
  const event = call.log.append(atTimesOfTheLine(call.timeline, body, sound))
  if (event === undefined) return
  show(call.leg, event)
  if (event.type === 'consent' && event.consent === 'given') call.consented()
}

/** The event at the times of the line: a worker reports its own clock's, with the span of the caller's audio they refer to. */
export function atTimesOfTheLine(timeline: CallTimeline, body: CallEventBody, sound?: SoundSpan): CallEventBody {
  switch (body.type) {
    case 'turn':
    case 'transcribed':
    case 'words':
    case 'not_understood': {
      const start_ms = (sound && timeline.spoken(sound.from)) ?? timeline.byOurs(body.start_ms)
      const end_ms = (sound && timeline.spoken(sound.to)) ?? timeline.byOurs(body.end_ms)
      return { ...body, start_ms, end_ms: Math.max(start_ms, end_ms) }
    }
    case 'heard': {
      const start_ms = timeline.onLine(body.start_ms, 'start')
      return { ...body, start_ms, end_ms: Math.max(start_ms, timeline.onLine(body.end_ms, 'end')) }
    }
    default:
      return body
  }
}

/** The words of both sides, as a leg that has a screen shows them. */
function show(leg: Leg, event: CallEvent): void {
  if (event.type !== 'words' && event.type !== 'heard') return
  const { text, final, start_ms: startMs, end_ms: endMs } = event
  leg.transcript({ role: event.type === 'words' ? 'user' : 'assistant', text, final, startMs, endMs })
}
