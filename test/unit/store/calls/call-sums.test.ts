import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { callSums, DAY_MS, HOUR_MS } from '../../../../store/calls/call-sums.ts'
import { foldCalls } from '../../../../store/calls/call-sums-folding.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const { pool } = store
const DAYS = 6
const CALLS = 400
const agents = [randomUUID(), randomUUID()]

async function furnish(): Promise<string> {
  const workspaceId = randomUUID()
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'team', slug: workspaceId, deleted_at: null })
    .execute()
  await pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, agent_version, call_type, direction, status, disposition,
       campaign_slug, analysis, created_at, answered_at, duration_ms, llm_input_tokens, cost_llm, cost_tts)
     select gen_random_uuid(), $1, ($2::uuid[])[1 + i % 2], 'Ada', case when i % 2 = 0 then i % 6 end,
       case when i % 3 = 0 then 'web' else 'phone' end, case when i % 5 = 0 then 'outbound' else 'inbound' end,
       case when i % 11 = 0 then 'failed' else 'completed' end, case when i % 4 > 0 then 'd' || i % 4 end,
       case when i % 5 = 0 then 'campaign-' || i % 2 end,
       case when i % 3 > 0 then jsonb_build_object('success', i % 2 = 0, 'disposition', 'a' || i % 2) end, now() - random() * interval '1 day' * $3,
       case when i % 5 > 0 then now() end, i * 1000, i, case when i % 7 > 0 then i / 1000.0 end, 0.01
     from generate_series(1, $4) as i`,
    [workspaceId, agents, DAYS, CALLS],
  )
  return workspaceId
}

const FIGURES = `sum(n)::int as n, sum(answered)::int as answered, sum(duration_ms)::float8 as duration_ms,
  sum(tokens)::float8 as tokens, round(sum(cost_llm)::numeric, 6)::float8 as cost_llm,
  round(sum(cost_tts)::numeric, 6)::float8 as cost_tts, sum(known_llm)::int as known_llm`
const FILTERS = [
  {},
  { statuses: ['failed', 'busy'] },
  { directions: ['outbound'] },
  { campaignSlugs: ['campaign-0'] },
  { dispositions: ['d1', 'd2'], statuses: ['completed'] },
]

/** What callSums says and what the calls say, for spans of every kind of edge. */
async function compare(t: Test, workspaceId: string, what: string): Promise<void> {
  const nowMs = Date.now()
  const tenant = store.tenant(workspaceId)
  for (let i = 0; i < 12; i++) {
    const startMs = i === 0 ? 0 : nowMs - Math.random() * (DAYS + 1) * DAY_MS
    const endMs = i === 0 ? Date.UTC(9999, 0) : startMs + Math.random() * (i % 3 === 0 ? 2 * HOUR_MS : DAYS * DAY_MS)
    const agentId = i % 4 === 1 ? agents[0] : undefined
    const callType = i % 4 === 2 ? ('web' as const) : undefined
    const finest = i % 2 === 0 ? 'day' : 'hour'
    const filter = FILTERS[i % FILTERS.length] ?? {}
    const kept = await callSums(tenant, { startMs, endMs, agentId, callType, ...filter }, finest, true)
    const columns = {
      statuses: 'status',
      directions: 'direction',
      campaignSlugs: 'campaign_slug',
      dispositions: 'disposition',
    }
    const filtered = Object.entries(filter).map(
      ([name, values]) => sql` and ${sql.ref(columns[name as keyof typeof columns])} = any(${values}::text[])`,
    )
    const own = sql`(select created_at as at, disposition, analysis->>'disposition' as analysed, agent_version,
        1 as n, (answered_at is not null)::int as answered,
        coalesce(duration_ms, 0) as duration_ms, llm_input_tokens + llm_output_tokens as tokens, coalesce(cost_llm, 0) as cost_llm,
        coalesce(cost_tts, 0) as cost_tts, (cost_llm is not null)::int as known_llm from calls
      where workspace_id = ${workspaceId} and created_at >= ${new Date(startMs)} and created_at < ${new Date(endMs)}
        ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}::uuid`}
        ${callType === undefined ? sql`` : sql`and call_type = ${callType}`}
        ${filtered.length === 0 ? sql`` : sql.join(filtered, sql``)})`
    const [ours, theirs] = await Promise.all(
      [kept, own].map(async (source) => {
        const bucket = sql`date_trunc(${sql.lit(finest)}, at, 'UTC')`
        const { rows } = await sql`select ${bucket} as bucket, coalesce(disposition, '') as disposition,
            coalesce(analysed, '') as analysed, coalesce(agent_version, 0) as version, ${sql.raw(FIGURES)}
          from ${source} as s group by 1, 2, 3, 4 having sum(n) <> 0 order by 1, 2, 3, 4`.execute(store.acrossTenants)
        return rows
      }),
    )
    t.strictSame(ours, theirs, `${what}, span ${i}`)
  }
}

