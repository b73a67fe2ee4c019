import type { Call } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { callEventsOf } from './call-events.ts'

/** Where a turn lies in the recording, which begins later than the call where consent was asked for. */
export async function turnInRecording(
  tenant: Tenant,
  { id, created_at: createdAt, answered_at: answeredAt }: Pick<Call, 'id' | 'created_at' | 'answered_at'>,
  { start_ms: startMs, end_ms: endMs }: { start_ms: number; end_ms: number },
): Promise<{ startMs: number; endMs: number }> {
  const [began] = await callEventsOf(tenant, { id, createdAt }, ['recording_started'], 1)
  const lateMs = began === undefined ? 0 : (began.start_ms ?? began.at - (answeredAt?.getTime() ?? began.at))
  return { startMs: Math.max(0, startMs - lateMs), endMs: Math.max(0, endMs - lateMs) }
}
