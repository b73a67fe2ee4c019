import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SETTINGS } from '../../../config/schema.ts'
import { configurationTable, withTable } from '../../../scripts/configuration-table.ts'

t.test('the table of docs/configuration.md is the one of config/schema.ts', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8')
  t.equal(page, withTable(page), 'run: node scripts/configuration-table.ts')
})

t.test('the table has a row for every setting', async (t) => {
  const table = configurationTable()
  for (const { env } of Object.values(SETTINGS)) t.match(table, `| \`${env}\` |`)
})

t.test('a text without the marks is refused', async (t) => {
  t.throws(() => withTable('# Nothing'), /has no/)
})
