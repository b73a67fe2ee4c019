/**
 * What counts and sums of calls cost whoever writes calls: calls that are made and changed as a call's life changes them, all of
 * one agent and hour, in turns without any trigger, with those of counts and sums, and with all, those that tell of events and
 * ask for analyses among them. `npm run bench -- call-writes`.
 */
import { randomUUID } from 'node:crypto'
import type { Store } from '../store/database/database.ts'
import { onOwnDatabase } from './support/own-database.ts'

const RUNS = 5
const CALLS = 2_000
const CLIENTS = 8
const LIMIT = 1.3
/** Of the hours' sums, and of the campaigns' counts. */
const SUMS = ['calls_inserted', 'calls_updated', 'calls_deleted', 'calls_of_campaign_%']
const CHANGES = [
  `status = 'ringing', placed_at = now()`,
  `status = 'in_progress', answered_at = now()`,
  `llm_input_tokens = llm_input_tokens + 100, tts_characters = tts_characters + 50`,
  `status = 'completed', ended_at = now(), duration_ms = 1000, disposition = 'completed', cost_llm = 0.01, cost_tts = 0.01`,
]

export async function run(): Promise<void> {
  await onOwnDatabase({ maxConnections: CLIENTS }, async ({ store }) => {
    const workspaceId = randomUUID()
    await store.global
      .insertInto('workspaces')
      .values({ id: workspaceId, name: 'bench', type: 'team', slug: workspaceId, deleted_at: null })
      .execute()
    await writesPerSecond(store, workspaceId)
    const { rows } = await store.pool.query<{ name: string }>(
      `select tgname as name from pg_trigger where tgrelid = 'calls'::regclass and tgname like any($1)`,
      [SUMS],
    )
    if (rows.length < SUMS.length) throw new Error(`Of ${SUMS.join(', ')} there are ${rows.length} triggers`)
    const kinds = {
      none: ['disable trigger user'],
      sums: ['disable trigger user', ...rows.map(({ name }) => `enable trigger ${name}`)],
      all: ['enable trigger user'],
    }
    const rates: Record<keyof typeof kinds, number[]> = { none: [], sums: [], all: [] }
    for (let turn = 0; turn < RUNS; turn++) {
      for (const [kind, actions] of Object.entries(kinds)) {
        await store.pool.query(`alter table calls ${actions.join(', ')}`)
        rates[kind as keyof typeof kinds].push(await writesPerSecond(store, workspaceId))
      }
    }
    const none = median(rates.none)
    const [sums, all] = [median(rates.sums), median(rates.all)]
    console.log(
      `writes a second: ${none.toFixed(0)} without any, ${sums.toFixed(0)} with counts and sums: cost ${(none / sums).toFixed(2)} of at most ${LIMIT}`,
    )
    console.log(`with events and analyses too: ${all.toFixed(0)}, cost ${(none / all).toFixed(2)}`)
  })
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
