import { readFile } from 'node:fs/promises'
import t from 'tap'
import wabt from 'wabt'
import { denseRows, MAX_DIMENSIONS, searchDense } from '../../../runtime/knowledge/dense.ts'
import { DOTS_WASM } from '../../../runtime/knowledge/dots.ts'
import { fuseByRank } from '../../../runtime/knowledge/fusion.ts'

/** A generator of the same numbers each time (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), 1 | state)
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 31 - 1
  }
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0]
  a.forEach((value, i) => {
    dot += value * b[i]!
    aa += value * value
    bb += b[i]! * b[i]!
  })
  return dot / Math.sqrt(aa * bb)
}

t.test('the compiled module is what the source says', async (t) => {
  const file = new URL('../../../runtime/knowledge/dots.wat', import.meta.url)
  const module = (await wabt()).parseWat('dots.wat', await readFile(file, 'utf8'), { simd: true })
  t.equal(Buffer.from(module.toBinary({}).buffer).toString('base64'), DOTS_WASM)
})

t.test('every row is compared: the nearest are those that plain arithmetic finds', async (t) => {
  for (const dimensions of [1, 3, 16, 100, 768, MAX_DIMENSIONS]) {
    const random = numbers(dimensions)
    const make = () => Float32Array.from({ length: dimensions }, random)
    const vectors = Array.from({ length: 700 }, make)
    const blocks = [0, 256, 512].map((first) => denseRows(vectors.slice(first, first + 256), dimensions))
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

t.test('rows without a vector, of other widths, and vectors without a direction are left out', async (t) => {
  const one = Float32Array.of(1, 1)
  const blocks = [
    undefined,
    denseRows([undefined, one, Float32Array.of(0, 0), Float32Array.of(Number.NaN, 1)], 2),
    denseRows([new Float32Array(40).fill(1)], 40),
  ]
  t.match(searchDense(blocks, one, 5), [{ block: 1, index: 1 }])
  t.equal(searchDense(blocks, one, 5).length, 1)
  t.same(searchDense(blocks, Float32Array.of(0, 0), 5), [])
  t.throws(() => denseRows([one], 3), RangeError)
  t.throws(() => denseRows([], MAX_DIMENSIONS + 1), RangeError)
})

t.test('fusion rewards what several rankings agree on', async (t) => {
  const fused = fuseByRank([['a', 'b', 'c'], ['d', 'b'], []], (key) => key, 3)
  t.same(
    fused.map(({ item }) => item),
    ['b', 'a', 'd'],
  )
  t.equal(fused[0]?.score, 2 / 3)
})
