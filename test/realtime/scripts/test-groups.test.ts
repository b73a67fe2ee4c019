import t from 'tap'
import { needsMachine, needsPriority, testGroups } from '../../../scripts/test-groups.ts'

const SOURCES: Record<string, string> = {
  'test/a/one.test.ts': "import t from 'tap'",
  'test/a/two.test.ts': "process.once('exit', () => {})",
  'test/a/deep/three.test.ts': 'process.env.PORT',
  'test/a/four.test.ts': "import { startInstance } from '../../support/instance/instance.ts'",
  'test/b/five.test.ts': '',
}

t.test('files of a room share a process; what touches it, or waits for others, has its own', async (t) => {
  const groups = testGroups(Object.keys(SOURCES), (file) => SOURCES[file] ?? '')
  t.same(groups, [
    ['test/a/one.test.ts', 'test/a/deep/three.test.ts'],
    ['test/a/two.test.ts'],
    ['test/a/four.test.ts'],
    ['test/b/five.test.ts'],
  ])
})

t.test('no group is so long that everything waits for it', async (t) => {
  const files = Array.from({ length: 20 }, (_, at) => `test/a/${at}.test.ts`)
  const groups = testGroups(files, () => '')
  t.same(groups.flat().sort(), files.sort())
  t.ok(groups.every(({ length }) => length <= 8))
})

t.test(
  'what sounds in real time is beside none of its kind, and what looks at priorities has everybody’s',
  async (t) => {
    const read = (source: string) => () => source
    t.ok(needsMachine('test/a.test.ts', read("import { openCall } from '../../support/page-call.ts'")))
    t.notOk(needsMachine('test/a.test.ts', read(SOURCES['test/a/two.test.ts'] ?? '')))
    t.ok(needsMachine('test/a.test.ts', read('\n/** Runs alone: it listens. */\n')))
    t.ok(needsPriority('test/a.test.ts', read("import { getPriority } from 'node:os'")))
    t.notOk(needsPriority('test/a.test.ts', read('')))
    const source = "import { openCall } from '../../support/page-call.ts'"
    const groups = testGroups(['test/a.test.ts', 'test/b.test.ts'], (file) => (file.includes('b.') ? source : ''))
    t.same(groups, [['test/a.test.ts'], ['test/b.test.ts']])
  },
)
