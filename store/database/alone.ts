import { sql } from 'kysely'
import type { Store } from './database.ts'

/** Does something while nobody else does anything of that name, on any node. It holds a connection besides those that `act` takes. */
export function alone<T>(store: Pick<Store, 'acrossTenants'>, name: string, act: () => Promise<T>): Promise<T> {
  return store.acrossTenants.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db)
    return act()
  })
}
