import { Gauge, type Registry } from 'prom-client'
import type { Store } from './database.ts'
import { DATABASE_TIME } from './database-clock.ts'

/** The connections of this process's pool: `busy` and `idle` ones, and who waits for one. */
export function countPool(registry: Registry, { pool }: Pick<Store, 'pool'>): void {
  new Gauge({
    name: 'patchbay_database_connections',
    help: 'Database connections of this process, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
    },
  })
  new Gauge({
    name: 'patchbay_database_waiting',
    help: 'Queries that wait for a database connection of this process',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount)
    },
  })
  new Gauge({
    name: 'patchbay_database_connections_limit',
    help: 'Most database connections of this process',
    registers: [registry],
    collect() {
      this.set(pool.options.max)
    },
  })
  new Gauge({
    name: 'patchbay_clock_ahead_seconds',
    help: "How far this machine's clock is ahead of the database's; tokens, calling hours and times of calls go by the database's",
    registers: [registry],
    async collect() {
      this.remove()
      const askedMs = Date.now()
      const found = await pool.query<{ ms: number }>(DATABASE_TIME).catch(() => undefined)
      const row = found?.rows[0]
      // Half of the way there and back.
      if (row !== undefined) this.set(((askedMs + Date.now()) / 2 - row.ms) / 1_000)
    },
  })
}
