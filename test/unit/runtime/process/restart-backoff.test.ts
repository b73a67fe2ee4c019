import { test } from 'tap'
import { RestartBackoff } from '../../../../runtime/process/restart-backoff.ts'

const delays = (backoff: RestartBackoff, ...servedMs: number[]) => servedMs.map((ms) => backoff.next(ms))

test('a child that dies as soon as it is there waits longer each time, ten seconds at most', async (t) => {
  t.strictSame(
    delays(new RestartBackoff(), 0, 50, 2_000, 0, 0, 0, 0, 0, 0),
    [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
  )
})

test('a child that served starts again at once, however often it is killed', async (t) => {
  t.strictSame(delays(new RestartBackoff(), ...Array(10).fill(25_000)), Array(10).fill(0))
})

test('what failed before a child served is forgotten', async (t) => {
  t.strictSame(delays(new RestartBackoff(), 0, 0, 0, 60_000, 0), [100, 200, 400, 0, 100])
})
