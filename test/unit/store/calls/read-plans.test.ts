import { randomUUID } from 'node:crypto'
import t from 'tap'
import { foldCalls } from '../../../../store/calls/call-sums-folding.ts'
import { type CallFilter, callsPage } from '../../../../store/calls/calls.ts'
import { dashboardSums, dispositionSeries, dispositionSums } from '../../../../store/calls/reports.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

/** One connection: the counts of its own scans are there once it flushes them. */
const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 1 })
t.teardown(() => store.close())
const { pool } = store
const DAYS = 60
const CALLS = 20_000
const workspaceId = randomUUID()
const agentId = randomUUID()
const tenant = store.tenant(workspaceId)

t.before(async () => {
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'team', slug: workspaceId, deleted_at: null })
    .execute()
  await pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, disposition, campaign_slug,
       from_number, external_id, analysis, created_at, updated_at)
     select gen_random_uuid(), $1, $2, 'Ada', 'phone', case when i % 9 = 0 then 'outbound' else 'inbound' end,
       case when i % 5 = 0 then 'failed' else 'completed' end, 'd' || i % 7, 'campaign-' || i % 30,
       '+1415' || lpad(i::text, 7, '5'), 'crm-' || i, jsonb_build_object('disposition', 'a' || i % 3), at, at
     from generate_series(1, $3::int) as i, lateral (select now() - i * (interval '${DAYS} days' / $3) as at) as times`,
    [workspaceId, agentId, CALLS],
  )
  await pool.query(`update call_rollup_state set folded_until = date_trunc('day', now() - interval '${DAYS + 2} days')`)
  while (await foldCalls(store));
  await pool.query('vacuum analyze calls, call_rollups')
})

async function scans(): Promise<{ whole: number; rows: number }> {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query<{ whole: string; rows: string }>(
    `select seq_scan as whole, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows
     from pg_stat_user_tables where relname = 'calls'`,
  )
  return { whole: Number(rows[0]?.whole), rows: Number(rows[0]?.rows) }
}

const span = { startMs: Date.now() - DAYS * 86_400_000, endMs: Date.now() }
const page = (filter: CallFilter, number = 1) => callsPage(tenant, filter, { number, size: 50 })
const READS: Readonly<Record<string, () => Promise<unknown>>> = {
  dashboard: () => dashboardSums(tenant, span, 'day'),
  'the dashboard of a campaign': () => dashboardSums(tenant, { ...span, campaignSlugs: ['campaign-3'] }, 'day'),
  dispositions: () => dispositionSums(tenant, span, 'line'),
  'what analyses came to': () => dispositionSums(tenant, span, 'analysis'),
  'what analyses came to by day': () => dispositionSeries(tenant, span, 'analysis', 'day'),
  'a page in the middle': () => page({}, 200),
  'calls of an agent': () => page({ agentId }, 200),
  'calls of a direction': () => page({ directions: ['outbound'] }),
  'calls of a status': () => page({ statuses: ['completed'] }, 200),
  'calls of a disposition': () => page({ dispositions: ['d3'] }),
  'calls of a campaign': () => page({ campaignSlugs: ['campaign-3'] }),
  'calls of a number': () => page({ number: '+14155550042' }),
  'calls of a part of a number': () => page({ numberPart: '50042' }),
  'calls of a part that no number has': () => page({ numberPart: '99999' }),
  'a call of another system': () => page({ externalIds: ['crm-42'] }),
  'what changed in the last hour': () => page({ updatedSince: new Date(Date.now() - 3_600_000) }),
}

for (const [name, read] of Object.entries(READS)) {
  t.test(`reads few calls of many: ${name}`, async (t) => {
    await read()
    const before = await scans()
    await read()
    const after = await scans()
    t.equal(after.whole - before.whole, 0, 'never the whole table')
    t.ok(after.rows - before.rows < CALLS / 10, `${after.rows - before.rows} rows`)
  })
}

t.test('a report whose reads fail is one rejection, and none that nobody handles', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  // Which hours have sums is still known, and the sums can't be read.
  await pool.query('alter table call_rollups rename column tokens to gone')
  t.teardown(() => pool.query('alter table call_rollups rename column gone to tokens'))
  await t.rejects(dashboardSums(tenant, span, 'day'), /tokens/)
  await pool.query('select')
  t.same(unhandled, [])
})
