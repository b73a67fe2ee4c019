import t from 'tap'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { explainFailure } from '../../../../runtime/plugin-sdk/provider-error.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
const registry = await registryWith(t, env)
const { signal } = new AbortController()

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

t.test('texts become vectors of the model’s length, in their order, however many', async (t) => {
  const provider = await registry.create('embedding', 'openai')
  t.equal(provider.dimensions, 1536)
  const texts = Array.from({ length: 300 }, (_, i) => `text number ${i} about ${i % 2 ? 'boats' : 'trains'}`)
  const before = doubles.openai.requests.length
  const vectors = await provider.embed(texts, signal)
  t.equal(vectors.length, 300)
  t.ok(vectors.every(({ length }) => length === 1536))
  t.equal(doubles.openai.requests.length - before, 3, 'in batches')
  const [again] = await provider.embed([texts[299] ?? ''], signal)
  t.ok(again && dot(again, vectors[299] ?? again) > 0.999)
  t.same(await provider.embed([], signal), [])
  t.equal((await provider.embed([''], signal)).length, 1, 'an empty text is no fault')
})

t.test('shorter vectors are asked for where the model can give them', async (t) => {
  const short = await registryWith(t, env, { openai: { embeddingDimensions: 256 } })
  const provider = await short.create('embedding', 'openai', { model: 'text-embedding-3-large' })
  t.equal(provider.dimensions, 256)
  t.equal((await provider.embed(['hello'], signal))[0]?.length, 256)
})

t.test('a model of unknown length asks for the option that tells it', async (t) => {
  const failure = await registry
    .create('embedding', 'openai', { model: 'nomic-embed' })
    .catch((error: unknown) => error)
  t.ok(failure instanceof PatchbayError)
  t.match(failure, { message: /set embeddingDimensions of "openai" in config\/plugins\.json/ })
})

t.test('failures are judged, and an abort is the caller’s', async (t) => {
  const provider = await registry.create('embedding', 'openai')
  doubles.openai.faults.set({ kind: 'refuse', status: 429, code: 'insufficient_quota' }, 1)
  const refused = await provider.embed(['hello'], signal).catch((error: unknown) => error)
  t.equal(explainFailure({ title: '' }, refused).fault, 'quota')
  doubles.openai.faults.set({ kind: 'hang' }, 1)
  const stopped = new AbortController()
  const waiting = provider.embed(['hello'], stopped.signal).catch((error: unknown) => error)
  stopped.abort(new Error('enough'))
  t.match(await waiting, { message: 'enough' })
  doubles.openai.faults.clear()
})
