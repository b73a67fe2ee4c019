import { Gauge, type Registry } from 'prom-client'
import type { Store } from './database.ts'

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
}
