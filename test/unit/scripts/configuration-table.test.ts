import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SETTINGS } from '../../../config/schema.ts'
import { configurationTable, withTable } from '../../../scripts/configuration-table.ts'

t.test("the README's configuration table is the one of config/schema.ts", async (t) => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
  t.equal(readme, withTable(readme), 'run: node scripts/configuration-table.ts')
})

t.test('the table has a row for every setting', async (t) => {
  const table = configurationTable()
  for (const { env } of Object.values(SETTINGS)) t.match(table, `| \`${env}\` |`)
})

t.test('a text without the marks is refused', async (t) => {
  t.throws(() => withTable('# Nothing'), /has no/)
})
