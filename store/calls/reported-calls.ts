import type { Store } from '../database/database.ts'

/**
 * The calls each api node holds, by its own word in the database. Redis has the leases of calls; where it forgets or refuses them, a
 * node that still writes here is alive, and so are its calls.
 */

const FORGET_AFTER = '1 day'

/** Says that the node holds these calls and no others. */
export async function reportHeldCalls(
  store: Pick<Store, 'pool'>,
  nodeId: string,
  callIds: readonly string[],
): Promise<void> {
  await store.pool.query(
    `insert into node_leases (node_id, calls) values ($1, $2::uuid[])
     on conflict (node_id) do update set calls = excluded.calls, renewed_at = now()`,
    [nodeId, callIds],
  )
}

/** Which of the calls a node reported within that time, and that node. */
export async function reportedCalls(
  store: Pick<Store, 'pool'>,
  callIds: readonly string[],
  withinMs: number,
): Promise<Map<string, string>> {
  if (callIds.length === 0) return new Map()
  const { rows } = await store.pool.query<{ call: string; node: string }>(
    `select call, node_id as node from node_leases, unnest(calls) as call
     where renewed_at > now() - $2 * interval '1 millisecond' and call = any($1::uuid[])`,
    [callIds, withinMs],
  )
  return new Map(rows.map(({ call, node }) => [call, node]))
}

/** Removes nodes that were not heard of for a day. */
export async function forgetOldNodes(store: Pick<Store, 'pool'>): Promise<void> {
  await store.pool.query(`delete from node_leases where renewed_at < now() - interval '${FORGET_AFTER}'`)
}
