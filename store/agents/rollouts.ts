import { sql } from 'kysely'
import { type CallSample, type GuardVerdict, judgeVersions } from '../../runtime/rollouts/guard.ts'
import type { Store } from '../database/database.ts'
import type { AgentRollout, GuardFigure, RolloutStop } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from '../events/workspace-events.ts'

/** The rollouts of agents, and what their calls came to. */

/** False: the workspace has no such agent. */
export async function setRollout(tenant: Tenant, agentId: string, rollout: AgentRollout | null): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('agents')
    .set({ rollout: rollout === null ? null : JSON.stringify(rollout) })
    .where('id', '=', agentId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

interface GuardedRollout {
  workspaceId: string
  agentId: string
  agentName: string
  liveVersion: number | null
  rollout: AgentRollout
}

/** The rollouts of all workspaces that run under a guard. */
export async function guardedRollouts(store: Store): Promise<GuardedRollout[]> {
  const { rows } = await sql<GuardedRollout>`
    select workspace_id as "workspaceId", id as "agentId", agent_name as "agentName", live_version as "liveVersion", rollout
    from agents where rollout is not null and rollout ->> 'status' = 'running' and jsonb_typeof(rollout -> 'guard') = 'object'
    order by id`.execute(store.acrossTenants)
  return rows
}

/** Sends all calls to the other version and says so, once. False: the rollout is another by now, or over. */
export function stopRollout(
  { workspaceId, db: all }: Tenant,
  { agentId, agentName, rollout }: Pick<GuardedRollout, 'agentId' | 'agentName' | 'rollout'>,
  stopped: RolloutStop,
): Promise<boolean> {
  return all.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('agents')
      .set({ rollout: JSON.stringify({ ...rollout, status: 'stopped', stopped }) })
      .where('id', '=', agentId)
      .where(sql<boolean>`rollout ->> 'id' = ${rollout.id} and rollout ->> 'status' = 'running'`)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    const { live: _, ...data } = stopped
    await publishEvent(
      { workspaceId, db },
      {
        type: 'rollout.stopped',
        subject: agentId,
        agentId,
        data: { agent_id: agentId, agent_name: agentName, rollout_id: rollout.id, ...data },
      },
    )
    return true
  })
}

/** What the calls of a version came to that the split gave it and that are over. */
export interface VersionFigures {
  version: number
  calls: number
  answered: number
  faults: number
  /** Of those that were analysed for success. */
  judged: number
  succeeded: number
  /** Of the answered ones. */
  disposed: number
  /** Natural logarithm of each call's 95th percentile of its answers' latency in ms. */
  latency: CallSample
  /** USD of each call; those of unknown cost are left out. */
  cost: CallSample
}

/** By version. `disposition`: what is counted as `disposed`. */
export async function rolloutFigures(
  tenant: Tenant,
  rolloutId: string,
  disposition: string | null,
): Promise<Map<number, VersionFigures>> {
  const { rows } = await sql<VersionFigures>`
    select c.agent_version as version, count(*)::int as calls, count(c.answered_at)::int as answered,
      (count(*) filter (where c.error is not null or c.status = 'failed'))::int as faults,
      count(c.analysis ->> 'success')::int as judged,
      (count(*) filter (where (c.analysis ->> 'success')::boolean))::int as succeeded,
      (count(*) filter (where c.answered_at is not null
        and coalesce(c.analysis ->> 'disposition', c.disposition) = ${disposition}::text))::int as disposed,
      jsonb_build_object('calls', count(t.ln), 'sum', coalesce(sum(t.ln), 0), 'sumOfSquares', coalesce(sum(t.ln * t.ln), 0)) as latency,
      jsonb_build_object('calls', count(t.usd), 'sum', coalesce(sum(t.usd), 0), 'sumOfSquares', coalesce(sum(t.usd * t.usd), 0)) as cost
    from calls c cross join lateral (
      select ln(greatest(1, percentile_disc(0.95) within group (order by ms)))::float8 as ln,
        case when c.answered_at is not null then c.cost_llm + c.cost_stt + c.cost_tts + c.platform_cost end as usd
      from unnest(c.turn_latencies_ms) as ms) as t
    where c.workspace_id = ${tenant.workspaceId} and c.rollout_id = ${rolloutId}::uuid and c.ended_at is not null
      and c.agent_version is not null
    group by c.agent_version`.execute(tenant.db)
  return new Map(rows.map((row) => [row.version, row]))
}

const NO_CALLS: CallSample = { calls: 0, sum: 0, sumOfSquares: 0 }
const share = (part: number, calls: number): CallSample => ({ calls, sum: part, sumOfSquares: part })

/** The guarded figure of a version as the test reads it. */
export function sampleOf(figures: VersionFigures | undefined, figure: GuardFigure): CallSample {
  if (figures === undefined) return NO_CALLS
  if (figure === 'success') return share(figures.succeeded, figures.judged)
  if (figure === 'faults') return share(figures.faults, figures.calls)
  if (figure === 'latency_p95') return figures.latency
  if (figure === 'cost') return figures.cost
  return share(figures.disposed, figures.answered)
}

/** What `rolloutFigures` is to count; null: nothing. */
export const dispositionOf = (figure: GuardFigure | undefined): string | null =>
  figure?.startsWith('disposition:') ? figure.slice('disposition:'.length) : null

/** Of these a higher value is worse. */
const WORSE_HIGHER: readonly GuardFigure[] = ['faults', 'latency_p95', 'cost']

interface ComparedVersion {
  version: number
  sample: CallSample
}

/** How the later version of a guarded rollout stands beside the earlier one. Undefined: nothing is compared. */
export function compareVersions(
  { guard, split }: Pick<AgentRollout, 'guard' | 'split'>,
  figures: ReadonlyMap<number, VersionFigures>,
): { earlier: ComparedVersion; later: ComparedVersion; verdict: GuardVerdict } | undefined {
  if (guard === null) return undefined
  const { figure, min_calls: minCalls, planned_calls: plannedCalls } = guard
  const [earlier, later] = split
    .map(({ version }) => ({ version, sample: sampleOf(figures.get(version), figure) }))
    .sort((a, b) => a.version - b.version)
  if (earlier === undefined || later === undefined) return undefined
  const test = { worseIsHigher: WORSE_HIGHER.includes(figure), minCalls, plannedCalls }
  return { earlier, later, verdict: judgeVersions(earlier.sample, later.sample, test) }
}
