import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { EmbeddedVectors } from '../../../../plugins/embedded-vectors/embedded-vectors.ts'
import { termsOf } from '../../../../runtime/knowledge/terms.ts'
import type { EmbeddingIdentity, VectorBlobStore, VectorScope } from '../../../../runtime/plugin/contract.ts'
import { openStore } from '../../../../store/database/database.ts'
import { vectorShelf } from '../../../../store/knowledge/vector-blob-store.ts'
import { runVectorStoreConformance } from '../../../conformance/vectorstore.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const shelf = vectorShelf(store)
const signal = new AbortController().signal

/** A vector store that is closed with the tests. */
function open(cacheBytes: number, embedding?: EmbeddingIdentity, from = shelf): EmbeddedVectors {
  const vectors = new EmbeddedVectors(from, cacheBytes, embedding)
  t.teardown(() => vectors.close())
  return vectors
}

async function makeScope(): Promise<VectorScope> {
  const scope = { workspaceId: uuidv7(), agentId: uuidv7() }
  await store.pool.query(`insert into workspaces (id, name, type, slug) values ($1::uuid, 'W', 'x', $1::uuid::text)`, [
    scope.workspaceId,
  ])
  await store.pool.query(
    `insert into agents (id, workspace_id, agent_name, llm_provider, llm_model, temperature, system_prompt,
      first_message, stt_provider, stt_model, tts_provider, tts_voice) values ($1, $2, 'A', '', '', 0, '', '', '', '', '', '')`,
    [scope.agentId, scope.workspaceId],
  )
  return scope
}

async function makeDocument({ workspaceId, agentId }: VectorScope): Promise<string> {
  const id = uuidv7()
  await store.pool.query(
    `insert into documents (id, workspace_id, agent_id, filename, format, size_bytes, status)
      values ($1, $2, $3, 'a.txt', 'txt', 1, 'processing')`,
    [id, workspaceId, agentId],
  )
  return id
}

async function ready({ agentId }: VectorScope, documentId: string): Promise<void> {
  await store.pool.query(`update documents set status = 'ready' where id = $1`, [documentId])
  await store.pool.query('update agents set knowledge_version = knowledge_version + 1 where id = $1', [agentId])
}

t.test('the vectorstore of plugin "embedded-vectors" conforms', (t) =>
  runVectorStoreConformance(t, {
    store: open(1 << 24, { model: 'test/three', dimensions: 3 }),
    makeScope,
    makeDocument,
    ready,
  }),
)

t.test('vectors of another model are not compared, their chunks are still found by their words', async (t) => {
  const scope = await makeScope()
  const id = await makeDocument(scope)
  const dense = Float32Array.of(1, 0, 0)
  const before = open(1 << 24, { model: 'test/three', dimensions: 3 })
  await before.upsert(scope, id, [{ chunk: 0, terms: termsOf('apple'), dense }], signal)
  await ready(scope, id)
  t.equal((await before.search(scope, { terms: termsOf('pear'), dense, limit: 5 }, signal)).length, 1)
  for (const embedding of [undefined, { model: 'test/other', dimensions: 3 }, { model: 'test/three', dimensions: 4 }]) {
    const after = open(1 << 24, embedding)
    t.same(await after.search(scope, { terms: termsOf('pear'), dense, limit: 5 }, signal), [])
    t.equal((await after.search(scope, { terms: termsOf('apple'), dense, limit: 5 }, signal)).length, 1)
  }
})

t.test('an index is read once, and after a change only what is new', async (t) => {
  const read: number[] = []
  const counting: VectorBlobStore = {
    ...shelf,
    read(scope, ids, signal) {
      read.push(ids.length)
      return shelf.read(scope, ids, signal)
    },
  }
  const vectors = open(1 << 24, undefined, counting)
  const scope = await makeScope()
  const put = async (text: string) => {
    const id = await makeDocument(scope)
    await vectors.upsert(scope, id, [{ chunk: 0, terms: termsOf(text) }], signal)
    await ready(scope, id)
  }
  const search = () => vectors.search(scope, { terms: termsOf('apple'), limit: 5 }, signal)
  await put('red apple')
  await put('green apple')
  t.same(
    (await Promise.all([search(), search(), search()])).map((hits) => hits.length),
    [2, 2, 2],
  )
  t.same(read, [2], 'searches at once share one reading')
  await put('blue apple')
  t.equal((await search()).length, 3)
  t.equal((await search()).length, 3)
  t.same(read, [2, 3], 'short documents are searched as one, so its neighbours are read with it')
})

t.test('a thousand short documents are found each as itself, before and after some are deleted', async (t) => {
  const vectors = open(1 << 24)
  const scope = await makeScope()
  const ids: string[] = []
  for (let i = 0; i < 1000; i++) {
    const id = await makeDocument(scope)
    await vectors.upsert(scope, id, [{ chunk: 0, terms: termsOf(`apple number${i}`) }], signal)
    ids.push(id)
  }
  await store.pool.query(`update documents set status = 'ready' where agent_id = $1`, [scope.agentId])
  await ready(scope, ids[0]!)
  const find = async (i: number) =>
    (await vectors.search(scope, { terms: termsOf(`number${i}`), limit: 5 }, signal)).map((hit) => hit.documentId)
  for (const i of [0, 1, 255, 256, 511, 512, 999]) t.same(await find(i), [ids[i]])
  for (const i of [1, 256, 600]) await store.pool.query('delete from documents where id = $1', [ids[i]])
  await ready(scope, ids[0]!)
  for (const i of [1, 256, 600]) t.same(await find(i), [])
  for (const i of [0, 2, 255, 257, 511, 599, 601, 999]) t.same(await find(i), [ids[i]])
})

t.test('indexes beyond the memory they may take are forgotten, the oldest first', async (t) => {
  let reads = 0
  const counting: VectorBlobStore = {
    ...shelf,
    read(scope, ids, signal) {
      reads++
      return shelf.read(scope, ids, signal)
    },
  }
  // Room for two of the three small indexes.
  const vectors = open(3000, undefined, counting)
  const scopes = [await makeScope(), await makeScope(), await makeScope()]
  for (const scope of scopes) {
    const id = await makeDocument(scope)
    await vectors.upsert(scope, id, [{ chunk: 0, terms: termsOf('red apple') }], signal)
    await ready(scope, id)
  }
  const search = (i: number) => vectors.search(scopes[i]!, { terms: termsOf('apple'), limit: 5 }, signal)
  for (const i of [0, 1, 0, 1]) t.equal((await search(i)).length, 1)
  t.equal(reads, 2)
  await search(2)
  await search(1)
  t.equal(reads, 3, 'the second is still there')
  await search(0)
  t.equal(reads, 4, 'the first is read anew')
})
