/**
 * The REST API beside fastify 5 and express 5, each server alone in a process and the load in another; late pages and the
 * dashboard of a large call log; and the CSV figures of bench/csv.ts. On a machine whose load generator is the bottleneck
 * the requests per second understate a fast server: the requests per CPU second of the server don't.
 *
 * `--calls=1000000` for the whole call log (default 200,000), `--seconds=5` a measurement, `--no-csv`, `--short` for a
 * tenth of the CSV rows.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../store/database/database.ts'
import { run as runCsv } from './csv.ts'
import type { Load, LoadResult } from './rest/load.ts'
import { answerTimeMs, makeTokenUser, ServerProcess } from './rest/server-process.ts'
import { AGENT, PATH_WITHOUT_DATABASE } from './rest/work.ts'
import { onOwnDatabase } from './support/own-database.ts'

const CONNECTIONS = 64
const RUNS = 3
const PAGE = 10_000
const READS = 100

interface Figure {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  target: string
  runs: number
}

interface Measured {
  perSecond: number
  perCpuSecond: number
  p99Ms: number
}

export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string, otherwise: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise)
  const seconds = option('seconds', 4)
  const calls = option('calls', 200_000)
  const figures: Figure[] = []
  await onOwnDatabase({ statementTimeoutMs: 600_000 }, async ({ store, databaseUrl }) => {
    const users = await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => makeTokenUser(store, i)))
    const [ours, fastify, express] = await Promise.all(
      (['ours', 'fastify', 'express'] as const).map((name) => new ServerProcess(name, databaseUrl).ready()),
    )
    if (!ours || !fastify || !express) return
    const cookies = users.map(({ token }) => token)
    const base = { cookies, connections: CONNECTIONS, durationS: seconds }
    const plain = { ...base, method: 'POST' as const, path: PATH_WITHOUT_DATABASE, body: JSON.stringify(AGENT) }
    const [us, fast, exp] = await compare([ours, fastify, express], plain)
    report(figures, 'no database, beside fastify (requests/s)', us.perSecond, fast.perSecond, '>= 2.5', RUNS)
    report(figures, 'no database, beside fastify (requests/CPU s)', us.perCpuSecond, fast.perCpuSecond, '>= 2.5', RUNS)
    report(figures, 'no database, beside express (requests/s)', us.perSecond, exp.perSecond, '>= 6', RUNS)
    report(figures, 'no database, beside express (requests/CPU s)', us.perCpuSecond, exp.perCpuSecond, '>= 6', RUNS)

    const [one, peer] = await compare([ours, fastify], { ...base, method: 'GET', path: '/auth/me' })
    report(figures, 'one query, beside fastify + pg (requests/s)', one.perSecond, peer.perSecond, '>= 1.5', RUNS)
    report(figures, 'one query, beside fastify + pg (p99 ms)', one.p99Ms, peer.p99Ms, '<= 0.7', RUNS)

    await insertCalls(store, users[0]?.workspaceId ?? '', calls)
    const read = (path: string) => answerTimeMs(`${ours.url}${path}`, cookies[0] ?? '')
    const size = Math.min(25, Math.floor(calls / PAGE))
    const [first, late] = [`/calls/logs?page_size=${size}&page=1`, `/calls/logs?page_size=${size}&page=${PAGE}`]
    const pages = await inTurns([() => read(first), () => read(late)])
    report(figures, `page ${PAGE} beside page 1 of ${calls} calls (ms)`, pages[1] ?? 0, pages[0] ?? 0, '<= 1.2', READS)
    const start = new Date(Date.now() - 30 * 86_400_000).toISOString()
    const [dashboard] = await inTurns([() => read(`/reports/dashboard?start_date=${start}`)])
    report(figures, `dashboard over ${calls} calls (ms)`, dashboard ?? 0, null, '< 300', READS)
    await Promise.all([ours.stop(), fastify.stop(), express.stop()])
  })
  console.table(figures)
  if (!args.includes('--no-csv')) await runCsv(args.filter((arg) => arg === '--short'))
}

/** Each server in turn, several times over, so that what else the machine does meets all of them; medians. */
async function compare(
  servers: ServerProcess[],
  load: Omit<Load, 'url'> & { path: string },
): Promise<[Measured, Measured, Measured]> {
  const results = servers.map((): Measured[] => [])
  for (let i = -1; i < RUNS; i++) {
    for (const [at, server] of servers.entries()) {
      // The first round warms up.
      const measured = await measure(server, { ...load, durationS: i < 0 ? 1 : load.durationS })
      if (i >= 0) results[at]?.push(measured)
    }
  }
  return results.map((runs) => ({
    perSecond: median(runs.map((run) => run.perSecond)),
    perCpuSecond: median(runs.map((run) => run.perCpuSecond)),
    p99Ms: median(runs.map((run) => run.p99Ms)),
  })) as [Measured, Measured, Measured]
}

async function measure(
  server: ServerProcess,
  { path, ...load }: Omit<Load, 'url'> & { path: string },
): Promise<Measured> {
  const generator = join(import.meta.dirname, 'rest', 'load.ts')
  const job: Load = { ...load, url: `${server.url}${path}` }
  const cpuBeforeS = await server.cpuS()
  const { stdout } = await promisify(execFile)(process.execPath, [generator, JSON.stringify(job)], {
    timeout: (load.durationS + 30) * 1000,
  })
  const cpuS = (await server.cpuS()) - cpuBeforeS
  const { requests, failed, durationS, p99Ms } = JSON.parse(stdout) as LoadResult
  if (failed > 0) throw new Error(`${failed} of ${requests} requests to ${job.url} failed`)
  return { perSecond: requests / durationS, perCpuSecond: requests / cpuS, p99Ms }
}

async function insertCalls(store: Store, workspaceId: string, calls: number): Promise<void> {
  const agents = Array.from({ length: 5 }, () => uuidv7())
  await store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, disposition, created_at,
       answered_at, ended_at, duration_ms, llm_input_tokens, llm_output_tokens, cost_llm, cost_stt, turn_latencies_ms)
     select gen_random_uuid(), $1, ($2::uuid[])[1 + i % 5], 'Agent ' || i % 5, case when i % 3 = 0 then 'web' else 'phone' end,
       'outbound', 'completed', 'completed', at, at, at + interval '42 seconds', 42000, 300, 80, 0.001, 0.002, '{300,400}'
     from generate_series(1, $3) i, lateral (select now() - i * (interval '30 days' / $3) as at) t`,
    [workspaceId, agents, calls],
  )
  await store.pool.query('vacuum analyze')
}

/** The medians of tasks that are measured in turns. */
async function inTurns(tasks: (() => Promise<number>)[]): Promise<number[]> {
  const times = tasks.map((): number[] => [])
  for (let i = 0; i < READS; i++) {
    for (const [at, task] of tasks.entries()) times[at]?.push(await task())
  }
  return times.map(median)
}

function report(all: Figure[], name: string, ours: number, peer: number | null, target: string, runs: number): void {
  const round = (value: number) => Number(value.toPrecision(4))
  const ratio = peer === null ? null : round(ours / peer)
  const figure = {
    name: `REST, ${name}`,
    ours: round(ours),
    peer: peer === null ? null : round(peer),
    ratio,
    target,
    runs,
  }
  all.push(figure)
  process.stdout.write(`${JSON.stringify(figure)}\n`)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
