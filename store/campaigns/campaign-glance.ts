import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Campaign } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { callBacks } from './campaign-runs.ts'
import {
  type Bucket,
  buckets,
  type CampaignNumber,
  callStates,
  type DayRow,
  dayRow,
  daySums,
  type Retries,
  retries,
  selectRun,
  sourceNumbers,
  stateCounts,
} from './campaign-status.ts'

type Rows = RawBuilder<unknown> | SelectQueryBuilder<never, never, unknown>

/** As one value, times as ISO 8601. */
const listOf = (rows: Rows) => sql`(select coalesce(json_agg(r), '[]') from ${rows} as r)`
const firstOf = (rows: Rows) => sql`(select row_to_json(r) from ${rows} as r)`

interface Row {
  buckets: Bucket[]
  states: Parameters<typeof callStates>[0]
  days: DayRow
  last_tick: unknown
  numbers: Pick<CampaignNumber, 'number' | 'attempts' | 'blockedAt'>[]
  agent: boolean
  call_backs: { promised: number; missed: number }
  retries: { windowGroup: number; due: number; next: string | null }[]
}

/** All of a campaign that a status tells of, as of one moment and in one question: ten would wait ten times on a busy machine. */
export async function glanceAt(tenant: Tenant, campaign: Campaign, now: Date) {
  const { workspaceId } = tenant
  const { id } = campaign
  const { rows } = await sql<Row>`
    select ${listOf(buckets(tenant, id) as never)} as buckets,
      ${listOf(stateCounts(tenant, id))} as states,
      ${firstOf(dayRow(tenant, id, now) as never)} as days,
      ${firstOf(selectRun(tenant, id) as never)} -> 'last_tick' as last_tick,
      ${listOf(sourceNumbers(tenant, campaign, now))} as numbers,
      exists (select from agents where workspace_id = ${workspaceId} and id = ${campaign.agent_id}) as agent,
      ${firstOf(callBacks(tenant, id) as never)} as call_backs,
      ${listOf(retries(tenant, id, now))} as retries`.execute(tenant.db)
  const [row] = rows
  if (row === undefined) throw new Error('A select without a table has one row')
  return {
    buckets: row.buckets,
    calls: callStates(row.states),
    sums: daySums(row.days),
    lastTick: row.last_tick ?? undefined,
    numbers: row.numbers,
    hasAgent: row.agent,
    callBacks: row.call_backs,
    retries: row.retries.map(
      ({ windowGroup, due, next }): Retries =>
        due > 0 && next === null
          ? { windowGroup, due: Number.POSITIVE_INFINITY, next }
          : { windowGroup, due, next: next === null ? null : new Date(next) },
    ),
  }
}
