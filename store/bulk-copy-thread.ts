import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { PatchbayError } from '../runtime/errors.ts'
import { beginAsEverybody } from '../runtime/low-priority.ts'
import { type BulkCopyThread, type FromThread, type Loader, SLOT_BYTES, type ToThread } from './bulk-copy.ts'

/** The thread of store/bulk-copy.ts: one connection, one transaction, one loader. The parent ends it. */

/** This thread comes to give way to audio: on a machine that is busy it needs a while for little. */
const CONNECT_TIMEOUT_MS = 30_000
const port = parentPort!
beginAsEverybody()
const { slots, databaseUrl, loader, params } = workerData as BulkCopyThread

const messages: ToThread[] = []
let wake = () => {}
port.on('message', (message: ToThread) => {
  messages.push(message)
  wake()
})

async function next(): Promise<ToThread> {
  for (;;) {
    const message = messages.shift()
    if (message !== undefined) return message
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

/** Yields one piece after the other in the same memory: it is overwritten once the next is asked for. */
async function* source(): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(SLOT_BYTES)
  for (let message = await next(); message.type === 'chunk'; message = await next()) {
    const { slot, length } = message
    piece.set(new Uint8Array(slots, slot * SLOT_BYTES, length))
    tell({ type: 'taken', slot })
    yield piece.subarray(0, length)
  }
}

function tell(message: FromThread): void {
  port.postMessage(message)
}

async function run(client: pg.Client): Promise<unknown> {
  const connected = client.connect().catch((cause) => {
    throw new PatchbayError('unavailable', { cause })
  })
  const [module] = await Promise.all([import(loader) as Promise<{ load: Loader }>, connected])
  await client.query('begin')
  const finish = await module.load(client, params, source())
  tell({ type: 'loaded' })
  const message = await next()
  if (message.type !== 'commit') throw new Error(`Expected a commit, got "${message.type}"`)
  const result = await finish(message.details)
  await client.query('commit')
  return result
}

const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
const broken = new Promise<never>((_, reject) => client.on('error', reject))
broken.catch(() => {})
try {
  tell({ type: 'done', result: await Promise.race([run(client), broken]) })
} catch (error) {
  const { message, stack } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
  tell({ type: 'failed', code: error instanceof PatchbayError ? error.code : 'internal', message, stack })
} finally {
  await client.end().catch(() => {})
}
