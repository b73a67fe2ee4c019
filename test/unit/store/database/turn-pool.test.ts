import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { isUnreachable, openStore } from '../../../../store/database/database.ts'
import type { Tenant } from '../../../../store/database/tenant.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const PATIENT_MS = 300_000
/** A connection that is made on a busy machine takes less. */
const HASTY_MS = 4_000

/** Holds a connection until it is told to let go; resolves once it has it. */
async function hold(tenant: Tenant): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const ended = tenant.db.connection().execute(async (db) => {
    await sql`select 1`.execute(db)
    held.resolve()
    await over.promise
  })
  ended.catch(held.reject)
  await held.promise
  return async () => {
    over.resolve()
    await ended
  }
}

t.test(
  'a workspace leaves connections to others, more of them while they are about, and waits for its own',
  async (t) => {
    const databaseUrl = await testDatabase(t)
    const open = (acquireTimeoutMs: number) => {
      const opened = openStore({ databaseUrl, maxConnections: 6, acquireTimeoutMs })
      t.teardown(() => opened.close())
      return opened
    }
    const store = open(PATIENT_MS)
    const [greedy, quiet] = [store.tenant(randomUUID()), store.tenant(randomUUID())]
    const [first, second] = [await hold(greedy), await hold(greedy)]
    const one = sql<{ one: number }>`select 1 as one`
    let served = false
    const third = one.execute(greedy.db).then(() => {
      served = true
    })
    t.same((await one.execute(quiet.db)).rows, [{ one: 1 }])
    t.same((await store.pool.query('select 2 as two')).rows, [{ two: 2 }])
    t.notOk(served)
    await first!()
    t.same((await one.execute(quiet.db)).rows, [{ one: 1 }])
    t.notOk(served, 'while others are about it has a quarter')
    await second!()
    await third
    t.ok(served, 'what it gives back is its own again')

    const hasty = open(HASTY_MS).tenant(randomUUID())
    const all = [await hold(hasty), await hold(hasty)]
    const error = await one.execute(hasty.db).then(
      () => undefined,
      (caught) => caught,
    )
    t.ok(isUnreachable(error), 'who waits too long is told as by the pool')
    await Promise.all(all.map((letGo) => letGo()))
    t.same((await one.execute(hasty.db)).rows, [{ one: 1 }], 'and takes nothing along')
  },
)

t.test('a tenant is the same one however often it is asked for, and another workspace’s is another', async (t) => {
  const store = openStore({ databaseUrl: 'postgres://localhost:1/none' })
  t.teardown(() => store.close())
  const [a, b] = [randomUUID(), randomUUID()]
  t.equal(store.tenant(a), store.tenant(a))
  t.not(store.tenant(a), store.tenant(b))
})
