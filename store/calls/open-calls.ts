import type { Store } from '../database/database.ts'

/** Phone calls of a workspace's number that are not over. */
export interface OpenCalls {
  workspaceId: string
  /** The number of ours: who calls of an outbound call, who is called of an inbound one. */
  number: string
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
      count(*) filter (where c.direction = 'outbound' and c.status = 'queued' and c.placed_at is null
        and (c.batch_id is null or b.status = 'running'))::int as waiting,
      count(*) filter (where c.direction = 'inbound' or c.status <> 'queued' or c.placed_at is not null)::int as placed,
      coalesce(sum(coalesce(c.seat_share, 1)) filter (where c.direction = 'outbound' and c.status = 'queued'
        and c.placed_at is null and (c.batch_id is null or b.status = 'running')), 0) as "waitingSeats",
      coalesce(sum(c.seat_share) filter (where c.placed_at is not null and c.status in ('queued', 'ringing')), 0)
        as "ringingSeats"
    from calls c left join batches b on b.id = c.batch_id
    where c.status in ('queued', 'ringing', 'in_progress') and c.call_type = 'phone'
    group by 1, 2`,
}

/** The open phone calls of all workspaces. */
export async function openPhoneCalls(store: Store): Promise<OpenCalls[]> {
  return (await store.pool.query<OpenCalls>(OPEN_CALLS)).rows
}
