import { parentPort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { loadPlaces } from '../../runtime/dialing/zones.ts'
import { noteThreadId } from '../../runtime/process/offload/thread-id.ts'
import { lower } from '../../runtime/process/priority.ts'
import { postgresClient } from '../../store/connections/postgres-client.ts'
import { loadBatch } from './load-batch.ts'

/** The thread of workers/dialer/load-upload.ts: one connection, some batches of one upload. */

export interface LoadThread {
  databaseUrl: string
  uploadId: string
  /** By the names of locales: of numbers without a country code. */
  countries: ReadonlyMap<string, string>
  maxBatches: number
}

export type FromLoadThread =
  | { type: 'batch' }
  | { type: 'end'; state: 'more' | 'done' | 'gone' }
  | { type: 'failed'; message: string; stack: string | undefined }

const CONNECT_TIMEOUT_MS = 10_000
const STATEMENT_TIMEOUT_MS = 60_000
lower(noteThreadId())
const { databaseUrl, uploadId, countries, maxBatches } = workerData as LoadThread

function tell(message: FromLoadThread): void {
  parentPort!.postMessage(message)
}

async function run(client: pg.Client): Promise<'more' | 'done' | 'gone'> {
  const [places] = await Promise.all([loadPlaces(), client.connect()])
  await client.query(`set statement_timeout = ${STATEMENT_TIMEOUT_MS}`)
  const known = { countries, places, groups: new Map<string, number>() }
  for (let batch = 0; batch < maxBatches; batch++) {
    const state = await loadBatch(client, uploadId, known, new Date())
    if (state !== 'more') return state
    tell({ type: 'batch' })
  }
  return 'more'
}

const client = postgresClient(databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS })
const broken = new Promise<never>((_, reject) => client.on('error', reject))
broken.catch(() => {})
try {
  tell({ type: 'end', state: await Promise.race([run(client), broken]) })
} catch (error) {
  const { message, stack } = error as Error
  tell({ type: 'failed', message, stack })
} finally {
  await client.end().catch(() => {})
}
