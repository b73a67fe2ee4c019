import type { Answerer, Consent } from '../../plugin-sdk/telephony/answerer.ts'
import type { CallTap } from '../../recording/call-recording.ts'
import type { AudioFormat } from '../types/leg.ts'
import type { Outcome } from '../types/outcome.ts'
import type { Usage } from '../types/usage.ts'
import type { CallEvent, EventOf } from './events.ts'
import type { Turn } from './resume.ts'

/** Where a call is written down as it happens. Every method retries or fails; the journal of a call is written in order. */
export interface CallJournal {
  ringing(callId: string): Promise<void>
  answered(callId: string, at: Date): Promise<void>
  turn(callId: string, seq: number, turn: Turn): Promise<void>
  /** Adds to the sums of the call. */
  progress(callId: string, usage: Usage, turnLatenciesMs: readonly number[]): Promise<void>
  /** Who picked up; what the caller said to the consent message. */
  observed?(
    callId: string,
    what: {
      answeredBy?: Answerer
      consent?: Consent
      /** Of the events `carrier` and `media`: what is known so far. */
      carrier?: Omit<EventOf<'carrier'>, 'type'>
      quality?: Pick<EventOf<'media'>, 'codec' | 'loss' | 'jitter_ms' | 'rtt_ms' | 'mos'>
    },
  ): Promise<void>
  /** Receives events as they happen, for the call's log and live viewers. Must not throw and must not wait. */
  event?(callId: string, event: CallEvent): void
  /** The one terminal status; a call that has one keeps it. */
  ended(callId: string, outcome: Outcome, at: Date, durationMs: number): Promise<void>
  /** Records the sound of the call from that monotonic moment on, where it is to be recorded. */
  record?(callId: string, format: AudioFormat, startMs: number): CallTap | undefined
}
