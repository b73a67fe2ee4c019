import type { CallEndReason } from '../../runtime/call/types/outcome.ts'
import type { Tenant } from '../database/tenant.ts'

/** Ends calls that no carrier was asked for and no leg came to: they have no log. */

/** Cancels a call that is not being connected yet; false when it is under way or over. */
export async function cancelQueuedCall(tenant: Tenant, callId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await canceled(tenant, 'api_hangup', 'canceled', at)
    .where('id', '=', callId)
    .where('placed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Cancels the calls of the batches that no carrier was asked for. */
export async function cancelQueuedCalls(tenant: Tenant, batchIds: readonly string[], at: Date): Promise<void> {
  await canceled(tenant, 'batch_canceled', 'canceled', at)
    .where('batch_id', 'in', [...batchIds])
    .where('placed_at', 'is', null)
    .execute()
}

/**
 * Frees the session id of a web call whose token was never used: it is canceled when it was created before `before`.
 * True when there was one.
 */
export async function cancelUnopenedSession(
  tenant: Tenant,
  sessionId: string,
  before: Date,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await canceled(tenant, 'token_expired', 'no_answer', at)
    .where('session_id', '=', sessionId)
    .where('created_at', '<', before)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function canceled({ db }: Tenant, endReason: CallEndReason, disposition: string, at: Date) {
  const free = { cost_llm: 0, cost_stt: 0, cost_tts: 0, platform_cost: 0 }
  const end = { status: 'canceled', end_reason: endReason, disposition, ended_at: at, duration_ms: 0 } as const
  return db
    .updateTable('calls')
    .set({ ...end, ...free })
    .where('status', '=', 'queued')
}
