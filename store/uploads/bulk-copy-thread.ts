import type pg from 'pg'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { serve, type TaskContext } from '../../runtime/process/offload/task.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import type { BulkCopyQuestion, BulkCopyWork, Loader } from './bulk-copy.ts'

/** Entry of the threads of bulk-copy.ts, one upload at a time: one transaction and one loader for each, over a connection that waits for the next. */

/** This thread yields to audio: on a busy machine even small work takes a while. */
const CONNECT_TIMEOUT_MS = 30_000
const ROLLBACK_TIMEOUT_MS = 30_000
/** A connection idle for this long is closed: a NAT or proxy may have dropped it. */
const KEEP_MS = 10_000

interface Connection {
  databaseUrl: string
  client: pg.Client
  /** Rejects when it breaks. */
  broken: Promise<never>
}

/** Of the last upload, for the next one. */
let kept: { connection: Connection; timer: NodeJS.Timeout } | undefined

serve(async (work: BulkCopyWork, context: TaskContext): Promise<unknown> => {
  const connection = await begun(work.databaseUrl)
  try {
    const result = await Promise.race([run(connection.client, work, context), connection.broken])
    keep(connection)
    return result
  } catch (error) {
    // The work may go on without its connection.
    if (await rolledBack(connection)) keep(connection)
    else context.spoil()
    throw error
  }
})

async function run(client: pg.Client, { loader, params }: BulkCopyWork, context: TaskContext): Promise<unknown> {
  const ask = <A>(question: BulkCopyQuestion) => context.ask<A>(question)
  async function* source(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = await ask<Uint8Array | undefined>('piece')
      if (piece === undefined) return
      yield piece
    }
  }
  const module = (await import(loader)) as { load: Loader }
  const finish = await module.load(client, params, source())
  const result = await finish(await ask('details'))
  await client.query('commit')
  return result
}

/** A connection within a transaction. Throws `unavailable`. */
async function begun(databaseUrl: string): Promise<Connection> {
  const last = takeKept()
  if (last?.databaseUrl === databaseUrl) {
    try {
      await last.client.query('begin')
      return last
    } catch {
      // It broke as it waited.
    }
  }
  end(last)
  const client = postgresClient(databaseUrl, { connectTimeoutMs: CONNECT_TIMEOUT_MS })
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => {})
  const connection = { databaseUrl, client, broken }
  client.on('error', (error) => {
    reject(error)
    if (kept?.connection === connection) end(takeKept())
  })
  try {
    await client.connect()
    await client.query('begin')
  } catch (cause) {
    end(connection)
    throw new PatchbayError('unavailable', { cause })
  }
  return connection
}

/** False: the state is unknown, and the connection is closed. */
async function rolledBack(connection: Connection): Promise<boolean> {
  const rollback = { text: 'rollback', query_timeout: ROLLBACK_TIMEOUT_MS }
  try {
    await connection.client.query(rollback)
    return true
  } catch {
    end(connection)
    return false
  }
}

function keep(connection: Connection): void {
  kept = { connection, timer: setTimeout(() => end(takeKept()), KEEP_MS) }
}

function takeKept(): Connection | undefined {
  const last = kept
  kept = undefined
  clearTimeout(last?.timer)
  return last?.connection
}

function end(connection: Connection | undefined): void {
  connection?.client.end().catch(() => {})
}
