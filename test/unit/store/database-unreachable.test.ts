import { sql } from 'kysely'
import t from 'tap'
import { isUnreachable, openStore } from '../../../store/database/database.ts'
import { testDatabase } from '../../support/instance/services.ts'

t.test('a database that is not there is told from a query that is wrong', async (t) => {
  const gone = openStore({ databaseUrl: 'postgres://127.0.0.1:1/nothing' })
  const nowhere = openStore({ databaseUrl: 'postgres://x/nothing?host=/nowhere' })
  const there = openStore({ databaseUrl: await testDatabase(t) })
  t.teardown(() => Promise.all([gone.close(), nowhere.close(), there.close()]))
  const faultOf = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (error: unknown) => error,
    )
  t.equal(isUnreachable(await faultOf(gone.pool.query('select 1'))), true)
  t.equal(isUnreachable(await faultOf(nowhere.pool.query('select 1'))), true)
  t.equal(isUnreachable(await faultOf(there.pool.query('select nothing from nowhere'))), false)
  t.equal(isUnreachable(await faultOf(there.pool.query('select pg_terminate_backend(pg_backend_pid())'))), true)
  t.equal(isUnreachable(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })), false)
})

t.test(
  'a connection that breaks between two queries of a transaction fails the next one, and nothing else',
  async (t) => {
    const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
    t.teardown(() => store.close())
    const broken = store.acrossTenants.transaction().execute(async (db) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
      await store.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await new Promise((resolve) => setTimeout(resolve, 300))
      await sql`select 1`.execute(db)
    })
    const error = await broken.then(
      () => undefined,
      (error: unknown) => error,
    )
    t.ok(isUnreachable(error), String(error))
    t.match((await store.pool.query('select 1 as one')).rows, [{ one: 1 }], 'the pool goes on')
  },
)
