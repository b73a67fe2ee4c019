import type { Store } from '../database/database.ts'

export const POOL_KINDS = ['agent', 'workspace', 'region'] as const
export type PoolKind = (typeof POOL_KINDS)[number]

/** A pool and the calls it serves. `key`: the id of the agent or workspace, or the beginning of a number of ours (`+49`). */
export interface PoolRule {
  kind: PoolKind
  key: string
  pool: string
}

/** What decides the pool of a call; `number`: that of ours. */
export interface Pooled {
  readonly agentId: string | null
  readonly workspaceId: string
  readonly number?: string | null | undefined
}

/** The pool that serves such a call; empty: the one without a name. Read anew each time. */
export async function workerPoolOf(
  { pool }: Pick<Store, 'pool'>,
  { agentId, workspaceId, number }: Pooled,
): Promise<string> {
  const { rows } = await pool.query<{ pool: string }>({
    name: 'worker-pool-of',
    text: 'select worker_pool_of($1, $2, $3) as pool',
    values: [agentId, workspaceId, number ?? ''],
  })
  return rows[0]?.pool ?? ''
}

export async function listPoolRules({ pool }: Pick<Store, 'pool'>): Promise<PoolRule[]> {
  const text = `select kind, key, pool from worker_pools order by array_position('{agent,workspace,region}', kind), key`
  return (await pool.query<PoolRule>(text)).rows
}

export async function setPoolRule({ pool: db }: Pick<Store, 'pool'>, { kind, key, pool }: PoolRule): Promise<void> {
  await db.query(
    `insert into worker_pools (kind, key, pool) values ($1, $2, $3) on conflict (kind, key) do update set pool = $3`,
    [kind, key, pool],
  )
}

/** False when there is no such rule. */
export async function removePoolRule({ pool }: Pick<Store, 'pool'>, kind: PoolKind, key: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from worker_pools where kind = $1 and key = $2', [kind, key])
  return (rowCount ?? 0) > 0
}
