import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { appendCallEvents } from '../../../../store/calls/write-calls.ts'
import { openStore } from '../../../../store/database/database.ts'
import { migrate } from '../../../../store/database/migrate.ts'
import { pgbouncerMissing, startPgBouncer } from '../../../support/instance/pgbouncer.ts'
import { emptyDatabase, testFolder } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

t.test('a pooler in session mode serves as PostgreSQL itself does', { skip: pgbouncerMissing }, async (t) => {
  const pooler = await startPgBouncer(t, { mode: 'session', database: await emptyDatabase(t) })
  t.ok((await migrate(pooler.url, log)).length > 20)
  t.same(await migrate(pooler.url, log), [])
  for (let node = 0; node < 3; node++) {
    const store = openStore({ databaseUrl: pooler.url })
    // A named statement, over every connection of a node, on connections that another node had before.
    await Promise.all(Array.from({ length: 20 }, () => appendCallEvents(store, [])))
    t.equal((await store.pool.query('show statement_timeout')).rows[0].statement_timeout, '30s')
    t.equal(await store.fault(), undefined)
    await store.close()
  }
})

for (const ignore of [undefined, 'statement_timeout,idle_in_transaction_session_timeout,extra_float_digits']) {
  t.test(
    `a pooler in transaction mode is refused before anything is migrated (ignored: ${ignore})`,
    { skip: pgbouncerMissing },
    async (t) => {
      const database = await emptyDatabase(t)
      const pooler = await startPgBouncer(t, { mode: 'transaction', database, ...(ignore && { ignore }) })
      await t.rejects(migrate(pooler.url, log), {
        code: 'configuration',
        message: /needs session pooling.*Nothing was changed/,
      })
      const client = new pg.Client({ connectionString: database })
      await client.connect()
      t.teardown(() => client.end())
      t.equal((await client.query("select to_regclass('migrations') as there")).rows[0].there, null)
    },
  )
}

t.test('a password in a file serves new connections after it was rotated', { skip: pgbouncerMissing }, async (t) => {
  const pooler = await startPgBouncer(t, { mode: 'session' })
  const file = join(await testFolder(t), 'password')
  await writeFile(file, 'first\n')
  const url = new URL(pooler.url)
  url.password = ''
  url.searchParams.set('passwordfile', file)
  const store = openStore({ databaseUrl: url.href })
  t.teardown(() => store.close())
  await store.pool.query('select 1')
  await pooler.rotate('second')
  const late = openStore({ databaseUrl: url.href })
  t.teardown(() => late.close())
  await t.rejects(late.pool.query('select 1'), 'the file still has the old one')
  await writeFile(file, 'second\n')
  await late.pool.query('select 1')
  t.equal(await late.fault(), undefined)
})
