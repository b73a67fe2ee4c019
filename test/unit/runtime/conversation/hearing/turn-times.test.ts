import t from 'tap'
import { TurnTimes } from '../../../../../runtime/conversation/hearing/turn-times.ts'

/** Somebody who makes sounds from then to then. */
function heard(...sounds: readonly [fromMs: number, toMs: number, words?: boolean][]): TurnTimes {
  const times = new TurnTimes()
  for (const [fromMs, toMs, words] of sounds) {
    times.speechStarted(fromMs)
    if (words === true) times.words()
    times.speechEnded(toMs)
  }
  return times
}

t.test('a sound that no words came of is not the start of the question that follows', async (t) => {
  t.same(heard([450, 900], [6_900, 8_849, true]).take(9_000), { startMs: 6_900, endMs: 8_849 })
})

t.test('a pause within a turn divides nothing', async (t) => {
  t.same(heard([450, 900], [1_400, 2_000, true]).take(2_200), { startMs: 450, endMs: 2_000 })
  t.same(heard([450, 900, true], [5_000, 6_000, true]).take(6_200), { startMs: 450, endMs: 6_000 })
})

t.test('the next turn begins with its own first sound', async (t) => {
  const times = heard([450, 900, true])
  times.take(1_000)
  times.speechStarted(7_000)
  t.same(times.at(7_500), { startMs: 7_000, endMs: 7_500 })
  times.speechEnded(8_000)
  t.same(times.take(8_100), { startMs: 7_000, endMs: 8_000 })
})
