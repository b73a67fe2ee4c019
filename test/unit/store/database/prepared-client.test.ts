import { sql } from 'kysely'
import t from 'tap'
import { openStore } from '../../../../store/database/database.ts'
import { PREPARED } from '../../../../store/database/prepared-client.ts'
import { testDatabase } from '../../../support/instance/services.ts'

t.test(
  'a marked statement is prepared once by its connection and answers each time by the values of that time',
  async (t) => {
    const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 1 })
    t.teardown(() => store.close())
    const doubled = (n: number) =>
      sql<{ doubled: number }>`${PREPARED} select ${n}::int * 2 as doubled`.execute(store.acrossTenants)
    for (const n of [1, 2, 3]) t.same((await doubled(n)).rows, [{ doubled: n * 2 }])
    await sql`select ${1}::int as unmarked`.execute(store.acrossTenants)
    const kept = await store.pool.query('select statement from pg_prepared_statements order by statement')
    t.same(kept.rows, [{ statement: '/* prepared */ select $1::int * 2 as doubled' }])
  },
)
