import t from 'tap'
import { fuseByRank } from '../../../../runtime/knowledge/fusion.ts'

t.test('fusion rewards what several rankings agree on', async (t) => {
  const fused = fuseByRank([['a', 'b', 'c'], ['d', 'b'], []], (key) => key, 3)
  t.same(
    fused.map(({ item }) => item),
    ['b', 'a', 'd'],
  )
  t.equal(fused[0]?.score, 2 / 3)
})
