import { test } from 'tap'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { RecentSamples } from '../../../../runtime/media/recent-samples.ts'

const counting = (from: number, length: number) => Int16Array.from({ length }, (_, i) => (from + i) % 30_000)

test('the last samples are kept, however they came', (t) => {
  const recent = new RecentSamples()
  let pushed = 0
  for (const length of [320, 1, 0, 7_900, 320, 20_000, 5, 16_000, 320]) {
    recent.push(counting(pushed, length), 10_000)
    pushed += length
    const kept = Math.min(pushed, 10_000)
    const pieces = [...recent.pieces(1_600)]
    t.ok(pieces.every((piece) => piece.length > 0 && piece.length <= 1_600))
    t.strictSame([...joinSamples(pieces)], [...counting(pushed - kept, kept)], `after ${pushed}`)
  }
  t.end()
})

test('fewer are kept once fewer are wanted, and none at last', (t) => {
  const recent = new RecentSamples()
  recent.push(counting(0, 30_000), 50_000)
  recent.push(counting(30_000, 100), 6_400)
  t.strictSame([...joinSamples([...recent.pieces(1_600)])], [...counting(23_700, 6_400)])
  t.equal(recent.length, 6_400)
  recent.keepLast(10)
  t.strictSame([...joinSamples([...recent.pieces(1_600)])], [...counting(30_090, 10)])
  recent.keepLast(0)
  t.strictSame([...recent.pieces(1_600)], [])
  recent.push(counting(5, 20), 6_400)
  t.strictSame([...joinSamples([...recent.pieces(1_600)])], [...counting(5, 20)])
  t.end()
})

test('what is kept is a copy, and so is what is given of it', (t) => {
  const recent = new RecentSamples()
  const samples = counting(1, 100)
  recent.push(samples, 1_000)
  samples.fill(0)
  for (const piece of recent.pieces(10)) piece.fill(0)
  t.strictSame([...joinSamples([...recent.pieces(1_600)])], [...counting(1, 100)])
  t.end()
})
