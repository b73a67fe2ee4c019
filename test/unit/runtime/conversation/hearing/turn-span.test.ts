import t from 'tap'
import { TurnSpan } from '../../../../../runtime/conversation/hearing/turn-span.ts'

t.test('a turn is the speech of its words, from the first to the last', async (t) => {
  const turn = new TurnSpan()
  t.equal(turn.take(), undefined)
  turn.speechStarted(0)
  turn.speechEnded(1_000)
  turn.words({ startMs: 0, endMs: 1_000 }, 1_000, 'twenty')
  turn.speechStarted(1_600)
  turn.speechEnded(2_500)
  turn.words({ startMs: 1_600, endMs: 2_500 }, 2_500, 'four')
  // A noise that no words came of is not the end of it.
  turn.speechStarted(3_000)
  turn.speechEnded(3_200)
  t.same(turn.take(), { startMs: 0, endMs: 2_500, groups: 'twenty, four' })
  t.equal(turn.take(), undefined)
})

t.test('speech that is judged later than its words came is of the turn', async (t) => {
  const turn = new TurnSpan()
  turn.speechStarted(1_000)
  turn.speechEnded(2_000)
  turn.words({ startMs: 1_000, endMs: 2_000 }, 2_400)
  turn.speechStarted(2_150)
  turn.speechEnded(2_380)
  t.match(turn.take(), { startMs: 1_000, endMs: 2_380 })
})

t.test('words that come before their speech is over end where it ends', async (t) => {
  for (const known of [1_960, 2_200]) {
    const turn = new TurnSpan()
    turn.speechStarted(1_000)
    turn.words({ startMs: 1_000, endMs: known })
    turn.speechEnded(2_128)
    t.match(turn.take(), { startMs: 1_000, endMs: 2_128 })
  }
})

t.test('words of one breath are one group, and a mark of the recogniser is kept', async (t) => {
  const turn = new TurnSpan()
  turn.speechStarted(0)
  turn.words({ startMs: 0, endMs: 800 }, 800, 'Mill Lane')
  turn.words({ startMs: 0, endMs: 1_200 }, 1_200, 'seven.')
  turn.speechEnded(1_200)
  turn.speechStarted(2_700)
  turn.words({ startMs: 2_700, endMs: 3_000 }, 3_000, 'Leeds')
  turn.speechEnded(3_000)
  t.equal(turn.take()?.groups, 'Mill Lane seven. Leeds')
})
