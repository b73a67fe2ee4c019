import t from 'tap'
import { countResults, failuresOf } from '../../../scripts/tap-results.ts'

t.test('the closing comment of a run is counted, not those of its files', async (t) => {
  const tap = '    # { total: 2, pass: 2 }\nok 1 - a\n\n# { total: 12, pass: 10, fail: 1, skip: 1 }\n# time=5ms\n'
  t.same(countResults(tap), { passed: 10, failed: 1 })
})

t.test('a run that was cut off counts nothing', async (t) => {
  t.same(countResults('ok 1 - a\n'), { passed: 0, failed: 0 })
})

t.test('what failed is told once, with the tests around it and what is known of it', async (t) => {
  const tap = `TAP version 14
# Subtest: calls
    # Subtest: that ring
        ok 1 - should be equal
        not ok 2 - the counts come true
          ---
          diff: |
            - 1
            + 2
          at:
            lineNumber: 7
          ...
        1..2
        # failed 1 of 2 tests
    not ok 1 - that ring # time=5.1ms
      ---
      at:
        lineNumber: 3
      ...
    not ok 2 - not yet # TODO
    1..2
not ok 1 - calls # time=7.5ms

# Subtest: a suite that ended too soon
    1..0
not ok 2 - a suite that ended too soon # time=9ms
1..2
`
  t.same(failuresOf(tap), [
    'calls > that ring > the counts come true\n  diff: |\n    - 1\n    + 2\n  at:\n    lineNumber: 7',
    'a suite that ended too soon',
  ])
  t.same(failuresOf('ok 1 - a\n# Subtest: b\n    ok 1 - c\nok 2 - b\n'), [])
})
