import type { ReactNode } from 'react'
import { useRead } from '../data/queries.ts'
import type { WorkloadReport } from '../data/types.ts'
import { Notice } from '../ui/layout.tsx'

const EVERY_MS = 15_000

/** What stands still or is broken, each with the way to its cure; nothing when all is well. */
export function Attention() {
  const workload = useRead<WorkloadReport>('/reports/workload', { everyMs: EVERY_MS })
  const notes: ReactNode[] = []
  if (workload.data && workload.data.totals.workers === 0) {
    notes.push(
      <Notice key="workers" tone="bad">
        No voice worker is linked, so no call can be answered. Start one: <code>npm run patchbay voice</code>
      </Notice>,
    )
  }
  return notes.length === 0 ? null : <div className="space-y-2">{notes}</div>
}