const foldAll = async (): Promise<number> => {
  for (let steps = 0; ; steps++) if (!(await foldCalls(store))) return steps
}
/** Of hours that have sums. */
const marks = async () =>
  (await pool.query('select from call_rollup_changes, call_rollup_state where bucket < folded_until')).rowCount

t.test('sums are those of the calls, before and after they are folded, whatever changes meanwhile', async (t) => {
  const fresh = `update call_rollup_state set folded_until = date_trunc('hour', now(), 'UTC') - interval '${DAYS + 2} days'`
  await pool.query(fresh)
  const [one, two] = [await furnish(), await furnish()]
  await compare(t, one, 'from the calls')
  t.ok((await foldAll()) > DAYS)
  t.equal(await marks(), 0)
  const { rows } = await pool.query('select grain, count(*)::int as n from call_rollups group by 1 order by 1')
  t.match(rows, [{ grain: 'day' }, { grain: 'hour' }], 'both are kept')
  await compare(t, one, 'folded')
  await compare(t, two, 'the other folded')

  await pool.query(`update calls set duration_ms = duration_ms + 7, disposition = 'changed'
    where workspace_id = '${one}' and duration_ms % 10000 = 0`)
  await pool.query(`update calls set created_at = created_at - interval '26 hours'
    where workspace_id = '${one}' and duration_ms % 16000 = 1000`)
  t.ok(((await marks()) ?? 0) > 0)
  await compare(t, one, 'changed')
  await foldAll()
  await compare(t, one, 'changed and folded')

  await pool.query(`delete from calls where workspace_id = '${one}' and duration_ms % 9000 = 0`)
  await compare(t, one, 'deleted')
  await foldAll()
  t.equal(await marks(), 0)
  await compare(t, one, 'deleted and folded')
  await compare(t, two, 'the other is as it was')
})

t.test('sums of the version before, which know no status, are read past and made anew', async (t) => {
  const workspaceId = await furnish()
  await foldAll()
  await pool.query(
    `
    with gone as (delete from call_rollups where workspace_id = $1 returning *)
    insert into call_rollups (workspace_id, grain, bucket, agent_id, call_type, disposition, calls, answered, duration_ms,
      tokens, cost_llm, cost_stt, cost_tts, platform_cost, known_llm, known_stt, known_tts, known_platform)
    select workspace_id, grain, bucket, agent_id, call_type, disposition, sum(calls), sum(answered), sum(duration_ms),
      sum(tokens), sum(cost_llm), sum(cost_stt), sum(cost_tts), sum(platform_cost), sum(known_llm), sum(known_stt),
      sum(known_tts), sum(known_platform)
    from gone group by 1, 2, 3, 4, 5, 6`,
    [workspaceId],
  )
  await compare(t, workspaceId, 'plain')
  await foldAll()
  const { rowCount } = await pool.query(`select from call_rollups where status = ''`)
  t.equal(rowCount, 0)
  await compare(t, workspaceId, 'made anew')
})

t.test('a change that is committed while its hour is folded is not lost', async (t) => {
  const workspaceId = await furnish()
  await foldAll()
  const change = `update calls set duration_ms = duration_ms + 1 where workspace_id = '${workspaceId}'
    and created_at < now() - interval '1 day'`
  const client = await pool.connect()
  await client.query('begin')
  await client.query(change)
  await foldAll()
  await client.query('commit')
  await compare(t, workspaceId, 'after the commit')
  await client.query('begin')
  await client.query(change)
  await Promise.all([foldAll(), client.query('commit')])
  client.release()
  await compare(t, workspaceId, 'both at once')
  await foldAll()
  await compare(t, workspaceId, 'folded')
})

t.test('who writes a call of now writes nothing else', async (t) => {
  await foldAll()
  const before = await marks()
  const workspaceId = randomUUID()
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'team', slug: workspaceId, deleted_at: null })
    .execute()
  await pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status)
     values (gen_random_uuid(), $1, gen_random_uuid(), 'Ada', 'web', 'inbound', 'in_progress')`,
    [workspaceId],
  )
  await pool.query(`update calls set status = 'completed', duration_ms = 1 where workspace_id = $1`, [workspaceId])
  t.equal(await marks(), before)
  await pool.query(`update calls set created_at = now() - interval '3 hours' where workspace_id = $1`, [workspaceId])
  const marked = await marks()
  t.ok((marked ?? 0) > (before ?? 0))
  await pool.query(`update calls set summary = 'x' where workspace_id = $1`, [workspaceId])
  t.equal(await marks(), marked, 'what no sum holds marks nothing')
})
