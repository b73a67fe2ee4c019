/**
 * `npm run bench -- reads [--calls=1000000] [--reads=40]`: what people open over a large call log, one request at a time: the
 * dashboard, lists, filters and search. The calls are of 90 days, 20 campaigns and 20 agents; a tenth of them is another
 * workspace's. Target: p95 ≤ 150 ms each.
 */
import { parseArgs } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { foldCalls } from '../store/calls/call-sums-folding.ts'
import type { Store } from '../store/database/database.ts'
import { answerTimeMs, makeTokenUser, ServerProcess } from './rest/server-process.ts'
import { onOwnDatabase } from './support/own-database.ts'
import { quantile } from './support/quantile.ts'
import { rounded } from './support/rounded.ts'

const TARGET_P95_MS = 150
const DAYS = 90
const AGENTS = Array.from({ length: 20 }, () => uuidv7())

const PATHS: Readonly<Record<string, (atMs: number) => string>> = {
  'dashboard, 30 days': (atMs) => `/reports/dashboard?start_date=${ago(atMs, 30)}`,
  'dashboard, 90 days': (atMs) => `/reports/dashboard?start_date=${ago(atMs, DAYS)}`,
  'dashboard, 90 days of an agent': (atMs) =>
    `/reports/dashboard?start_date=${ago(atMs, DAYS)}&agent_id=${AGENTS[3] ?? ''}`,
  'dashboard, 90 days of a campaign': (atMs) => `/reports/dashboard?start_date=${ago(atMs, DAYS)}&campaign=campaign-3`,
  'dispositions, 90 days by day': (atMs) => `/reports/disposition?start_date=${ago(atMs, DAYS)}&interval=day`,
  'analysed dispositions, 90 days by day': (atMs) =>
    `/reports/disposition?by=analysis&start_date=${ago(atMs, DAYS)}&interval=day`,
  'list, first page': () => '/calls/logs?page_size=50',
  'list, a page in the middle': () => '/calls/logs?page_size=50&page=7000',
  'list of an agent': () => `/calls/logs?page_size=50&agent_id=${AGENTS[3] ?? ''}`,
  'list by status': () => '/calls/logs?page_size=50&status=no_answer',
  'list by status, most calls': () => '/calls/logs?page_size=50&status=completed',
  'list by direction': () => '/calls/logs?page_size=50&direction=outbound',
  'list by disposition': () => '/calls/logs?page_size=50&disposition=sold',
  'list of a campaign': () => '/calls/logs?page_size=50&campaign=campaign-3',
  'list of a campaign and a disposition': () => '/calls/logs?page_size=50&campaign=campaign-3&disposition=sold',
  'list by status of an agent': () => `/calls/logs?page_size=50&status=no_answer&agent_id=${AGENTS[3] ?? ''}`,
  'search by number': () => `/calls/logs?page_size=50&number=${encodeURIComponent('+14155012345')}`,
  'search by part of a number': () => '/calls/logs?page_size=50&number=501234',
  'search by a short part of a number': () => '/calls/logs?page_size=50&number=123',
  'search by part of a number that none has': () => '/calls/logs?page_size=50&number=999999',
  'search by part of a number that most have': () => '/calls/logs?page_size=50&number=415',
  'search by external id': () => '/calls/logs?page_size=50&external_id=crm-4711',
  'search by metadata': () => `/calls/logs?page_size=50&${encodeURIComponent('metadata[lead]')}=4711`,
  'changed in the last hour': (atMs) => `/calls/logs?page_size=50&updated_since=${ago(atMs, 1 / 24)}`,
}

function ago(atMs: number, days: number): string {
  return new Date(atMs - days * 86_400_000).toISOString()
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { calls: { type: 'string', default: '1000000' }, reads: { type: 'string', default: '40' } },
  })
  const [calls, reads] = [Number(values.calls), Number(values.reads)]
  await onOwnDatabase({ statementTimeoutMs: 600_000 }, async ({ store, databaseUrl }) => {
    const [ours, other] = await Promise.all([makeTokenUser(store, 1), makeTokenUser(store, 2)])
    await insertCalls(store, ours.workspaceId, Math.round(calls * 0.9), 1)
    await insertCalls(store, other.workspaceId, Math.round(calls * 0.1), 2)
    while (await foldCalls(store));
    await store.pool.query('vacuum analyze')
    const server = await new ServerProcess('ours', databaseUrl).ready()
    const table: Record<string, Record<string, number | string>> = {}
    const atMs = Date.now()
    for (const [name, pathAt] of Object.entries(PATHS)) {
      const url = `${server.url}${pathAt(atMs)}`
      const timesMs: number[] = []
      for (let i = 0; i < reads; i++) timesMs.push(await answerTimeMs(url, ours.token))
      const figure = { p50: rounded(quantile(timesMs, 0.5)), p95: rounded(quantile(timesMs, 0.95)) }
      process.stdout.write(
        `${JSON.stringify({ name: 'reads', read: name, calls, ...figure, target: TARGET_P95_MS })}\n`,
      )
      table[name] = { 'p50 ms': figure.p50, 'p95 ms': figure.p95, held: figure.p95 <= TARGET_P95_MS ? 'yes' : 'NO' }
    }
    console.table(table)
    await server.stop()
  })
}

/** Newest calls last, as they come. */
async function insertCalls(store: Store, workspaceId: string, calls: number, prefix: number): Promise<void> {
  await store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, disposition, campaign_slug,
       from_number, to_number, external_id, metadata, analysis, created_at, updated_at, answered_at, ended_at, duration_ms,
       llm_input_tokens, llm_output_tokens, cost_llm, cost_stt, turn_latencies_ms)
     select gen_random_uuid(), $1, ($2::uuid[])[1 + i % 20], 'Agent ' || i % 20,
       case when i % 3 = 0 then 'web' else 'phone' end, case when i % 3 = 1 then 'outbound' else 'inbound' end,
       case when i % 10 = 1 then 'no_answer' else 'completed' end,
       (array['completed', 'sold', 'callback', 'no_answer', 'transferred'])[1 + (i / 7) % 5],
       case when i % 3 = 1 then 'campaign-' || i % 20 end,
       case when i % 3 <> 0 then '+1415555' || lpad((i % 10)::text, 4, '0') end,
       case when i % 3 <> 0 then '+1415' || lpad(((i::bigint * 7919) % 1000000)::text, 7, '5') end,
       'crm-' || i, case when i % 4 = 0 then jsonb_build_object('lead', i::text) else '{}' end,
       case when i % 2 = 0 then jsonb_build_object('success', true, 'disposition',
         (array['interested', 'not interested', 'call again'])[1 + i % 3]) end,
       at, at + interval '60 seconds', at, at + interval '42 seconds', 42000, 300, 80, 0.001, 0.002, '{300,400}'
     from generate_series($4::int, $3::int) i, lateral (select now() - ($3 - i) * (interval '${DAYS} days' / $3) as at) t`,
    [workspaceId, AGENTS, calls, prefix],
  )
}
