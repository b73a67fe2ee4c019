import t from 'tap'
import { TurnSpan } from '../../../../../runtime/conversation/hearing/turn-span.ts'

t.test('a turn is the speech of its words, from the first to the last', async (t) => {
  const turn = new TurnSpan()
  t.equal(turn.take(), undefined)
  turn.speechStarted(0)
  turn.speechEnded(1_000)
  turn.words({ startMs: 0, endMs: 1_000 })
  turn.speechStarted(1_600)
  turn.speechEnded(2_500)
  turn.words({ startMs: 1_600, endMs: 2_500 })
  // A noise that no words came of is not the end of it.
  turn.speechStarted(3_000)
  turn.speechEnded(3_200)
  t.same(turn.take(), { startMs: 0, endMs: 2_500 })
  t.equal(turn.take(), undefined)
})

t.test('speech that is judged later than its words came is of the turn', async (t) => {
  const turn = new TurnSpan()
  turn.speechStarted(1_000)
  turn.speechEnded(2_000)
  turn.words({ startMs: 1_000, endMs: 2_000 }, 2_400)
  turn.speechStarted(2_150)
  turn.speechEnded(2_380)
  t.same(turn.take(), { startMs: 1_000, endMs: 2_380 })
})

t.test('words that come before their speech is over end where it ends', async (t) => {
  for (const known of [1_960, 2_200]) {
    const turn = new TurnSpan()
    turn.speechStarted(1_000)
    turn.words({ startMs: 1_000, endMs: known })
    turn.speechEnded(2_128)
    t.same(turn.take(), { startMs: 1_000, endMs: 2_128 })
  }
})
