import type { Clock } from '../../lib/clock.ts'
import { CallLog, type CallLogSink } from './call-log.ts'
import type { EventOf } from './events.ts'

/** The whole log of a call that never came to a leg: it waited, and was over. `before`: what else happened of it. */
export function logUnconnectedCall(
  clock: Pick<Clock, 'nowMs'>,
  sink: CallLogSink,
  end: { status: EventOf<'ended'>['status']; endReason: string; disposition: string; error?: string },
  before?: CallLog,
): void {
  const log = before ?? new CallLog(clock, [sink])
  if (!log.state.queued) log.append({ type: 'queued' })
  const { status, endReason: end_reason, disposition, error } = end
  log.append({ type: 'ended', status, end_reason, disposition, ...(error === undefined ? {} : { error }) })
}
