import type pg from 'pg'
import { shippedPlaces } from '../../runtime/dialing/zones.ts'
import { serve, type TaskContext } from '../../runtime/process/offload/task.ts'
import { limitStatements, postgresClient } from '../../store/connections/postgres-client.ts'
import { databaseTime } from '../../store/database/database-clock.ts'
import { loadBatch } from '../../store/prospects/load-batch.ts'

/** Entry of the threads of load-upload.ts: some batches of one upload over one connection. */

export interface LoadThreadWork {
  databaseUrl: string
  uploadId: string
  /** By the names of locales: of numbers without a country code. */
  countries: ReadonlyMap<string, string>
  maxBatches: number
}

export type LoadState = 'more' | 'done' | 'gone'

const CONNECT_TIMEOUT_MS = 10_000
const STATEMENT_TIMEOUT_MS = 60_000

serve(async (work: LoadThreadWork, { ask }: TaskContext): Promise<LoadState> => {
  const client = postgresClient(work.databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS })
  const broken = new Promise<never>((_, reject) => client.on('error', reject))
  broken.catch(() => {})
  try {
    return await Promise.race([run(client, work, ask), broken])
  } finally {
    await client.end().catch(() => {})
  }
})

async function run(client: pg.Client, work: LoadThreadWork, ask: TaskContext['ask']): Promise<LoadState> {
  await client.connect()
  const places = shippedPlaces()
  await limitStatements(client, STATEMENT_TIMEOUT_MS)
  const known = { countries: work.countries, places, groups: new Map<string, number>() }
  for (let batch = 0; batch < work.maxBatches; batch++) {
    const state = await loadBatch(client, work.uploadId, known, await databaseTime(client))
    if (state !== 'more') return state
    // It begins the time of the next batch.
    await ask('loaded')
  }
  return 'more'
}
