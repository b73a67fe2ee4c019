import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../..')
const SAID = /(?:tell|error)\(\s*'([a-z_]+)'|code: '([a-z_]+)', message/g

t.test('docs/realtime.md has each code that a session may be refused something with, and no other', async (t) => {
  const said = new Set<string>()
  for await (const file of glob('api/realtime/**/*.ts', { cwd: ROOT })) {
    const source = await readFile(join(ROOT, file), 'utf8')
    for (const [, told, code = told] of source.matchAll(SAID)) if (code !== undefined) said.add(code)
  }
  const page = await readFile(join(ROOT, 'docs/realtime.md'), 'utf8')
  const [, table = ''] = page.split('| code | what to do |')
  const rows = table
    .split('\n\n')[0]!
    .split('\n')
    .map((row) => row.split(' | ')[0]!)
  const listed = rows.flatMap((first) => [...first.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code))
  t.same(listed.toSorted(), [...said].toSorted())
})
