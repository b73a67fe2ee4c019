import t from 'tap'
import { isUnreachable, openStore } from '../../store/database.ts'
import { testDatabase } from '../support/services.ts'

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
