import t from 'tap'
import { RunMap } from '../../../../../runtime/media/line/run-map.ts'

t.test('each piece of a run lies where it was put, and what is near to the piece before it is of it', async (t) => {
  const map = new RunMap(5)
  t.equal(map.at(10), undefined)
  map.add(0, 1_000)
  map.add(20, 1_003)
  map.add(40, 1_500)
  t.same(
    [10, 20, 40, 41, 100].map((ms) => map.at(ms)),
    [1_010, 1_020, 1_040, 1_541, 1_600],
  )
})

t.test('of a long run the last minute is known, and the rest as its oldest piece', async (t) => {
  const map = new RunMap(1)
  for (let i = 0; i < 10_000; i++) map.add(20 * i, i % 2 === 0 ? 100 : 200)
  t.equal(map.at(199_990), 200_190)
  t.equal(map.at(199_980), 200_080)
  t.ok([100, 200].includes(map.at(10)! - 10))
})
