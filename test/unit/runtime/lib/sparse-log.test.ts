import t from 'tap'
import { SparseLog } from '../../../../runtime/lib/sparse-log.ts'

t.test('a line about the same thing comes once in an interval, with how many were left out', async (t) => {
  let nowMs = 0
  const log = new SparseLog(60_000, () => nowMs)
  const lines: string[] = []
  const say = (about: string) => log.say(about, (leftOut) => lines.push(`${about} ${leftOut}`))
  for (let n = 0; n < 5; n += 1) say('a')
  say('b')
  t.same(lines, ['a 0', 'b 0'])
  nowMs = 60_000
  say('a')
  nowMs = 300_000
  say('a')
  t.same(lines, ['a 0', 'b 0', 'a 4', 'a 0'])
})
