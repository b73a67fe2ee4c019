import type pg from 'pg'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { openWorkPort } from '../../runtime/process/offload/work-port.ts'
import { postgresClient } from '../connections/postgres-client.ts'
import type { BulkCopyWork, FromLoader, Loader, ToLoader } from './bulk-copy-messages.ts'

/** A process of store/uploads/bulk-copy.ts, one upload at a time: one transaction and one loader for each, over a connection that waits for the next. */

/** This process yields to audio: on a busy machine even small work takes a while. */
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
const { messages, tell: say } = openWorkPort()
const tell = (message: FromLoader): void => say(message)

for (let message = await next(); message !== undefined; message = await next()) {
  // Discard data sent to an upload that has failed.
  if (message instanceof Uint8Array) continue
  if (message.type === 'begin') await perform(message)
  // A load failure is reported by the upload that needs the module.
  else if (message.type === 'prepare') for (const loader of message.loaders) import(loader).catch(() => {})
}
process.exit()

/** Undefined: the parent process is gone. */
async function next(): Promise<ToLoader | Uint8Array | undefined> {
  const { value, done } = await messages.next()
  return done ? undefined : (value as ToLoader | Uint8Array)
}

/** Yields one piece after the other up to the file's end. */
async function* source(): AsyncGenerator<Uint8Array> {
  for (let message = await next(); message instanceof Uint8Array; message = await next()) yield message
}

async function run(client: pg.Client, { loader, params }: BulkCopyWork): Promise<unknown> {
  const module = (await import(loader)) as { load: Loader }
  const finish = await module.load(client, params, source())
  tell({ type: 'loaded' })
  const message = await next()
  if (message instanceof Uint8Array || message?.type !== 'commit') throw new Error('Expected a commit')
  const result = await finish(message.details)
  await client.query('commit')
  return result
}

/** Its result is sent last: the next upload inherits only the connection. */
async function perform(work: BulkCopyWork): Promise<void> {
  let connection: Connection | undefined
  let outcome: FromLoader
  try {
    connection = await begun(work.databaseUrl)
    outcome = { type: 'done', result: await Promise.race([run(connection.client, work), connection.broken]) }
  } catch (error) {
    const { message, stack } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
    const code = error instanceof PatchbayError ? error.code : 'internal'
    const broken = connection !== undefined && !(await rolledBack(connection))
    if (broken) connection = undefined
    outcome = { type: 'failed', code, message, stack, broken }
  }
  if (connection !== undefined) keep(connection)
  tell(outcome)
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
