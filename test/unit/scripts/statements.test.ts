import t from 'tap'
import { filesThatAsk, readStatements } from '../../../scripts/statements.ts'

t.test('every statement of the specification has a test that is there, or says why none can', async (t) => {
  const { statements, faults } = readStatements()
  t.same(faults, [])
  t.ok(statements.length > 200)
})

t.test('a statement without a test, and a test that is not there, are faults', async (t) => {
  const text = [
    '- here: unit/scripts/statements.test.ts › a statement without a test, and a test that is not there, are faults',
    '- gone: unit/scripts/statements.test.ts › this one',
    '| 1.1 | field | has a test | here |',
    '| 1.2 | field | has none that is there | gone |',
    '| 1.3 | field | names another | other |',
    '| 1.4 | field | can have none | — it is in nobody’s hands |',
  ].join('\n')
  const { statements, faults } = readStatements(text)
  t.same(
    statements.map(({ number, tests, why }) => [number, tests.length, why]),
    [
      ['1.1', 1, undefined],
      ['1.2', 1, undefined],
      ['1.3', 0, undefined],
      ['1.4', 0, 'it is in nobody’s hands'],
    ],
  )
  t.same(faults, [
    '1.3 names the test "other", which is not in the list',
    '1.3 has no test: names another',
    'test/unit/scripts/statements.test.ts has no test "this one"',
  ])
})

t.test('those that ask an api can be run over several nodes of one', async (t) => {
  const files = filesThatAsk(readStatements().statements)
  t.ok(files.includes('test/unit/api/agents.test.ts'))
  t.notOk(files.includes('test/unit/runtime/dialing/pacing.test.ts'))
  t.equal(new Set(files).size, files.length)
})
