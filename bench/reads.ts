/**
 * `npm run bench -- reads [--calls=1000000] [--reads=40]`: what people open over a large call log, one request at a time: the
 * dashboard, lists, filters and search. The calls are of 90 days, 20 campaigns and 20 agents; a tenth of them is another
 * workspace's. Target: p95 ≤ 150 ms each.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { createAccessTokens } from '../api/auth/access-token.ts'
import { systemClock } from '../runtime/lib/clock.ts'
import { createLogger } from '../runtime/process/log.ts'
import { createUser } from '../store/accounts/users.ts'
import { foldCalls } from '../store/calls/call-sums-folding.ts'
import { openStore, type Store } from '../store/database/database.ts'
import { migrate } from '../store/database/migrate.ts'
import { startEmbedded } from '../store/embedded/embedded.ts'
import { SECRET } from './rest/work.ts'

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
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'))
  const log = createLogger({ level: 'warn', name: 'bench' })
  const embedded = await startEmbedded({
    dataDir: folder,
    log,
    postgres: true,
    redis: false,
    searchPath: process.env.PATH,
  })
  const databaseUrl = embedded.databaseUrl ?? ''
  await migrate(databaseUrl, log)
  const store = openStore({ databaseUrl, statementTimeoutMs: 600_000 })
  try {
    const [ours, other] = await Promise.all([createTenant(store, 1), createTenant(store, 2)])
    await insertCalls(store, ours.workspaceId, Math.round(calls * 0.9), 1)
    await insertCalls(store, other.workspaceId, Math.round(calls * 0.1), 2)
    while (await foldCalls(store));
    await store.pool.query('vacuum analyze')
    const server = fork(join(import.meta.dirname, 'rest', 'ours.ts'), [databaseUrl])
    const [{ port }] = (await once(server, 'message', { signal: AbortSignal.timeout(30_000) })) as [{ port: number }]
    const table: Record<string, Record<string, number | string>> = {}
    const atMs = Date.now()
    for (const [name, pathAt] of Object.entries(PATHS)) {
      const url = `http://127.0.0.1:${port}${pathAt(atMs)}`
      const timesMs: number[] = []
      for (let i = 0; i < reads; i++) timesMs.push(await timeOf(url, ours.token))
      timesMs.sort((a, b) => a - b)
      const figure = { p50: at(timesMs, 0.5), p95: at(timesMs, 0.95) }
      process.stdout.write(
        `${JSON.stringify({ name: 'reads', read: name, calls, ...figure, target: TARGET_P95_MS })}\n`,
      )
      table[name] = { 'p50 ms': figure.p50, 'p95 ms': figure.p95, held: figure.p95 <= TARGET_P95_MS ? 'yes' : 'NO' }
    }
    console.table(table)
    server.disconnect()
    await once(server, 'exit')
  } finally {
    await store.close()
    await embedded.stop(10_000)
    await rm(folder, { recursive: true, force: true })
  }
}

function at(sorted: readonly number[], share: number): number {
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1))
}

async function createTenant(store: Store, n: number): Promise<{ token: string; workspaceId: string }> {
  const tokens = createAccessTokens(SECRET, 3600, systemClock)
  const user = { name: `User ${n}`, email: `user-${n}@example.com`, passwordHash: '', phoneNumber: '+14155550123' }
  const { id, email, current_workspace_id } = await createUser(store.global, user)
  return { token: await tokens.issue({ id, email }), workspaceId: current_workspace_id ?? '' }
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

async function timeOf(url: string, token: string): Promise<number> {
  const startMs = performance.now()
  const answer = await fetch(url, { headers: { cookie: `access_token=${token}` }, signal: AbortSignal.timeout(60_000) })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status} ${text}`)
  return performance.now() - startMs
}
