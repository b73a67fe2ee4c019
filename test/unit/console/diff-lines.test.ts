import t from 'tap'
import { fieldChanges } from '../../../api/agents/field-changes.ts'
import { diffLines } from '../../../web/console/src/screens/agent/versions/diff-lines.ts'

const SIGNS = { same: ' ', out: '-', in: '+', gap: '@' }

/** The lines of the one field that differs, as a diff writes them. */
function shown(from: unknown, to: unknown, isBack = false): string[] {
  const [change] = fieldChanges({ field: from }, { field: to })
  return change === undefined ? [] : diffLines(change, isBack).map(({ kind, text }) => `${SIGNS[kind]}${text}`)
}

const lines = (...texts: string[]) => texts.join('\n')
const LONG = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`)

t.test('a text shows the lines that go and come, and those around them', async (t) => {
  t.same(shown(lines('a', 'b', 'c'), lines('a', 'x', 'y', 'c')), [' a', '-b', '+x', '+y', ' c'])
  const changed = LONG.with(4, 'five').with(24, 'twenty-five')
  const both = shown(LONG.join('\n'), changed.join('\n'))
  t.same(both.filter((line) => line.startsWith('@')).length, 1, 'one place of lines left out')
  t.same(
    both.filter((line) => /^[-+]/.test(line)),
    ['-line 5', '+five', '-line 25', '+twenty-five'],
  )
})

t.test('shown back, what came goes, and goes first', async (t) => {
  t.same(shown(lines('a', 'b', 'c'), lines('a', 'x', 'y', 'c'), true), [' a', '-x', '-y', '+b', ' c'])
  t.same(shown('nine', 'ten', true), ['-ten', '+nine'])
})

t.test('other values are shown in lines, without those that both begin and end with', async (t) => {
  t.same(shown('', 'Hello'), ['+Hello'])
  t.same(shown(0.7, 0.2), ['-0.7', '+0.2'])
  t.same(shown(null, { max: 3 }), ['+{', '+  "max": 3', '+}'])
  const tools = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({ name, type: 'hang_up' }))
  const named = tools.with(3, { name: 'D', type: 'hang_up' })
  const said = shown(tools, named)
  t.same(
    said.filter((line) => /^[-+]/.test(line)),
    ['-    "name": "d",', '+    "name": "D",'],
  )
  t.equal(said.length, 2 + 2 * 4, 'three lines on each side, and the places of the others')
})
