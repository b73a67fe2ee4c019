import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { EmbeddedVectors } from '../../../../plugins/embedded-vectors/embedded-vectors.ts'
import type { VectorStore } from '../../../../runtime/plugin/contract.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { insertAgent } from '../../../../store/agents/agents.ts'
import { openStore } from '../../../../store/database/database.ts'
import type { Tenant } from '../../../../store/database/tenant.ts'
import {
  addDocuments,
  appendToUpload,
  deleteDocument,
  findDocument,
  openUpload,
  removeStaleUploads,
} from '../../../../store/knowledge/documents.ts'
import { vectorShelf } from '../../../../store/knowledge/vector-blob-store.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { DEFAULT_LIMITS } from '../../../../workers/documents/extract/run.ts'
import { processDocument } from '../../../../workers/documents/process.ts'
import { queueDocument } from '../../../../workers/documents/queue.ts'
import { startDocuments } from '../../../../workers/documents/start.ts'
import { openQueue } from '../../../../workers/queues.ts'
import { testDatabase, testRedis } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const [databaseUrl, redisUrl] = await Promise.all([testDatabase(t), testRedis(t)])
const store = openStore({ databaseUrl, maxConnections: 6 })
t.teardown(() => store.close())
const redis = await createRedis(redisUrl, log)
t.teardown(() => redis.destroy())
const vectors = new EmbeddedVectors(vectorShelf(store), 1 << 24)
t.teardown(() => vectors.close())

const workspaceId = uuidv7()
await store.global.insertInto('workspaces').values({ id: workspaceId, name: 'W', type: 'x', slug: 'w' }).execute()
const tenant = store.tenant(workspaceId)
const AGENT = {
  agent_name: 'Ava',
  system_prompt: 'You are Ava.',
  first_message: '',
  temperature: 0,
  llm_provider: 'offline',
  llm_model: 'extractive',
  stt_provider: 'sim',
  stt_model: 'default',
  tts_provider: 'offline',
  tts_voice: 'en-us',
}
const agent = await insertAgent(tenant, AGENT)
const own = [tenant, agent] as const
const maxPassages = 100_000
const scope = { workspaceId, agentId: agent.id }

/** A document whose upload has ended and whose job is not queued. */
async function makeDocument(
  text = 'The code word is heliotrope.',
  filename = 'a.txt',
  [tenant, agent]: readonly [Tenant, { id: string }] = own,
): Promise<string> {
  const id = uuidv7()
  const bytes = Buffer.from(text)
  await openUpload(tenant, id, agent.id)
  for (let at = 0, seq = 0; at < bytes.length; at += 100_000, seq++) {
    await appendToUpload(tenant, id, seq, bytes.subarray(at, at + 100_000))
  }
  await addDocuments(tenant, agent.id, [
    { id, filename, format: 'txt', size_bytes: bytes.length, status: 'processing', error: null },
  ])
  return id
}

async function rowsOf(documentId: string): Promise<Record<string, number>> {
  const count = async (table: string, column: string) => {
    const { rows } = await store.pool.query(`select count(*)::int as n from ${table} where ${column} = $1`, [
      documentId,
    ])
    return rows[0].n
  }
  return {
    chunks: await count('chunks', 'document_id'),
    segments: await count('vector_segments', 'document_id'),
    uploads: await count('uploads', 'id'),
  }
}

async function settled(documentId: string): Promise<{ status: string; error: string | null; chunk_count: number }> {
  for (;;) {
    const document = await findDocument(store, documentId)
    if (document?.status !== 'processing') return document!
    await sleep(20)
  }
}

const once = (documentId: string, lastAttempt = false) => ({
  documentId,
  lastAttempt,
  signal: new AbortController().signal,
})
const services = (override: Partial<VectorStore> = {}) => ({
  store,
  log,
  limits: DEFAULT_LIMITS,
  maxPassages,
  vectors: {
    upsert: override.upsert ?? vectors.upsert.bind(vectors),
    search: override.search ?? vectors.search.bind(vectors),
    remove: override.remove ?? vectors.remove.bind(vectors),
    removeAll: override.removeAll ?? vectors.removeAll.bind(vectors),
  },
})

