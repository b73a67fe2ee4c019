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

/** A thread of store/bulk-copy.ts, one upload at a time: one connection, one transaction, one loader for each. */

/** This thread comes to give way to audio: on a machine that is busy it needs a while for little. */
const CONNECT_TIMEOUT_MS = 30_000
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
  const connected = client.connect().catch((cause) => {
    throw new PatchbayError('unavailable', { cause })
  })
  const [module] = await Promise.all([import(loader) as Promise<{ load: Loader }>, connected])
  await client.query('begin')
  const finish = await module.load(client, params, source(slots, inbox))
  tell({ type: 'loaded' })
  const message = await inbox.next()
  if (message.type !== 'commit') throw new Error(`Expected a commit, got "${message.type}"`)
  const result = await finish(message.details)
  await client.query('commit')
  return result
}

/** What it told is told last: the next upload finds nothing of this one. */
async function perform(work: BulkCopyWork, inbox: Inbox): Promise<void> {
  const { databaseUrl } = work
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  let isBroken = false
  const broken = new Promise<never>((_, reject) =>
    client.on('error', (error) => {
      isBroken = true
      reject(error)
    }),
  )
  broken.catch(() => {})
  let outcome: FromThread
  try {
    outcome = { type: 'done', result: await Promise.race([run(client, work, inbox), broken]) }
  } catch (error) {
    const { message, stack } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
    const code = error instanceof PatchbayError ? error.code : 'internal'
    outcome = { type: 'failed', code, message, stack, broken: isBroken }
  }
  tell(outcome)
  await client.end().catch(() => {})
}
