import t from 'tap'
import { autoInterval, bucketCount, bucketStarts } from '../../../../api/reports/interval.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (starts: number[]): string[] => starts.map((start) => new Date(start).toISOString())

t.test('buckets are aligned to UTC and the first may start before the span', async (t) => {
  t.strictSame(iso(bucketStarts(at('2026-03-29T00:30:00Z'), at('2026-03-29T03:00:00Z'), 'hour')), [
    '2026-03-29T00:00:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-29T02:00:00.000Z',
  ])
})

t.test('weeks start on Monday, months on the first, across a leap day', async (t) => {
  t.strictSame(iso(bucketStarts(at('2028-02-27T12:00:00Z'), at('2028-03-07T00:00:00Z'), 'week')), [
    '2028-02-21T00:00:00.000Z',
    '2028-02-28T00:00:00.000Z',
    '2028-03-06T00:00:00.000Z',
  ])
  t.strictSame(iso(bucketStarts(at('2027-12-31T23:59:59.999Z'), at('2028-03-01T00:00:00Z'), 'month')), [
    '2027-12-01T00:00:00.000Z',
    '2028-01-01T00:00:00.000Z',
    '2028-02-01T00:00:00.000Z',
  ])
})

t.test('a day on which a clock somewhere changes has 24 UTC hours', async (t) => {
  t.equal(bucketStarts(at('2026-03-29T00:00:00+01:00'), at('2026-03-30T00:00:00+02:00'), 'hour').length, 23)
  t.equal(bucketStarts(at('2026-03-29T00:00:00Z'), at('2026-03-30T00:00:00Z'), 'hour').length, 24)
})

t.test('the count bounds the number of buckets', async (t) => {
  for (const interval of ['hour', 'day', 'week', 'month'] as const) {
    const [start, end] = [at('2026-01-15T10:10:10Z'), at('2026-09-02T03:00:00Z')]
    const made = bucketStarts(start, end, interval).length
    t.ok(bucketCount(start, end, interval) >= made && bucketCount(start, end, interval) <= made * 1.2 + 1, interval)
  }
})

t.test('the automatic interval keeps a chart readable', async (t) => {
  const day = 86_400_000
  t.strictSame(
    [1, 2, 7, 92, 93, 366, 367].map((days) => autoInterval(0, days * day)),
    ['hour', 'hour', 'day', 'day', 'week', 'week', 'month'],
  )
})