t.test('a document deleted while it is processed leaves nothing behind', async (t) => {
  const id = await makeDocument('Some words that are many.\n\n'.repeat(40_000))
  let deleted = false
  const slow = services({
    async upsert(...args) {
      if (!deleted) {
        deleted = true
        t.equal(await deleteDocument(tenant, agent.id, id), true)
      }
      return vectors.upsert(...args)
    },
  })
  await processDocument(slow, once(id))
  t.equal(deleted, true)
  t.equal(await findDocument(store, id), undefined)
  t.same(await rowsOf(id), { chunks: 0, segments: 0, uploads: 0 })
})

t.test('a job that runs twice at once, or again, gives the same document', async (t) => {
  const id = await makeDocument('Some words that are many.\n\n'.repeat(20_000))
  await Promise.all([processDocument(services(), once(id)), processDocument(services(), once(id))])
  const document = await settled(id)
  t.equal(document.status, 'ready')
  t.equal((await rowsOf(id)).chunks, document.chunk_count)
  await processDocument(services(), once(id))
  t.same(await settled(id), document)
  await deleteDocument(tenant, agent.id, id)
})

t.test('what fails beside the file is tried again, and given up after the last time', async (t) => {
  const id = await makeDocument()
  const broken = services({ upsert: () => Promise.reject(new Error('vector store away')) })
  await t.rejects(processDocument(broken, once(id)), { message: 'vector store away' })
  t.equal((await findDocument(store, id))?.status, 'processing')
  await t.rejects(processDocument(broken, once(id, true)), { message: 'vector store away' })
  t.match(await settled(id), {
    status: 'failed',
    error: 'The file could not be processed; delete it and upload it again',
  })
  t.same(await rowsOf(id), { chunks: 0, segments: 0, uploads: 0 })
})

t.test('a document stays invisible until it is ready', async (t) => {
  const id = await makeDocument('The hidden word is amaranth.')
  const { termsOf } = await import('../../../../runtime/knowledge/terms.ts')
  const find = () => vectors.search(scope, { terms: termsOf('amaranth'), limit: 5 }, new AbortController().signal)
  const peeking = services({
    async upsert(...args) {
      await vectors.upsert(...args)
      t.same(await find(), [])
    },
  })
  await processDocument(peeking, once(id))
  t.match(await find(), [{ documentId: id, chunk: 0 }])
})

t.test('documents with which an agent would have too many passages fail, also two that end at once', async (t) => {
  const full = [tenant, await insertAgent(tenant, AGENT)] as const
  const ids = [await makeDocument('One.', 'a.txt', full), await makeDocument('Two.', 'b.txt', full)]
  const together = Promise.withResolvers<void>()
  let kept = 0
  const narrow = {
    ...services({
      async upsert(...args) {
        await vectors.upsert(...args)
        if (++kept === ids.length) together.resolve()
        await together.promise
      },
    }),
    maxPassages: 1,
  }
  await Promise.all(ids.map((id) => processDocument(narrow, once(id))))
  const documents = await Promise.all(ids.map((id) => findDocument(store, id)))
  const failed = documents.find((document) => document?.status === 'failed')!
  t.same(documents.map((document) => document?.status).sort(), ['failed', 'ready'])
  t.equal(failed.error, 'All documents of an agent together have at most 1 passages')
  t.same(await rowsOf(failed.id), { chunks: 0, segments: 0, uploads: 0 })
})

t.test('the worker runs queued jobs, and finds the documents whose job was lost', async (t) => {
  const lost = await makeDocument('Lost.')
  const worker = startDocuments({ store, redis, vectors, log, maxPassages, sweepIntervalMs: 100, lostAfterMs: 0 })
  const queue = openQueue('documents', redis)
  const queued = await makeDocument('Queued.')
  await queueDocument(queue, queued)
  await queueDocument(queue, queued)
  t.equal((await settled(queued)).status, 'ready')
  t.equal((await settled(lost)).status, 'ready')
  const later = await makeDocument('Lost again.')
  t.equal((await settled(later)).status, 'ready')
  await queue.close()
  await worker.stop(1000)
})

