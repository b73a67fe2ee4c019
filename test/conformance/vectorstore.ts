import type { Test } from 'tap'
import { termsOf } from '../../runtime/knowledge/terms.ts'
import type { VectorPoint, VectorScope, VectorStore } from '../../runtime/plugin/contract.ts'

export interface VectorStoreSuite {
  /** Made for vectors of three numbers. */
  store: VectorStore
  /** An agent that has nothing yet. */
  makeScope(): Promise<VectorScope>
  /** The id of a new document of the agent. */
  makeDocument(scope: VectorScope): Promise<string>
  /** The document is ready: what was put is to be found from now on. */
  ready(scope: VectorScope, documentId: string): Promise<void>
}

const signal = new AbortController().signal

const points = (texts: readonly string[], first = 0): VectorPoint[] =>
  texts.map((text, i) => ({ chunk: first + i, terms: termsOf(text) }))

/** What every vector store must do, whoever provides it. */
export async function runVectorStoreConformance(t: Test, suite: VectorStoreSuite): Promise<void> {
  const { store } = suite
  const search = async (scope: VectorScope, query: string, limit = 10) =>
    (await store.search(scope, { terms: termsOf(query), limit }, signal)).map(
      ({ documentId, chunk }) => `${documentId} ${chunk}`,
    )
  const put = async (scope: VectorScope, texts: readonly string[]): Promise<string> => {
    const documentId = await suite.makeDocument(scope)
    await store.upsert(scope, documentId, points(texts), signal)
    await suite.ready(scope, documentId)
    return documentId
  }

  await t.test('the chunk that has the rarest words of the query comes first, and the limit holds', async (t) => {
    const scope = await suite.makeScope()
    const shop = await put(scope, ['The shop sells tea.', 'The shop sells coffee and rare saffron.', 'Nothing at all.'])
    const other = await put(scope, ['The shop is closed.'])
    t.equal((await search(scope, 'saffron shop'))[0], `${shop} 1`)
    t.same(new Set(await search(scope, 'shop')), new Set([`${shop} 0`, `${shop} 1`, `${other} 0`]))
    t.equal((await search(scope, 'shop', 2)).length, 2)
    const scores = (await store.search(scope, { terms: termsOf('saffron shop'), limit: 10 }, signal)).map(
      (m) => m.score,
    )
    t.same(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    t.ok(scores.every((score) => score > 0))
  })

  await t.test('no agent and no workspace finds what is another’s', async (t) => {
    const scope = await suite.makeScope()
    const foreign = await suite.makeScope()
    await put(scope, ['The password is amaranth.'])
    t.same(await search(foreign, 'amaranth'), [])
    t.same(await search({ ...scope, workspaceId: foreign.workspaceId }, 'amaranth'), [])
    t.same(await search({ ...scope, agentId: foreign.agentId }, 'amaranth'), [])
  })

  await t.test('the same points again change nothing', async (t) => {
    const scope = await suite.makeScope()
    const documentId = await put(scope, ['red apple', 'green apple'])
    await store.upsert(scope, documentId, points(['red apple', 'green apple']), signal)
    t.same(await search(scope, 'apple'), [`${documentId} 0`, `${documentId} 1`])
  })

  await t.test('a document of many chunks is put in parts and found as one', async (t) => {
    const scope = await suite.makeScope()
    const documentId = await suite.makeDocument(scope)
    for (let first = 0; first < 600; first += 256) {
      const texts = Array.from({ length: Math.min(256, 600 - first) }, (_, i) => `thing number${first + i} of many`)
      await store.upsert(scope, documentId, points(texts, first), signal)
    }
    await suite.ready(scope, documentId)
    for (const n of [0, 255, 256, 599]) t.same(await search(scope, `number${n}`), [`${documentId} ${n}`])
    t.equal((await search(scope, 'thing', 20)).length, 20)
  })

  await t.test('a removed document is found no more, and its neighbours are', async (t) => {
    const scope = await suite.makeScope()
    const gone = await put(scope, ['blue whale'])
    const stays = await put(scope, ['blue sky'])
    t.equal((await search(scope, 'blue')).length, 2)
    await store.remove(scope, gone, signal)
    await suite.ready(scope, stays)
    t.same(await search(scope, 'blue'), [`${stays} 0`])
    await store.remove(scope, gone, signal)
  })

  await t.test('an empty agent, a query without words and an unknown word find nothing', async (t) => {
    const scope = await suite.makeScope()
    t.same(await search(scope, 'anything'), [])
    await put(scope, ['red apple'])
    t.same(await search(scope, '?!'), [])
    t.same(await search(scope, 'zebra'), [])
  })

  const unit = (...values: number[]) => Float32Array.from(values)
  const putDense = async (scope: VectorScope, chunks: readonly [text: string, dense?: Float32Array][]) => {
    const documentId = await suite.makeDocument(scope)
    const put = chunks.map(([text, dense], chunk) => ({ chunk, terms: termsOf(text), ...(dense && { dense }) }))
    await store.upsert(scope, documentId, put, signal)
    await suite.ready(scope, documentId)
    return documentId
  }
  const hybrid = (scope: VectorScope, query: string, dense: Float32Array, limit = 10) =>
    store.search(scope, { terms: termsOf(query), dense, limit }, signal)

  await t.test('what no word of the query names is found by its meaning, nearest first', async (t) => {
    const scope = await suite.makeScope()
    const id = await putDense(scope, [
      ['cats purr', unit(1, 0, 0)],
      ['dogs bark', unit(0, 5, 0)],
      ['puppies yelp', unit(0, 0.9, 0.3)],
    ])
    const found = await hybrid(scope, 'hound', unit(0, 0.01, 0.001))
    t.same(
      found.slice(0, 2).map(({ chunk }) => chunk),
      [1, 2],
    )
    t.ok(found.every(({ documentId }) => documentId === id))
    t.equal((await hybrid(scope, 'hound', unit(0, 1, 0), 1)).length, 1)
    t.same(await search(scope, 'hound'), [], 'its words alone find nothing')
  })

  await t.test('words and meaning are fused by reciprocal rank', async (t) => {
    const scope = await suite.makeScope()
    await putDense(scope, [
      ['apple apple', unit(0, 1, 0)],
      ['apple pear', unit(0.8, 0.6, 0)],
      ['plum', unit(1, 0, 0)],
      ['cherry', unit(0.1, 0, 1)],
    ])
    const found = await hybrid(scope, 'apple', unit(1, 0, 0))
    // Words rank 0, 1; meaning ranks 2, 1, 3, 0: 1 is second in both, the best of each comes after it.
    const scores = new Map(found.map(({ chunk, score }) => [chunk, score]))
    t.same(
      found.map(({ chunk }) => chunk),
      [0, 1, 2, 3].sort((a, b) => scores.get(b)! - scores.get(a)!),
    )
    const near = (chunk: number, expected: number) =>
      t.ok(Math.abs(scores.get(chunk)! - expected) < 1e-5, `${chunk} has ${scores.get(chunk)}, not ${expected}`)
    near(1, 1 / 3 + 1 / 3)
    near(2, 1 / 2)
    near(3, 1 / 4)
    near(0, 1 / 2 + 1 / 5)
  })

  await t.test('the meaning of a foreign agent’s chunks is not searched either', async (t) => {
    const [scope, foreign] = [await suite.makeScope(), await suite.makeScope()]
    await putDense(scope, [['secret', unit(1, 0, 0)]])
    t.same(await hybrid(foreign, 'nothing', unit(1, 0, 0)), [])
    t.same(await hybrid({ ...scope, workspaceId: foreign.workspaceId }, 'nothing', unit(1, 0, 0)), [])
    t.same(await hybrid({ ...scope, agentId: foreign.agentId }, 'secret', unit(1, 0, 0)), [])
  })

  await t.test('chunks without a vector are found by their words, beside those that have one', async (t) => {
    const scope = await suite.makeScope()
    const old = await putDense(scope, [['walnut bread']])
    const mixed = await putDense(scope, [['rye bread', unit(1, 0, 0)], ['walnut cake']])
    const found = await hybrid(scope, 'walnut', unit(1, 0, 0))
    t.same(
      new Set(found.map(({ documentId, chunk }) => `${documentId} ${chunk}`)),
      new Set([`${old} 0`, `${mixed} 0`, `${mixed} 1`]),
    )
  })

  await t.test(
    'of the documents that are named alone chunks are found, though those of others fit better',
    async (t) => {
      const scope = await suite.makeScope()
      const wanted = await putDense(scope, [['We deliver on Monday, as a rule.', unit(0.2, 1, 0)], ['Nothing.']])
      const others: [text: string, dense: Float32Array][] = Array.from({ length: 60 }, () => ['Monday', unit(1, 0, 0)])
      for (let n = 0; n < 3; n++) await putDense(scope, others)
      const foreign = await suite.makeScope()
      const secret = await putDense(foreign, [['Monday', unit(1, 0, 0)]])
      const query = { terms: termsOf('Monday'), limit: 4, documents: [wanted, secret, await suite.makeDocument(scope)] }
      const found = await store.search(scope, query, signal)
      t.match(found, [{ documentId: wanted, chunk: 0 }])
      t.equal(found.length, 1)
      const near = await store.search(scope, { ...query, dense: unit(1, 0, 0) }, signal)
      t.match(near, [{ documentId: wanted, chunk: 0 }])
      t.equal(near.length, 1)
    },
  )

  await t.test('an aborted search rejects', async (t) => {
    const scope = await suite.makeScope()
    const reason = new Error('gone')
    await t.rejects(store.search(scope, { terms: termsOf('a word'), limit: 1 }, AbortSignal.abort(reason)), reason)
  })
}
