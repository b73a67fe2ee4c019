import t from 'tap'
import { meanOpinionScore } from '../../../../../runtime/media/line/mean-opinion-score.ts'

t.test('a good line scores 4.4, loss and delay cost what G.107 says', async (t) => {
  t.ok(Math.abs(meanOpinionScore(0, 0) - 4.41) < 0.01)
  t.ok(Math.abs(meanOpinionScore(0, 150) - 4.34) < 0.03)
  t.ok(meanOpinionScore(0.02, 50) < 4.3 && meanOpinionScore(0.02, 50) > 4)
  t.ok(meanOpinionScore(0.1, 100) < 3.4)
  t.ok(meanOpinionScore(0, 400) < 3.8)
  t.equal(meanOpinionScore(1, 2_000), 1)
})

t.test('more loss and more delay are never better', async (t) => {
  for (let i = 0; i < 20; i++) {
    t.ok(meanOpinionScore((i + 1) / 20, 50) <= meanOpinionScore(i / 20, 50))
    t.ok(meanOpinionScore(0.01, (i + 1) * 50) <= meanOpinionScore(0.01, i * 50))
  }
})
