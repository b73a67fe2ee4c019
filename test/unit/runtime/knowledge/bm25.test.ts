import t from 'tap'
import { searchBm25 } from '../../../../runtime/knowledge/bm25.ts'
import { decodeSegment, encodeSegment, mergeSegments, type Segment } from '../../../../runtime/knowledge/segment.ts'
import { termsOf, words } from '../../../../runtime/knowledge/terms.ts'

const segmentOf = (texts: string[], first = 0): Segment =>
  decodeSegment(encodeSegment(texts.map((text, i) => ({ chunk: first + i, terms: termsOf(text) }))))

t.test('words are folded, stemmed and freed of stop words; scripts without spaces become pairs', async (t) => {
  t.same([...words('The Café’s openings, in 2024!')], ['cafe', 's', 'open', '2024'])
  t.same([...words('東京都')], ['東京', '京都'])
  t.same([...words('is it the')], [])
})

t.test('scores are BM25 to the last digit', async (t) => {
  const texts = ['red apple red', 'green apple', 'blue sky over the sea']
  const hits = searchBm25([segmentOf(texts)], termsOf('red apple'), 10)
  const lengths = [3, 2, 4]
  const average = (3 + 2 + 4) / 3
  const idf = (n: number) => Math.log(1 + (3 - n + 0.5) / (n + 0.5))
  const weight = (count: number, length: number) =>
    (count * 2.2) / (count + 1.2 * (1 - 0.75 + (0.75 * length) / average))
  t.same(
    hits.map(({ index }) => index),
    [0, 1],
  )
  t.ok(Math.abs(hits[0]!.score - (idf(1) * weight(2, lengths[0]!) + idf(2) * weight(1, lengths[0]!))) < 1e-9)
  t.ok(Math.abs(hits[1]!.score - idf(2) * weight(1, lengths[1]!)) < 1e-9)
})

t.test('the ranking does not depend on how documents are cut into segments', async (t) => {
  const texts = Array.from({ length: 40 }, (_, i) => `word${i % 7} word${i % 3} thing ${'filler '.repeat(i % 5)}`)
  const rank = (segments: Segment[]) =>
    searchBm25(segments, termsOf('word1 word2 thing'), 8).map(({ segment, index, score }) => [
      segments[segment]!.chunkNumbers[index],
      score,
    ])
  const parts = [segmentOf(texts.slice(0, 13)), segmentOf(texts.slice(13, 14), 13), segmentOf(texts.slice(14), 14)]
  const whole = rank([segmentOf(texts)])
  t.equal(whole.length, 8)
  t.same(rank(parts), whole)
  t.same(rank([mergeSegments(parts)]), whole)
  t.same(rank([mergeSegments(parts.slice(0, 2)), parts[2]!]), whole)
})

t.test('nothing matches nothing, and an empty index has no hits', async (t) => {
  t.same(searchBm25([], termsOf('a word'), 5), [])
  t.same(searchBm25([segmentOf(['red apple'])], termsOf('zebra'), 5), [])
  t.same(searchBm25([segmentOf(['red apple'])], termsOf(''), 5), [])
})

t.test('bytes that are no segment are refused', async (t) => {
  t.throws(() => decodeSegment(Buffer.from('hello')), RangeError)
  t.throws(() => decodeSegment(encodeSegment([{ chunk: 0, terms: termsOf('red apple') }]).subarray(0, 30)), RangeError)
  const points = Array.from({ length: 257 }, (_, chunk) => ({ chunk, terms: termsOf('a') }))
  t.throws(() => encodeSegment(points), RangeError)
})
