/**
 * A CSV of a million phone numbers: loading it as a batch beside `psql \copy` of the same file into a plain table of its
 * columns, in turns, and writing a million calls out again. Memory is this process’s, without the one that reads the file.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { csvOf } from '../api/calls/outbound.ts'
import type { BatchDetails, BatchLoadParams, BatchLoadResult } from '../store/batches/batch-load.ts'
import type { Store } from '../store/database/database.ts'
import { openBulkCopy } from '../store/uploads/bulk-copy.ts'
import { onOwnDatabase } from './support/own-database.ts'

const ROWS = 1_000_000
const RUNS = 5
const MIB = 2 ** 20
const ROWS_A_PIECE = 500
const LOADER = new URL('../store/batches/batch-load.ts', import.meta.url)
const details: BatchDetails = {
  name: 'bench',
  agentId: '',
  agentPhoneNumber: '+14155550100',
  status: 'pending',
  scheduledTime: null,
  timezone: 'UTC',
}

export async function run(args: readonly string[]): Promise<void> {
  const rows = args.includes('--short') ? ROWS / 10 : ROWS
  await onOwnDatabase({ statementTimeoutMs: 600_000 }, async ({ store, databaseUrl, folder }) => {
    const workspaceId = await seed(store)
    for (const quoted of [false, true]) {
      const file = join(folder, 'numbers.csv')
      await writeNumbers(file, rows, quoted)
      await compareLoads(store, { databaseUrl, workspaceId, file, rows, quoted })
    }
    await measureExport(store, workspaceId, rows)
  })
}

async function seed(store: Store): Promise<string> {
  const id = uuidv7()
  await store.global
    .insertInto('workspaces')
    .values({ id, name: 'b', type: 'bench', slug: id, deleted_at: null })
    .execute()
  details.agentId = uuidv7()
  const models = {
    llm_provider: 'l',
    llm_model: 'l',
    stt_provider: 's',
    stt_model: 's',
    tts_provider: 't',
    tts_voice: 't',
  }
  const agent = {
    id: details.agentId,
    agent_name: 'a',
    temperature: 0,
    system_prompt: '',
    first_message: '',
    ...models,
  }
  await store.tenant(id).db.insertInto('agents').values(agent).execute()
  await store.pool.query('create table plain (phone_number text, first_name text, last_name text, city text)')
  return id
}

async function writeNumbers(file: string, rows: number, quoted: boolean): Promise<void> {
  const out = createWriteStream(file)
  let text = 'phone_number,first_name,last_name,city\n'
  for (let i = 0; i < rows; i++) {
    const number = `+1${201 + ((i * 7919) % 700)}${String(2_000_000 + ((i * 104_729) % 7_999_999)).padStart(7, '0')}`
    const city = quoted ? `"Springfield, ${i % 331}"` : `Springfield ${i % 331}`
    text += `${number},Name${i % 977},Last${i % 1013},${city}\n`
    if (text.length > MIB) {
      if (!out.write(text)) await once(out, 'drain')
      text = ''
    }
  }
  out.end(text)
  await once(out, 'finish')
}

async function compareLoads(
  store: Store,
  source: { databaseUrl: string; workspaceId: string; file: string; rows: number; quoted: boolean },
): Promise<void> {
  const { databaseUrl, workspaceId, file, rows, quoted } = source
  const ours: number[] = []
  const peer: number[] = []
  const grown: number[] = []
  for (let i = 0; i < RUNS; i++) {
    await store.pool.query('truncate plain')
    const psqlMs = await timed(() =>
      promisify(execFile)('psql', [databaseUrl, '-qc', `\\copy plain from '${file}' csv header`]),
    )
    peer.push(psqlMs)
    await store.pool.query('delete from batches')
    await store.pool.query('vacuum batch_rows')
    const memory = watchMemory()
    ours.push(
      await timed(async () => {
        const params = { batchId: uuidv7(), workspaceId }
        const signal = AbortSignal.timeout(600_000)
        const copy = await openBulkCopy<BatchLoadParams, BatchDetails, BatchLoadResult>({
          databaseUrl,
          workspaceId: params.workspaceId,
          loader: LOADER,
          signal,
        })
        try {
          await copy.feed(createReadStream(file))
          await copy.commit(params, details)
        } finally {
          await copy.discard()
        }
      }),
    )
    grown.push(memory())
  }
  const name = quoted ? 'CSV load, quoted cells (rows/s)' : 'CSV load (rows/s)'
  report(name, (rows / median(ours)) * 1000, (rows / median(peer)) * 1000, '>= 0.5', RUNS)
  report(`${name.replace('(rows/s)', 'memory growth, first')} (MiB)`, grown[0]!, null, '<= 64', 1)
  report(`${name.replace('(rows/s)', 'memory growth, worst')} (MiB)`, Math.max(...grown), null, '<= 64', RUNS)
}

async function measureExport(store: Store, workspaceId: string, rows: number): Promise<void> {
  await store.pool.query('alter table calls disable trigger user')
  await store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, from_number, to_number,
       created_at, duration_ms, turn_latencies_ms)
     select gen_random_uuid(), $1, $2, 'Ada', 'phone', 'outbound', 'completed', '+14155550100', '+14155550199',
       now() - i * interval '1 second', 42000, '{300,400}' from generate_series(1, $3) i`,
    [workspaceId, details.agentId, rows],
  )
  await store.pool.query('analyze calls')
  let memory: (() => number) | undefined
  let bytes = 0
  let written = 0
  const ms = await timed(async () => {
    const tenant = store.tenant(workspaceId)
    for await (const text of csvOf(tenant, {}, 'http://localhost', AbortSignal.timeout(600_000))) {
      bytes += text.length
      written++
      // By then the heap has the size that a stream of garbage gives it.
      if (written * ROWS_A_PIECE > rows / 10) memory ??= watchMemory()
    }
  })
  report('CSV export (rows/s)', (rows / ms) * 1000, null, '-', 1)
  report('CSV export memory growth after the first tenth (MiB)', memory?.() ?? 0, null, 'flat', 1)
  report('CSV export size (MiB)', bytes / MIB, null, '-', 1)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** The returned function says by how many MiB the process has grown at most. */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss()
  let peak = before
  const stop = new AbortController()
  void (async () => {
    while (!stop.signal.aborted) {
      peak = Math.max(peak, process.memoryUsage.rss())
      await sleep(20)
    }
  })()
  return () => {
    stop.abort()
    return (peak - before) / MIB
  }
}

function report(name: string, ours: number, peer: number | null, target: string, runs: number): void {
  const ratio = peer === null ? null : Math.round((ours / peer) * 100) / 100
  const rounded = { ours: Math.round(ours), peer: peer === null ? null : Math.round(peer) }
  process.stdout.write(`${JSON.stringify({ name, ...rounded, ratio, target, runs })}\n`)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}
