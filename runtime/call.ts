import type { Clock } from './clock.ts'
import type { Ears } from './conversation/ears.ts'
import type { Mouth } from './conversation/mouth.ts'
import type { LinkEvents, LinkSession, SessionMessage } from './link/api-end.ts'
import { codecFor } from './media/codec.ts'
import { JitterBuffer } from './media/jitter.ts'
import type { Pacer } from './media/pacer.ts'
import { Resampler } from './media/resample.ts'
import type { CallTap } from './recording/call-recording.ts'
import type { Faults } from './session/faults.ts'
import type { AudioFormat, Leg, LegEvents } from './session/leg.ts'
import type { Recorder } from './session/recorder.ts'
import type { HeldInput, Marks } from './session/recovery.ts'
import type { SessionEvent } from './session/session.ts'
import type { Consent } from './telephony/answerer.ts'

/**
 * The call path. In an api node:
 *
 *     caller → leg → fromCaller → link (runtime/link/api-end.ts) ⇢ worker
 *     worker ⇢ link → fromWorker → leg → caller
 *
 * and beside both, where the call is recorded, the tap (runtime/recording).
 *
 * In a voice worker, around one conversation (runtime/conversation/agent-session.ts):
 *
 *     link → toAgent: decode · jitter · resample → listen → turn → think → speak
 *     speak → fromAgent: resample · encode · pace → link
 */

/** A call of an api node (runtime/session/live-call.ts), as what travels through it sees it. */
export interface PathCall {
  readonly leg: Leg
  readonly marks: Marks
  readonly recorder: Recorder
  readonly faults: Faults
  readonly held: HeldInput
  /** The way to the worker; undefined while there is none that accepted. Then what the caller says is held. */
  readonly link: LinkSession | undefined
  /** Records the sound, while the call is answered and is to be recorded. */
  readonly tap: CallTap | undefined
  happened(event: SessionEvent): void
  accepted(): void
  declined(full: boolean): void
  workerLost(): void
  consented(consent: Consent): void
}

/** The caller's way in: what the leg hears goes to the worker, and is held while there is none. */
export function fromCaller(call: PathCall): LegEvents {
  return {
    audio(bytes, timestamp) {
      call.tap?.caller(bytes, timestamp)
      if (call.link === undefined) call.held.audio(bytes, timestamp)
      else call.link.audio(bytes, timestamp)
    },
    text(text) {
      if (call.link === undefined) call.held.input({ type: 'text', text })
      else call.link.text(text)
    },
    dtmf(digit) {
      if (call.link === undefined) call.held.input({ type: 'dtmf', digit })
      else call.link.dtmf(digit)
    },
    played(markId) {
      const workerMark = call.marks.take(markId)
      if (workerMark !== undefined) call.link?.played(workerMark)
    },
    ended(reason) {
      call.happened({ type: 'leg_ended', reason })
    },
  }
}

/** How long a late packet is waited for, and the longest loss that is filled with silence. */
const JITTER = { maxWaitMs: 60, maxFillMs: 1000, conceal: true }

/** The worker's way in: the leg's packets become one unbroken run of samples at the models' rate, for the ears. */
export function toAgent(format: AudioFormat, modelRateHz: number, ears: Ears, clock: Clock, pacer: Pacer) {
  const { decode } = codecFor(format)
  const jitter = new JitterBuffer({ sampleRateHz: format.sampleRateHz, ...JITTER })
  const resampler = new Resampler(format.sampleRateHz, modelRateHz)
  const pass = (runs: readonly Int16Array[]): void => {
    for (const run of runs) ears.hear(resampler.push(run))
  }
  const leave = pacer.add((_frames, nowMs) => {
    pass(jitter.tick(nowMs))
    ears.tick(nowMs)
  })
  return {
    audio: (bytes: Uint8Array, timestamp: number) => pass(jitter.push(decode(bytes), timestamp, clock.monotonicMs())),
    close: leave,
  }
}

/** The worker's way out: the mouth resamples and encodes what is synthesised; the pacer says when a frame leaves. */
export function fromAgent(mouth: Mouth, pacer: Pacer) {
  return { close: pacer.add((frames) => mouth.tick(frames)) }
}

/** The agent's way out: what the worker says goes to the caller and into the call log. */
export function fromWorker(call: PathCall): LinkEvents {
  return {
    audio(bytes) {
      call.leg.sendAudio(bytes)
      call.tap?.agent(bytes)
    },
    message: (message) => fromWorkerMessage(call, message),
    lost: () => call.workerLost(),
  }
}

function fromWorkerMessage(call: PathCall, message: SessionMessage): void {
  switch (message.type) {
    case 'accepted':
      call.accepted()
      break
    case 'rejected':
      if (message.reason === 'bad_agent') {
        call.happened({ type: 'refused', message: message.message })
        return
      }
      call.declined(message.reason === 'full')
      break
    case 'state':
      call.leg.agentState(message.state)
      break
    case 'transcript': {
      const { role, text, startMs, endMs } = message.turn
      call.leg.transcript({ role, text, final: message.final, startMs, endMs })
      return
    }
    case 'turn':
      call.happened({ type: 'turn', seq: message.seq, turn: message.turn })
      break
    case 'heard':
      call.happened({ type: 'heard', seq: message.seq, turn: message.turn })
      break
    case 'latency':
      call.recorder.latency(message.latency.totalMs)
      break
    case 'clear':
      call.leg.clear()
      call.tap?.cleared()
      break
    case 'mark':
      call.leg.mark(call.marks.issue(message.id))
      break
    case 'answered_by':
      call.recorder.observed({ answeredBy: message.by })
      call.happened({ type: 'answered_by', by: message.by })
      break
    case 'consent':
      call.consented(message.consent)
      break
    case 'fault':
      call.faults.add(message.message)
      break
    case 'usage':
      call.recorder.usage(message.usage)
      break
    case 'ended':
      if (message.reason === 'worker_drained') {
        call.workerLost()
        return
      }
      call.happened({
        type: 'agent_ended',
        reason: message.reason,
        ...(message.error === undefined ? {} : { error: message.error }),
      })
  }
}