t.test('a short file is ready while another workspace’s files take their minute, which end as slow ones', async (t) => {
  const other = uuidv7()
  await store.global.insertInto('workspaces').values({ id: other, name: 'O', type: 'x', slug: 'o' }).execute()
  const otherTenant = store.tenant(other)
  const otherAgent = await insertAgent(otherTenant, AGENT)
  const slowBegunMs: number[] = []
  const embeddings = {
    identity: 'test',
    passages(texts: readonly string[]) {
      if (!texts.some((text) => text.includes('slow'))) return Promise.resolve([])
      slowBegunMs.push(performance.now())
      return new Promise(() => {})
    },
  }
  const limits = { ...DEFAULT_LIMITS, timeoutMs: 15_000 }
  const worker = startDocuments({ store, redis, vectors, log, maxPassages, limits, embeddings: embeddings as never })
  t.teardown(() => worker.stop(0))
  const queue = openQueue('documents', redis)
  t.teardown(() => queue.close())
  const slow = await Promise.all(Array.from({ length: 6 }, (_, i) => makeDocument(`A slow file ${i}.`)))
  const queuedMs = performance.now()
  for (const [i, id] of slow.entries()) await queueDocument(queue, id, i)
  const short = await makeDocument('Eleven byte', 'b.txt', [otherTenant, otherAgent])
  await queueDocument(queue, short, 0)
  const statusOf = async (id: string) => (await findDocument(store, id))?.status
  while ((await statusOf(short)) === 'processing') await sleep(20)
  t.equal(await statusOf(short), 'ready')
  t.ok((await Promise.all(slow.map(statusOf))).includes('processing'), 'the others are not done yet')
  while ((await statusOf(slow[0]!)) === 'processing') await sleep(50)
  t.match(await findDocument(store, slow[0]!), { status: 'failed', error: /longer than 15 seconds/ })
  // A first try begins after it was queued; how long its file is read first is the machine's affair.
  const [, , third = 0] = slowBegunMs
  t.ok(third - queuedMs > 3_900, 'two had a place, the third had to wait for the time of a first try')
})

t.test('stopping ends a running job, which another worker takes up', async (t) => {
  const id = await makeDocument('Some words that are many.\n\n'.repeat(30_000))
  let started = () => {}
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  const hanging: VectorStore = {
    ...services().vectors,
    upsert: (_scope, _id, _points, signal) => {
      started()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
    },
  }
  const first = startDocuments({
    store,
    redis,
    vectors: hanging,
    log,
    maxPassages,
    sweepIntervalMs: 100,
    lostAfterMs: 0,
  })
  await running
  await first.stop(50)
  t.equal((await findDocument(store, id))?.status, 'processing')
  const second = startDocuments({ store, redis, vectors, log, maxPassages, sweepIntervalMs: 100, lostAfterMs: 0 })
  t.equal((await settled(id)).status, 'ready')
  await second.stop(1000)
})

t.test('uploads whose request died are swept, those of documents are not', async (t) => {
  const orphan = uuidv7()
  await openUpload(tenant, orphan, agent.id)
  await appendToUpload(tenant, orphan, 0, Buffer.from('x'))
  const waiting = await makeDocument()
  t.equal(await removeStaleUploads(store, 60_000), 0)
  t.equal(await removeStaleUploads(store, 0), 1)
  t.equal((await rowsOf(orphan)).uploads, 0)
  t.equal((await rowsOf(waiting)).uploads, 1)
})

t.test('a passage that the database refuses is left out; the document is ready with the others', async (t) => {
  await store.pool.query(`alter table chunks add constraint poison check (text not like '%POISON%')`)
  t.teardown(() => store.pool.query('alter table chunks drop constraint poison'))
  const paragraph = (i: number) => `${i === 3 ? 'POISON ' : ''}Paragraph ${i}. ${'Some words of it. '.repeat(100)}`
  const id = await makeDocument(Array.from({ length: 12 }, (_, i) => paragraph(i)).join('\n\n'))
  await processDocument(services(), once(id))
  const { status, chunk_count } = await settled(id)
  t.equal(status, 'ready')
  const { chunks = 0 } = await rowsOf(id)
  t.ok(chunks > 8 && chunks < chunk_count, `${chunks} of ${chunk_count} passages`)
  const gone = await makeDocument('A document that is deleted meanwhile.')
  const deleted = services({
    remove: async () => undefined,
  })
  await deleteDocument(tenant, agent.id, gone)
  await processDocument(deleted, once(gone))
  t.same(await rowsOf(gone), { chunks: 0, segments: 0, uploads: 0 })
})
