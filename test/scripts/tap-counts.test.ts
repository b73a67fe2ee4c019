import t from 'tap'
import { countResults } from '../../scripts/tap-counts.ts'

t.test('the closing comment of a run is counted, not those of its files', async (t) => {
  const tap = '    # { total: 2, pass: 2 }\nok 1 - a\n\n# { total: 12, pass: 10, fail: 1, skip: 1 }\n# time=5ms\n'
  t.same(countResults(tap), { passed: 10, failed: 1 })
})

t.test('a run that was cut off counts nothing', async (t) => {
  t.same(countResults('ok 1 - a\n'), { passed: 0, failed: 0 })
})
