import type { AgentDetails } from './agents.ts'
import { agentById } from './agents.ts'
import type { Store } from './database.ts'
import type { Call } from './schema.ts'
import type { Tenant } from './tenant.ts'

/** Outbound calls on their way to the carrier. `placed_at` is the line between "never dialled" and "never dial again". */

/** A call that waits to be dialled. Agent and provider are missing when they were deleted meanwhile. */
export interface CallToPlace {
  call: Call
  agent: AgentDetails | undefined
  /** The plugin that carries the calling number. */
  provider: string | undefined
  /** The name of the trunk that number was registered with. */
  trunk: string | null
}

/** Undefined when the call was placed, canceled or never was. */
export async function findCallToPlace(tenant: Tenant, callId: string): Promise<CallToPlace | undefined> {
  const call = await tenant.db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .where('direction', '=', 'outbound')
    .where('placed_at', 'is', null)
    .executeTakeFirst()
  if (call === undefined) return undefined
  const [agent, number] = await Promise.all([
    call.agent_id === null ? undefined : agentById(tenant, call.agent_id),
    tenant.db
      .selectFrom('phone_numbers')
      .select(['provider', 'trunk'])
      .where('phone_number', '=', call.from_number ?? '')
      .executeTakeFirst(),
  ])
  return {
    call,
    agent,
    provider: number?.provider,
    trunk: number?.trunk ?? null,
  }
}

/** Committed before the carrier is asked. Of all that try, one gets true: only that one may dial. */
export async function markPlaced(tenant: Tenant, callId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('calls')
    .set({ placed_at: at })
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Keeps what the carrier calls the call. */
export async function writeCarrierId(tenant: Tenant, callId: string, carrierId: string): Promise<void> {
  await tenant.db.updateTable('calls').set({ carrier_call_id: carrierId }).where('id', '=', callId).execute()
}

/** Cancels a call that nobody has begun to connect; false when it is under way or over. */
export async function cancelQueuedCall(tenant: Tenant, callId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('calls')
    .set({ status: 'canceled', end_reason: 'api_hangup', disposition: 'canceled', ended_at: at, duration_ms: 0 })
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Calls of all workspaces that have waited to be placed since before `before`, oldest first. */
export function callsToPlace(
  store: Store,
  before: Date,
  limit: number,
): Promise<{ id: string; workspace_id: string; batch_id: string | null }[]> {
  return store.acrossTenants
    .selectFrom('calls')
    .select(['id', 'workspace_id', 'batch_id'])
    .where('direction', '=', 'outbound')
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute()
}

/** Calls of all workspaces that wait to be placed. */
export async function countWaitingCalls(store: Store): Promise<number> {
  const { count } = await store.acrossTenants
    .selectFrom('calls')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('direction', '=', 'outbound')
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
