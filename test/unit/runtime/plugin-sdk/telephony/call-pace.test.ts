import t from 'tap'
import { CallPace } from '../../../../../runtime/plugin-sdk/telephony/call-pace.ts'

t.test('calls follow each other at the pace, first come first served', async (t) => {
  let nowMs = 5_000
  const pace = new CallPace(2, { nowMs: () => 0, monotonicMs: () => nowMs })
  t.same([pace.take(), pace.take(), pace.take()], [0, 500, 1_000])
  nowMs += 10_000
  t.same([pace.take(), pace.take()], [0, 500], 'a pause saves up one call, not many')
  const bursty = new CallPace(1, { nowMs: () => 0, monotonicMs: () => nowMs }, 3)
  t.same([bursty.take(), bursty.take(), bursty.take(), bursty.take()], [0, 0, 0, 1_000])
})

t.test('who gives up waits no longer', async (t) => {
  const pace = new CallPace(0.01, { nowMs: () => 0, monotonicMs: () => 0 })
  await pace.turn(AbortSignal.timeout(60_000))
  const waiting = new AbortController()
  const turn = pace.turn(waiting.signal)
  waiting.abort()
  await t.rejects(turn, { name: 'AbortError' })
})
