import { Gauge, type Registry } from 'prom-client'
import type { Store } from '../database/database.ts'

/** Deliveries of webhooks that are due, and since when the first one is: the same from every job worker. */
export function countDeliveries(registry: Registry, { pool }: Pick<Store, 'pool'>): void {
  const waiting = new Gauge({
    name: 'patchbay_webhook_deliveries_due',
    help: 'Deliveries of webhooks that are due and not made yet',
    registers: [registry],
    collect: () => read(),
  })
  const oldest = new Gauge({
    name: 'patchbay_webhook_oldest_due_seconds',
    help: 'How long the first of the due deliveries has been due; 0 when none is',
    registers: [registry],
    collect: () => read(),
  })
  let reading: Promise<void> | undefined
  const read = (): Promise<void> => {
    reading ??= (async () => {
      const found = await pool
        .query<{ count: number; age: number | null }>(
          `select count(*)::int as count, extract(epoch from now() - min(next_attempt_at))::float8 as age
             from webhook_deliveries where status = 'pending' and next_attempt_at <= now()`,
        )
        .catch(() => undefined)
      waiting.remove()
      oldest.remove()
      const row = found?.rows[0]
      if (row === undefined) return
      waiting.set(row.count)
      oldest.set(row.age ?? 0)
    })().finally(() => {
      reading = undefined
    })
    return reading
  }
}
