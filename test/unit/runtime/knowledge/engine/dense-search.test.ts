import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import wabt from 'wabt'
import { type DenseRows, denseQuery, denseRows, MAX_DIMENSIONS } from '../../../../../runtime/knowledge/dense.ts'
import {
  type DenseHit,
  type StoredRows,
  searchDense,
  storeRows,
} from '../../../../../runtime/knowledge/engine/dense-search.ts'
import { DOTS_WASM } from '../../../../../runtime/knowledge/engine/dots.ts'
import { Pages } from '../../../../../runtime/knowledge/engine/pages.ts'
import { numbers } from '../../../../support/phone/numbers.ts'

const stored = (pages: Pages, dense: DenseRows): StoredRows =>
  storeRows(pages, [{ count: dense.scales.length, dense }])!

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0]
  a.forEach((value, i) => {
    dot += value * b[i]!
    aa += value * value
    bb += b[i]! * b[i]!
  })
  return dot / Math.sqrt(aa * bb)
}

/** The search as its sentence says it: every row in turn, then all in order. */
function plainSearch(blocks: readonly (DenseRows | undefined)[], vector: Float32Array, limit: number): DenseHit[] {
  const query = denseQuery(vector)
  if (query === undefined) return []
  const hits = blocks.flatMap((dense, block) => {
    if (dense?.width !== query.width) return []
    return Array.from(dense.scales, (scale, index) => {
      const row = dense.rows.subarray(index * dense.width, (index + 1) * dense.width)
      const sum = row.reduce((sum, value, i) => sum + value * query.steps[i]!, 0)
      return { block, index, score: sum * scale, scale }
    })
  })
  return hits
    .filter(({ scale }) => scale !== 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ block, index, score }) => ({ block, index, score: score * query.scale }))
}

t.test('the compiled module is what the source says', async (t) => {
  const file = new URL('../../../../../runtime/knowledge/engine/dots.wat', import.meta.url)
  const module = (await wabt()).parseWat('dots.wat', await readFile(file, 'utf8'), { simd: true })
  t.equal(Buffer.from(module.toBinary({}).buffer).toString('base64'), DOTS_WASM)
})

t.test('the nearest are those that the cosine of the vectors themselves finds', async (t) => {
  for (const dimensions of [1, 3, 16, 100, 768, MAX_DIMENSIONS]) {
    const random = numbers(dimensions)
    const make = () => Float32Array.from({ length: dimensions }, random)
    const vectors = Array.from({ length: 700 }, make)
    const pages = new Pages()
    const blocks = [0, 256, 512].map((first) => stored(pages, denseRows(vectors.slice(first, first + 256), dimensions)))
    for (let n = 0; n < 5; n++) {
      const query = make()
      const exact = vectors.map((vector) => cosine(query, vector))
      const found = searchDense(blocks, query, 10)
      const tenth = exact.toSorted((a, b) => b - a)[9]!
      t.equal(found.length, 10)
      for (const { block, index, score } of found) {
        const is = exact[block * 256 + index]!
        if (Math.abs(score - is) > 0.005 || is < tenth - 0.005) t.fail(`${dimensions}: ${score} for ${is}`)
      }
    }
  }
})

