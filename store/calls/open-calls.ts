import type { Store } from '../database/database.ts'
import type { Agent, CallStatus } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Of calls that are not over. */
export const OPEN_STATUSES = ['queued', 'ringing', 'in_progress'] as const satisfies readonly CallStatus[]

/** A call that waits for its leg, with its agent. */
interface WaitingCall {
  callId: string
  agent: Agent
  dynamicVariables: Record<string, string>
  /** The client's name of its session. */
  sessionId: string | null
}

/** The queued call and its agent; undefined when the call isn't queued any more or its agent is deleted. */
export async function findWaitingCall(tenant: Tenant, callId: string): Promise<WaitingCall | undefined> {
  const row = await tenant.db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .selectAll('agents')
    .select(['calls.dynamic_variables', 'calls.session_id'])
    .where('calls.id', '=', callId)
    .where('calls.status', '=', 'queued')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { dynamic_variables: dynamicVariables, session_id: sessionId, ...agent } = row
  return { callId, agent, dynamicVariables, sessionId }
}

/** An open call as the reaper sees it. */
export interface OpenCall {
  id: string
  workspaceId: string
  status: CallStatus
  callType: 'phone' | 'web'
  createdAt: Date
  /** When a carrier was asked to dial it. */
  placedAt: Date | null
  /** Our number, where we called. */
  fromNumber: string | null
  /** What the carrier calls it, if it has said so. */
  carrierId: string | null
}

/** Open calls of all workspaces in the order of their ids, after `afterId`. */
export async function listOpenCalls(store: Store, afterId: string | undefined, limit: number): Promise<OpenCall[]> {
  let query = store.acrossTenants
    .selectFrom('calls')
    .select([
      'id',
      'workspace_id as workspaceId',
      'status',
      'call_type as callType',
      'created_at as createdAt',
      'placed_at as placedAt',
      'from_number as fromNumber',
      'carrier_call_id as carrierId',
    ])
    .where('status', 'in', OPEN_STATUSES)
    .orderBy('id')
    .limit(limit)
  if (afterId !== undefined) query = query.where('id', '>', afterId)
  return query.execute()
}

/** Phone calls of a workspace's number that are not over. */
export interface OpenCalls {
  workspaceId: string
  /** The number of ours: who calls of an outbound call, who is called of an inbound one. */
  number: string
  /** Of voice workers; empty: the one without a name. */
  pool: string
  /** Outbound, not given to the carrier yet, and free to be; those of a paused batch are neither waiting nor placed. */
  waiting: number
  placed: number
  /** Seats that those which wait will take, and those that ring without one. */
  waitingSeats: number
  ringingSeats: number
}

/** Asked every second: each connection plans it once. */
const OPEN_CALLS = {
  name: 'open-phone-calls',
  text: `
    select c.workspace_id as "workspaceId",
      coalesce(case c.direction when 'outbound' then c.from_number else c.to_number end, '') as number,
      worker_pool_of(c.agent_id, c.workspace_id,
        coalesce(case c.direction when 'outbound' then c.from_number else c.to_number end, '')) as pool,
      count(*) filter (where c.direction = 'outbound' and c.status = 'queued' and c.placed_at is null
        and (c.batch_id is null or b.status = 'running'))::int as waiting,
      count(*) filter (where c.direction = 'inbound' or c.status <> 'queued' or c.placed_at is not null)::int as placed,
      coalesce(sum(coalesce(c.seat_share, 1)) filter (where c.direction = 'outbound' and c.status = 'queued'
        and c.placed_at is null and (c.batch_id is null or b.status = 'running')), 0) as "waitingSeats",
      coalesce(sum(c.seat_share) filter (where c.placed_at is not null and c.status in ('queued', 'ringing')), 0)
        as "ringingSeats"
    from calls c left join batches b on b.id = c.batch_id
    where c.status in ('queued', 'ringing', 'in_progress') and c.call_type = 'phone'
    group by 1, 2, 3`,
}

/** The open phone calls of all workspaces. */
export async function openPhoneCalls(store: Store): Promise<OpenCalls[]> {
  return (await store.pool.query<OpenCalls>(OPEN_CALLS)).rows
}
