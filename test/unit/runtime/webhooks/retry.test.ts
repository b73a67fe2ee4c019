import t from 'tap'
import { nextAttemptMs } from '../../../../runtime/webhooks/retry.ts'

t.test('ten attempts are spread over about 75 hours, none at the same moment everywhere', async (t) => {
  const waits = (random: number) => Array.from({ length: 10 }, (_, i) => nextAttemptMs(i + 1, random))
  t.equal(waits(0.5)[0], 5_000)
  t.equal(waits(0.5).at(-1), undefined, 'the tenth is the last')
  const hours = waits(0.5).reduce<number>((sum, ms) => sum + (ms ?? 0), 0) / 3_600_000
  t.ok(hours > 74 && hours < 77, `${hours} hours`)
  t.ok(waits(0)[0]! < 5_000 && waits(1)[0]! > 5_000)
})
