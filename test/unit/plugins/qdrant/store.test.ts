import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { termsOf } from '../../../../runtime/knowledge/terms.ts'
import type { VectorBlobStore } from '../../../../runtime/plugin/contract.ts'
import { runVectorStoreConformance } from '../../../conformance/vectorstore.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startQdrantDouble } from '../../../support/providers/doubles/stores/qdrant.ts'

const signal = new AbortController().signal
const double = await startQdrantDouble()
t.teardown(double.stop)
const shelf = new Proxy({} as VectorBlobStore, {
  get(_, name) {
    throw new Error(`Qdrant keeps its vectors itself; it reached for ${String(name)}`)
  },
})
const EMBEDDING = { model: 'test/three', dimensions: 3 }
const open = async (env: Record<string, string> = {}, embedding: typeof EMBEDDING | 'none' = EMBEDDING) =>
  (await registryWith(t, { ...double.env, ...env })).create('vectorstore', 'qdrant', {
    shelf,
    embedding: embedding === 'none' ? undefined : embedding,
  })
const makeScope = async () => ({ workspaceId: uuidv7(), agentId: uuidv7() })
const suite = { makeScope, makeDocument: async () => uuidv7(), ready: async () => {} }
const dense = Float32Array.of(1, 0, 0)

t.test('QDRANT_URL chooses the plugin, its absence the embedded vectors', async (t) => {
  t.equal((await registryWith(t, double.env)).chosen('vectorstore'), 'qdrant')
  t.equal((await registryWith(t, {})).chosen('vectorstore'), 'embedded-vectors')
})

t.test('the vectorstore of plugin "qdrant" conforms', async (t) =>
  runVectorStoreConformance(t, { ...suite, store: await open() }),
)

const real = process.env.QDRANT_URL
t.test('it conforms with a real Qdrant', { skip: real ? false : 'QDRANT_URL is not set' }, async (t) => {
  const { QDRANT_URL = '', QDRANT_API_KEY = '' } = process.env
  const store = await open({ QDRANT_URL, QDRANT_API_KEY, QDRANT_COLLECTION: `patchbay-test-${uuidv7()}` })
  await runVectorStoreConformance(t, { ...suite, store })
})

t.test('every request is bound to its workspace and agent, in each of its legs', async (t) => {
  const store = await open()
  const scope = await makeScope()
  const documentId = uuidv7()
  double.requests.length = 0
  await store.upsert(scope, documentId, [{ chunk: 0, terms: termsOf('apple'), dense }], signal)
  await store.search(scope, { terms: termsOf('apple'), dense, limit: 5 }, signal)
  await store.search(scope, { terms: termsOf('apple'), limit: 5 }, signal)
  await store.remove(scope, documentId, signal)
  await store.removeAll(scope, signal)
  const bound = JSON.stringify([
    { key: 'workspace_id', match: { value: scope.workspaceId } },
    { key: 'agent_id', match: { value: scope.agentId } },
  ]).slice(1, -1)
  const bodies = double.requests
    .filter(({ route }) => /query|delete/.test(route))
    .map(({ body }) => JSON.stringify(body))
  t.equal(bodies.length, 4)
  // The hybrid one: itself, both legs and the corpus of the words' rarity.
  t.same(
    bodies.map((body) => body.split(bound).length - 1),
    [4, 2, 1, 1],
  )
  t.ok(bodies.every((body) => body.split('"must"').length === body.split(bound).length, 'no filter lacks it'))
})

t.test('the collection is made once, whoever comes first, and indexed by tenant', async (t) => {
  const env = { QDRANT_COLLECTION: 'race' }
  const scope = await makeScope()
  double.requests.length = 0
  const stores = await Promise.all([open(env), open(env), open(env)])
  await Promise.all(stores.map((store) => store.search(scope, { terms: termsOf('a word'), limit: 1 }, signal)))
  await Promise.all(stores.map((store) => store.search(scope, { terms: termsOf('a word'), limit: 1 }, signal)))
  t.same([...double.collections.get('race')!.indexes].sort(), ['agent_id', 'document_id', 'workspace_id'])
  t.equal(double.requests.filter(({ route }) => route === 'GET /collections/race/exists').length, 3)
})

