import type { Clock } from '../../lib/clock.ts'
import { CallLog } from './call-log.ts'
import type { EventOf } from './events.ts'
import { type CallJournal, journalSink } from './journal.ts'

/**
 * Ends a call that never came to a leg. Resolves when that is written, as `written` of the journal does.
 * @param log what else happened of it
 */
export function endUnconnectedCall(
  clock: Pick<Clock, 'nowMs'>,
  journal: CallJournal,
  callId: string,
  end: { status: EventOf<'ended'>['status']; endReason: string; disposition: string; error?: string },
  log = new CallLog(clock, [journalSink(journal, callId)]),
): Promise<void> {
  if (!log.state.queued) log.append({ type: 'queued' })
  const { status, endReason: end_reason, disposition, error } = end
  const why = error === undefined ? {} : { error }
  log.append({ type: 'ended', status, end_reason, disposition, ...why, duration_ms: 0 })
  return journal.written(callId)
}
