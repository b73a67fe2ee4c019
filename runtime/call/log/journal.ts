import type { CallTap } from '../../recording/call-recording.ts'
import type { AudioFormat } from '../types/leg.ts'
import type { ServingAgent } from '../types/usage.ts'
import type { CallLogSink } from './call-log.ts'
import type { CallEvent } from './events.ts'
import type { CallState } from './fold.ts'

/** Where a call is written down as it happens. */
export interface CallJournal {
  /**
   * Takes an event of the call, those of a call in order, with what the log says up to it. Must not throw and must not wait.
   * `serving`: whose event it is.
   */
  event(callId: string, event: CallEvent, state: CallState, serving?: ServingAgent): void
  /** Resolves when all events of the call so far are written or given up, or the database is away for long. */
  written(callId: string): Promise<void>
  /**
   * Records the sound of the call from that monotonic moment on, where it is to be recorded.
   * @param wish of the agent; absent: as the installation says
   */
  record?(callId: string, format: AudioFormat, startMs: number, wish?: 'on' | 'off'): CallTap | undefined
}

/** Writes the events of a call into the journal. `servingAt`: who serves at an event. */
export function journalSink(
  journal: CallJournal,
  callId: string,
  servingAt: (event: CallEvent) => ServingAgent | undefined = () => undefined,
): CallLogSink {
  return (event, state) => journal.event(callId, event, state, servingAt(event))
}
