import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { PatchbayError } from '../runtime/errors.ts'
import { beginAsEverybody } from '../runtime/low-priority.ts'
import {
  type BulkCopyThread,
  type BulkCopyWork,
  type FromThread,
  type Loader,
  SLOT_BYTES,
  type ToThread,
} from './bulk-copy-messages.ts'

/** A thread of store/bulk-copy.ts, one upload at a time: one transaction and one loader for each, over a connection that waits for the next. */

/** This thread comes to give way to audio: on a machine that is busy it needs a while for little. */
const CONNECT_TIMEOUT_MS = 30_000
const ROLLBACK_TIMEOUT_MS = 30_000
/** A connection that no upload needed for so long is ended: whoever stands between might have forgotten it. */
const KEEP_MS = 10_000
beginAsEverybody()
const port = parentPort!
let inbox = openInbox()
port.on('message', (message: ToThread) => {
  if (message.type !== 'begin') return inbox.put(message)
  // What was sent to an upload that failed meanwhile is nobody's.
  inbox = openInbox()
  void perform(message, inbox)
})

// What can't be loaded is told by the upload that needs it.
for (const loader of (workerData as BulkCopyThread).loaders) import(loader).catch(() => {})

type Message = Exclude<ToThread, BulkCopyWork>

interface Inbox {
  put(message: Message): void
  next(): Promise<Message>
}

function openInbox(): Inbox {
  const messages: Message[] = []
  let wake = () => {}
  return {
    put(message) {
      messages.push(message)
      wake()
    },
    async next() {
      for (;;) {
        const message = messages.shift()
        if (message !== undefined) return message
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** Yields one piece after the other in the same memory: it is overwritten once the next is asked for. */
async function* source(slots: SharedArrayBuffer, { next }: Inbox): AsyncGenerator<Uint8Array> {
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

async function run(client: pg.Client, { slots, loader, params }: BulkCopyWork, inbox: Inbox): Promise<unknown> {
  const module = (await import(loader)) as { load: Loader }
  const finish = await module.load(client, params, source(slots, inbox))
  tell({ type: 'loaded' })
  const message = await inbox.next()
  if (message.type !== 'commit') throw new Error(`Expected a commit, got "${message.type}"`)
  const result = await finish(message.details)
  await client.query('commit')
  return result
}

/** What it told is told last: the next upload finds nothing of this one but its connection. */
async function perform(work: BulkCopyWork, inbox: Inbox): Promise<void> {
  let connection: Connection | undefined
  let outcome: FromThread
  try {
    connection = await begun(work.databaseUrl)
    outcome = { type: 'done', result: await Promise.race([run(connection.client, work, inbox), connection.broken]) }
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

interface Connection {
  databaseUrl: string
  client: pg.Client
  /** Rejects when it breaks. */
  broken: Promise<never>
}

/** Of the last upload, for the next one. */
let kept: { connection: Connection; timer: NodeJS.Timeout } | undefined

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
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
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

/** False: nobody can say, and the connection is ended. */
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