t.test('an agent’s points, or a workspace’s, are removed together', async (t) => {
  const store = await open({ QDRANT_COLLECTION: 'removal' })
  const [scope, foreign] = [await makeScope(), await makeScope()]
  const sibling = { ...scope, agentId: uuidv7() }
  for (const owner of [scope, sibling, foreign]) {
    await store.upsert(owner, uuidv7(), [{ chunk: 0, terms: termsOf('apple') }], signal)
  }
  const { points } = double.collections.get('removal')!
  await store.removeAll(scope, signal)
  t.equal(points.size, 2)
  await store.removeAll({ workspaceId: scope.workspaceId }, signal)
  t.same(
    [...points.values()].map(({ payload }) => payload.workspace_id),
    [foreign.workspaceId],
  )
})

t.test('without an embedding provider the words alone are kept and searched', async (t) => {
  const store = await open({ QDRANT_COLLECTION: 'words' }, 'none')
  const scope = await makeScope()
  await store.upsert(scope, uuidv7(), [{ chunk: 3, terms: termsOf('apple'), dense }], signal)
  t.match(await store.search(scope, { terms: termsOf('apples'), dense, limit: 5 }, signal), [{ chunk: 3 }])
  const [point] = double.collections.get('words')!.points.values()
  t.notOk(point?.vector.dense)
  // Later the operator sets a key: the old collection has no room for its vectors, and says so.
  const later = await open({ QDRANT_COLLECTION: 'words' })
  await t.rejects(
    later.search(scope, { terms: termsOf('apple'), limit: 1 }, signal),
    /"words" has no dense vectors, but "test\/three" makes 3; set QDRANT_COLLECTION to a new name/,
  )
})

t.test('vectors of another model are not compared, their chunks are still found by their words', async (t) => {
  const before = await open({ QDRANT_COLLECTION: 'models' })
  const scope = await makeScope()
  await before.upsert(scope, uuidv7(), [{ chunk: 0, terms: termsOf('apple'), dense }], signal)
  const after = await open({ QDRANT_COLLECTION: 'models' }, { model: 'test/other', dimensions: 3 })
  t.same(await after.search(scope, { terms: termsOf('pear'), dense, limit: 5 }, signal), [])
  t.equal((await after.search(scope, { terms: termsOf('apple'), dense, limit: 5 }, signal)).length, 1)
})

t.test('its faults are told in its words, judged, and mended by trying again', async (t) => {
  t.teardown(() => double.faults.clear())
  const scope = await makeScope()
  const query = { terms: termsOf('apple'), limit: 1 }
  const store = await open({ QDRANT_COLLECTION: 'faults' })
  double.faults.set({ kind: 'refuse', status: 503, message: 'Overloaded' }, 1)
  await t.rejects(store.search(scope, query, signal), { name: 'ProviderError', failure: { retryable: true } })
  t.same(await store.search(scope, query, signal), [], 'the collection is made by the next request')
  for (const [fault, message] of [
    [{ kind: 'refuse', status: 500, message: 'Disk' }, /Qdrant has a fault of its own \(500\)/],
    [{ kind: 'refuse', status: 400, message: 'Wrong input: x' }, /Qdrant refused the request \(400\): Wrong input: x/],
    [{ kind: 'disconnect', after: 0 }, /Qdrant could not be reached or broke off/],
  ] as const) {
    double.faults.set(fault)
    await t.rejects(store.search(scope, query, signal), { name: 'ProviderError', message })
  }
  double.faults.set({ kind: 'hang' })
  const reason = new Error('the caller hung up')
  const abort = new AbortController()
  setTimeout(() => abort.abort(reason), 50)
  await t.rejects(store.search(scope, query, abort.signal), reason)
  double.faults.clear()
  const stranger = await open({ QDRANT_API_KEY: 'wrong' })
  await t.rejects(stranger.search(scope, query, signal), /Qdrant refused the key \(401\); check QDRANT_API_KEY/)
  await t.rejects(open({ QDRANT_URL: 'qdrant:6333' }), /is not an http or https address/)
  t.type(await (await registryWith(t, double.env)).check('qdrant'), 'number')
})
