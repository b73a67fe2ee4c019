import { Client } from 'pg'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { migrate } from '../../../../store/database/migrate.ts'
import { MIGRATIONS } from '../../../../store/migrations/index.ts'
import { emptyDatabase, testDatabase } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

async function query<Row>(databaseUrl: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

t.test('an empty database gets every migration once, in order', async (t) => {
  const url = await emptyDatabase(t)
  t.same(
    await migrate(url, log),
    MIGRATIONS.map(({ name }) => name),
  )
  t.same(await migrate(url, log), [])
})

t.test('processes that start together migrate one after the other', async (t) => {
  const url = await emptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, log)))
  t.equal(applied.flat().length, MIGRATIONS.length)
})

t.test('a failing migration is rolled back and those before it stay', async (t) => {
  const url = await emptyDatabase(t)
  const migrations = [
    { name: '0001-good', sql: 'create table good (id integer)' },
    { name: '0002-bad', sql: 'create table half (id integer); create table good (id integer)' },
  ]
  await t.rejects(migrate(url, log, migrations), { message: /"0002-bad" failed/ })
  t.same(await query(url, 'select name from migrations'), [{ name: '0001-good' }])
  t.same(await query(url, `select to_regclass('half') as half`), [{ half: null }])
})

t.test('a database of a newer version is refused and left alone', async (t) => {
  const url = await testDatabase(t)
  await query(url, `insert into migrations (name) values ('9999-future')`)
  await t.rejects(migrate(url, log), { code: 'configuration', message: /newer Patchbay \(it has "9999-future"/ })
})

t.test('every released migration has a name of its own and they are in order', async (t) => {
  const names = MIGRATIONS.map(({ name }) => name)
  t.same(names, [...new Set(names)].sort())
})

t.test('a database that does not answer is reported as unavailable', async (t) => {
  await t.rejects(migrate('postgres://nobody@127.0.0.1:1/none', log), { code: 'unavailable' })
})
