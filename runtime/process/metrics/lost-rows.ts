import { Counter } from 'prom-client'

/** `refused`: the database does not take the row; `unreachable`: it was away too long; `overflow`: too much waited for it. */
type LossReason = 'refused' | 'unreachable' | 'overflow'

/** Rows this process could not write and gave up. The roles put it on their metrics pages. */
export const lostRows = new Counter({
  name: 'patchbay_lost_rows_total',
  help: 'Rows that were given up, by table and why: refused, unreachable, overflow',
  labelNames: ['table', 'reason'] as const,
  registers: [],
})

// A counter that appears with its first count hides that one from a query of increases.
for (const table of ['call_events', 'calls', 'call_turns']) lostRows.inc({ table, reason: 'refused' }, 0)

export function countLostRows(table: string, reason: LossReason, rows = 1): void {
  lostRows.inc({ table, reason }, rows)
}
