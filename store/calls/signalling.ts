import { sql } from 'kysely'
import type { RefusedCall, WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { Store } from '../database/database.ts'
import { beyond, exactly, type ListPart } from '../database/list-place.ts'
import type { RefusedCallRow } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Replaces the stored messages of a leg; does nothing when the call is gone. `leg`: 1 is the caller's or callee's, 2 the transfer target's. */
export async function writeLadder(
  store: Store,
  callId: string,
  leg: number,
  messages: readonly WireMessage[],
): Promise<void> {
  await sql`
    insert into call_ladders (call_id, leg, workspace_id, messages)
    select id, ${leg}, workspace_id, ${JSON.stringify(messages)}::jsonb from calls where id = ${callId}
    on conflict (call_id, leg) do update set messages = excluded.messages`.execute(store.acrossTenants)
}

/** Of both legs. */
export function laddersOf(tenant: Tenant, callId: string): Promise<{ leg: number; messages: WireMessage[] }[]> {
  return tenant.db
    .selectFrom('call_ladders')
    .select(['leg', 'messages'])
    .where('call_id', '=', callId)
    .orderBy('leg')
    .execute()
}

export async function insertRefusedCalls(
  store: Store,
  calls: readonly (RefusedCall & { id: string; workspaceId: string })[],
): Promise<void> {
  if (calls.length === 0) return
  await store.acrossTenants
    .insertInto('refused_calls')
    .values(
      calls.map((call) => ({
        ...{ id: call.id, workspace_id: call.workspaceId, at: new Date(call.atMs), trunk: call.trunk ?? null },
        ...{ reason: call.reason, detail: call.detail, address: call.address, sip_call_id: call.sipCallId },
        ...{ from_number: call.from ?? null, to_number: call.to ?? null, sip_status: call.status },
      })) as never,
    )
    // Written again after a failure that wrote it.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Newest first. `sorted_by`: when it came. */
export async function refusedCallsPage(
  tenant: Tenant,
  since: Date | undefined,
  { offset, limit, after }: ListPart,
): Promise<{ calls: (RefusedCallRow & { sorted_by: string })[]; total: number }> {
  let query = tenant.db.selectFrom('refused_calls')
  if (since !== undefined) query = query.where('at', '>=', since)
  const placed = after === undefined ? query.offset(offset) : query.where(beyond('at', '<', after))
  const [calls, { count }] = await Promise.all([
    placed
      .selectAll()
      .select(exactly('at').as('sorted_by'))
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),
    query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { calls, total: Number(count) }
}

/** Removes what is older than so many days. */
export async function removeOldSignalling(store: Store, days: number): Promise<void> {
  await sql`delete from refused_calls where at < now() - make_interval(days => ${days})`.execute(store.acrossTenants)
  await sql`delete from call_ladders where created_at < now() - make_interval(days => ${days})`.execute(
    store.acrossTenants,
  )
}
