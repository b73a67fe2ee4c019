import { sql } from 'kysely'
import type { Tenant } from '../database/tenant.ts'

/** One who listened to a call, as its log shows them. */
export interface CallSupervisor {
  id: string
  name: string
  joined_at: string
}

/** Records that a supervisor listens to the call. */
export async function noteSupervisor(
  tenant: Tenant,
  callId: string,
  who: { id: string; name: string },
  at: Date,
): Promise<void> {
  const entry: CallSupervisor = { ...who, joined_at: at.toISOString() }
  await tenant.db
    .updateTable('calls')
    .set({ supervisors: sql<string>`supervisors || ${JSON.stringify([entry])}::jsonb` })
    .where('id', '=', callId)
    .execute()
}
