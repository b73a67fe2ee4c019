import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { searchBm25 } from '../../../../../runtime/knowledge/bm25.ts'
import { denseQuery, denseRows } from '../../../../../runtime/knowledge/dense.ts'
import { type EngineBlock, SearchEngine } from '../../../../../runtime/knowledge/engine/engine.ts'
import { denseModel, encodeRow } from '../../../../../runtime/knowledge/engine/row.ts'
import { fuseByRank } from '../../../../../runtime/knowledge/fusion.ts'
import { decodeSegment, encodeSegment } from '../../../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../../../runtime/knowledge/terms.ts'
import type { VectorMatch, VectorPoint, VectorQuery } from '../../../../../runtime/plugin/contract.ts'
import { numbers } from '../../../../support/phone/numbers.ts'

const DIMENSIONS = 40
const LEG_LIMIT = 50
const model = denseModel({ model: 'test/forty', dimensions: DIMENSIONS })!
const signal = new AbortController().signal

interface Document {
  documentId: string
  points: VectorPoint[]
}

/** A hybrid search of all points in turn. */
function plainSearch(documents: readonly Document[], query: VectorQuery): VectorMatch[] {
  const all = documents.flatMap(({ documentId, points }) => points.map((point) => ({ ...point, documentId })))
  const dense = denseQuery(query.dense!)!
  const byMeaning = all
    .flatMap((point) => {
      const { rows, scales } = denseRows([point.dense], DIMENSIONS)
      const sum = rows.reduce((sum, value, i) => sum + value * dense.steps[i]!, 0)
      return scales[0] === 0 ? [] : [{ ...point, score: sum * scales[0]! }]
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, LEG_LIMIT)
  const segments = documents.map(({ points }) => decodeSegment(encodeSegment(points)))
  const byWords = searchBm25(segments, query.terms, LEG_LIMIT).map(({ segment, index }) => ({
    documentId: documents[segment]!.documentId,
    chunk: documents[segment]!.points[index]!.chunk,
  }))
  const keyOf = ({ documentId, chunk }: { documentId: string; chunk: number }) => `${documentId}/${chunk}`
  return fuseByRank<{ documentId: string; chunk: number }>([byMeaning, byWords], keyOf, query.limit).map(
    ({ item, score }) => ({ documentId: item.documentId, chunk: item.chunk, score }),
  )
}

t.test(
  'threads together find what a search of all points in turn finds, ties in the order of the blocks',
  async (t) => {
    const engine = new SearchEngine({ model, onLost: (error) => t.fail(error) })
    t.teardown(() => engine.close())
    const random = numbers(1)
    const word = () => `word${Math.floor(random() ** 2 * 40)}`
    // Few different vectors: many are equally near.
    const vectors = Array.from({ length: 30 }, () => Float32Array.from({ length: DIMENSIONS }, random))
    const documents = Array.from({ length: 60 }, (_, n): Document => {
      const points = Array.from({ length: n % 7 === 0 ? 90 : 1 + (n % 5) }, (_, chunk): VectorPoint => {
        const dense = n % 11 === 0 || random() > 0.9 ? undefined : vectors[Math.floor((random() + 1) * 15)]!
        return { chunk, terms: termsOf(Array.from({ length: 12 }, word).join(' ')), ...(dense && { dense }) }
      })
      return { documentId: `document-${n}`, points }
    })
    const blocks: EngineBlock[] = []
    for (let first = 0; first < documents.length; first += 9) {
      const rows = documents.slice(first, first + 9).map(({ documentId, points }, i) => {
        return { id: first + i, documentId, bytes: encodeRow(points, model) }
      })
      blocks.push(...(await engine.add(rows, blocks)))
    }
    t.equal(new Set(blocks.map(({ shard }) => shard)).size, 2)
    const inOrder = blocks.flatMap(({ rowIds }) => rowIds.map((id) => documents[id]!))
    t.equal(new Set(inOrder).size, documents.length)
    const index = engine.indexOf(blocks)
    for (let n = 0; n < 30; n++) {
      const dense = n % 2 === 0 ? vectors[n]! : Float32Array.from({ length: DIMENSIONS }, random)
      const query = { terms: termsOf(`${word()} ${word()} ${word()}`), dense, limit: 80 }
      t.strictSame(await engine.search(index, query, signal), plainSearch(inOrder, query))
    }
    t.same(await engine.search(engine.indexOf([]), { terms: termsOf('word1'), limit: 5 }, signal), [])
  },
)

t.test('an engine without a model searches by words, whatever vectors come', async (t) => {
  const engine = new SearchEngine({ model: undefined, onLost: (error) => t.fail(error) })
  t.teardown(() => engine.close())
  const dense = Float32Array.from({ length: DIMENSIONS }, () => 1)
  const bytes = encodeRow([{ chunk: 0, terms: termsOf('apple'), dense }], model)
  const index = engine.indexOf(await engine.add([{ id: 1, documentId: 'a', bytes }], []))
  t.match(await engine.search(index, { terms: termsOf('apple'), dense, limit: 5 }, signal), [{ documentId: 'a' }])
  t.same(await engine.search(index, { terms: termsOf('pear'), dense, limit: 5 }, signal), [])
})

t.test('memory is counted with the vectors, and what fails to be added is none', async (t) => {
  const engine = new SearchEngine({ model, onLost: (error) => t.fail(error) })
  t.teardown(() => engine.close())
  const rowOf = (id: number, dense?: Float32Array) => ({
    id,
    documentId: `document-${id}`,
    bytes: encodeRow([{ chunk: 0, terms: termsOf('apple'), ...(dense && { dense }) }], model),
  })
  const [plain] = await engine.add([rowOf(1)], [])
  const [vector] = await engine.add([rowOf(2, new Float32Array(DIMENSIONS).fill(1))], [])
  t.ok(vector!.byteLength >= plain!.byteLength + 32 * 1024, 'a page at least')
  const broken = { id: 3, documentId: 'document-3', bytes: Buffer.from('no row') }
  await t.rejects(engine.add([rowOf(4), broken], []), { code: 'internal' })
  const [next] = await engine.add([rowOf(5)], [])
  t.ok(next!.number > vector!.number)
  t.match(await engine.search(engine.indexOf([plain!, next!]), { terms: termsOf('apple'), limit: 5 }, signal), [
    { documentId: 'document-1' },
    { documentId: 'document-5' },
  ])
})

t.test('the threads are the process’s own: they start under the guard, and keep no process from ending', async (t) => {
  const urlOf = (path: string) => JSON.stringify(new URL(`../../../../../${path}`, import.meta.url).href)
  const program = `
    const { installGuard } = await import(${urlOf('runtime/plugin/guard/guard.ts')})
    const { SearchEngine } = await import(${urlOf('runtime/knowledge/engine/engine.ts')})
    const { denseModel, encodeRow } = await import(${urlOf('runtime/knowledge/engine/row.ts')})
    const { termsOf } = await import(${urlOf('runtime/knowledge/terms.ts')})
    installGuard({ grants: () => [], env: process.env, hide: [], pluginFolders: [], log: console })
    const model = denseModel({ model: 'test/two', dimensions: 2 })
    const dense = Float32Array.of(1, 1)
    const engine = new SearchEngine({ model, onLost: (error) => console.log(error) })
    const bytes = encodeRow([{ chunk: 3, terms: termsOf('apple'), dense }], model)
    const index = engine.indexOf(await engine.add([{ id: 1, documentId: 'a', bytes }], []))
    const query = { terms: termsOf('apple'), dense, limit: 5 }
    console.log(JSON.stringify(await engine.search(index, query, new AbortController().signal)))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    timeout: 600_000,
  })
  t.same(JSON.parse(stdout), [{ documentId: 'a', chunk: 3, score: 1 }])
})
