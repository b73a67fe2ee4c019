import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../data/queries.ts'
import type { Campaign, Trunk, WorkloadReport } from '../data/types.ts'
import { buttonClass } from '../ui/button.tsx'
import { Notice } from '../ui/layout.tsx'

const EVERY_MS = 15_000

/** What stands still or is broken, each with the way to its cure; nothing when all is well. */
export function Attention() {
  const workload = useRead<WorkloadReport>('/reports/workload', { everyMs: EVERY_MS })
  const trunks = useRead<Trunk[]>('/trunks', { everyMs: EVERY_MS })
  const campaigns = useRead<Campaign[]>('/api/v/campaign/', { everyMs: EVERY_MS })
  const notes: ReactNode[] = []
  if (workload.data && workload.data.totals.workers === 0) {
    notes.push(
      <Notice key="workers" tone="bad">
        No voice worker is linked, so no call can be answered. Start one: <code>npm run patchbay voice</code>
      </Notice>,
    )
  }
  for (const { trunk_id, name, register, state } of trunks.data ?? []) {
    const status = state?.contact_status
    if (status == null || status < 300) continue
    notes.push(
      <Notice
        action={
          <Link className={buttonClass('plain', 'sm')} search={{ tab: 'trunks' }} to="/numbers">
            Trunks
          </Link>
        }
        key={trunk_id}
        tone="bad"
      >
        The trunk “{name}” {register ? 'could not register' : 'does not answer'}: {status} {state?.contact_reason}.
        Check its host, user name and password.
      </Notice>,
    )
  }
  for (const { slug, name, pause_reason } of campaigns.data ?? []) {
    if (pause_reason === null) continue
    notes.push(
      <Notice
        action={
          <Link className={buttonClass('plain', 'sm')} params={{ slug }} to="/campaigns/$slug">
            Campaign
          </Link>
        }
        key={slug}
        tone="warn"
      >
        The campaign “{name}” stands still:{' '}
        {pause_reason === 'budget_reached'
          ? 'its budget is used up. Raise it to go on.'
          : 'too many of its calls failed. Look at their causes, then resume it.'}
      </Notice>,
    )
  }
  return notes.length === 0 ? null : <div className="space-y-2">{notes}</div>
}
