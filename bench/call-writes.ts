/**
 * What the sums of calls cost whoever writes calls: calls that are made and changed as a call's life changes them, all of one
 * agent and hour, with the triggers and without any, in turns. `npm run bench -- call-writes`.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../runtime/log.ts'
import { openStore, type Store } from '../store/database.ts'
import { startEmbedded } from '../store/embedded.ts'
import { migrate } from '../store/migrate.ts'

const RUNS = 5
const CALLS = 2_000
const CLIENTS = 8
const LIMIT = 1.3
const CHANGES = [
  `status = 'ringing', placed_at = now()`,
  `status = 'in_progress', answered_at = now()`,
  `llm_input_tokens = llm_input_tokens + 100, tts_characters = tts_characters + 50`,
  `status = 'completed', ended_at = now(), duration_ms = 1000, disposition = 'completed', cost_llm = 0.01, cost_tts = 0.01`,
]

export async function run(): Promise<void> {
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
  const store = openStore({ databaseUrl, maxConnections: CLIENTS })
  try {
    const workspaceId = randomUUID()
    await store.global
      .insertInto('workspaces')
      .values({ id: workspaceId, name: 'bench', type: 'team', slug: workspaceId, deleted_at: null })
      .execute()
    await writesPerSecond(store, workspaceId)
    const rates: Record<'enable' | 'disable', number[]> = { enable: [], disable: [] }
    for (let turn = 0; turn < RUNS; turn++) {
      for (const triggers of ['enable', 'disable'] as const) {
        await store.pool.query(`alter table calls ${triggers} trigger user`)
        rates[triggers].push(await writesPerSecond(store, workspaceId))
      }
    }
    const [kept, none] = [median(rates.enable), median(rates.disable)]
    console.log(
      `writes a second: ${kept.toFixed(0)} with sums, ${none.toFixed(0)} without: cost ${(none / kept).toFixed(2)} of at most ${LIMIT}`,
    )
  } finally {
    await store.close()
    await embedded.stop(10_000)
    await rm(folder, { recursive: true, force: true })
  }
}

async function writesPerSecond({ pool }: Store, workspaceId: string): Promise<number> {
  const startMs = performance.now()
  const agentId = randomUUID()
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let i = 0; i < CALLS / CLIENTS; i++) {
        const id = randomUUID()
        await pool.query(
          `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status)
           values ($1, $2, $3, 'Ada', 'phone', 'outbound', 'queued')`,
          [id, workspaceId, agentId],
        )
        for (const change of CHANGES) await pool.query(`update calls set ${change} where id = $1`, [id])
      }
    }),
  )
  return (CALLS * (CHANGES.length + 1) * 1_000) / (performance.now() - startMs)
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
