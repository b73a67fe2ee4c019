import t from 'tap'
import { backoffMs } from '../../../../../runtime/lib/async/backoff.ts'

t.test('waits double up to the longest, less up to a half at random', async (t) => {
  const waits = (random: number) =>
    [1, 2, 3, 4, 5, 2_000].map((failures) => backoffMs(failures, { firstMs: 100, mostMs: 1_000, random: () => random }))
  t.same(waits(0), [100, 200, 400, 800, 1_000, 1_000])
  t.same(waits(0.5), [75, 150, 300, 600, 750, 750])
})