t.test('hits, scores and the order of ties are those of a plain search, whatever comes and goes', async () => {
  const widths = fc.constantFrom(1, 15, 16, 17, 100, 512, 1_536, 3_072, MAX_DIMENSIONS)
  // Few different numbers make ties; a row may be empty, without direction, or the query itself.
  const block = fc.record({
    count: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 256 })),
    dimensions: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: widths }),
    fate: fc.constantFrom('stays', 'stays', 'stays', 'leaves', 'is missing'),
  })
  const cases = fc.record({
    dimensions: widths,
    blocks: fc.array(block, { maxLength: 8 }),
    variety: fc.constantFrom(1, 3, 1000),
    limit: fc.constantFrom(1, 4, 50, 300),
    seed: fc.integer(),
  })
  fc.assert(
    fc.property(cases, ({ dimensions, blocks, variety, limit, seed }) => {
      const random = numbers(seed)
      const pages = new Pages()
      const query = Float32Array.from({ length: dimensions }, () => Math.round(random() * variety))
      const kept: [DenseRows | undefined, StoredRows | undefined][] = []
      for (const { count, dimensions: own, fate } of blocks) {
        const vectors = Array.from({ length: count }, () => {
          const kind = random()
          if (kind > 0.9) return undefined
          if (own === null && kind > 0.7) return query
          return Float32Array.from({ length: own ?? dimensions }, () => Math.round(random() * variety))
        })
        const dense = denseRows(vectors, own ?? dimensions)
        const rows = storeRows(pages, [{ count, dense }])
        if (fate === 'stays') kept.push([dense, rows])
        else if (fate === 'is missing') kept.push([undefined, undefined])
        if (fate !== 'stays') pages.give(rows?.pages ?? [])
      }
      const found = searchDense(
        kept.map(([, rows]) => rows),
        query,
        limit,
      )
      const expected = plainSearch(
        kept.map(([dense]) => dense),
        query,
        limit,
      )
      return isDeepStrictEqual(found, expected)
    }),
    { numRuns: 60 },
  )
})

t.test('rows of several parts lie one after the other; a part without vectors has empty ones', async (t) => {
  const pages = new Pages()
  const one = denseRows([Float32Array.of(1, 0), Float32Array.of(0, 1)], 2)
  const rows = storeRows(pages, [
    { count: 3, dense: undefined },
    { count: 2, dense: one },
    { count: 1, dense: undefined },
    { count: 2, dense: one },
  ])
  t.match(searchDense([rows], Float32Array.of(0, 1), 2), [{ index: 4 }, { index: 7 }])
  t.equal(searchDense([rows], Float32Array.of(0, 1), 9).length, 4)
  t.equal(storeRows(pages, [{ count: 3, dense: undefined }]), undefined)
})

t.test('rows without a vector, of other widths, and vectors without a direction are left out', async (t) => {
  const pages = new Pages()
  const one = Float32Array.of(1, 1)
  const blocks = [
    undefined,
    stored(pages, denseRows([undefined, one, Float32Array.of(0, 0), Float32Array.of(Number.NaN, 1)], 2)),
    stored(pages, denseRows([new Float32Array(40).fill(1)], 40)),
  ]
  t.match(searchDense(blocks, one, 5), [{ block: 1, index: 1 }])
  t.equal(searchDense(blocks, one, 5).length, 1)
  t.same(searchDense(blocks, Float32Array.of(0, 0), 5), [])
  t.same(searchDense(blocks, new Float32Array(MAX_DIMENSIONS + 1).fill(1), 5), [])
  t.throws(() => denseRows([one], 3), RangeError)
  t.throws(() => denseRows([], MAX_DIMENSIONS + 1), RangeError)
})

t.test('an index larger than one bank of memory is searched whole, and its room is used again', async (t) => {
  const pages = new Pages()
  const random = numbers(1)
  const dimensions = MAX_DIMENSIONS
  const make = () => Float32Array.from({ length: dimensions }, random)
  const filler = denseRows(Array.from({ length: 256 }, make), dimensions)
  const wanted = make()
  const target = denseRows([wanted], dimensions)
  // 66 MiB, with what is looked for at both ends.
  const blocks = [target, ...Array<DenseRows>(66).fill(filler), target].map((rows) => stored(pages, rows))
  const banks = new Set(blocks.flatMap((rows) => rows.pages.map(({ bank }) => bank)))
  t.equal(banks.size, 2)
  t.match(searchDense(blocks, wanted, 3), [{ block: 0 }, { block: 67 }, { score: Number }])
  for (const rows of blocks.slice(1, 66)) pages.give(rows.pages)
  const again = Array.from({ length: 65 }, () => stored(pages, filler))
  t.ok(again.every((rows) => rows.pages.every(({ bank }) => banks.has(bank))))
  t.match(searchDense([blocks[0], ...again, ...blocks.slice(66)], wanted, 2), [{ block: 0 }, { block: 67 }])
})
