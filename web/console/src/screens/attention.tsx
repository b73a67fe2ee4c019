import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatList } from '../data/format.ts'
import { useProviders } from '../data/providers.ts'
import { useRead } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Campaign, Trunk, Webhook, WorkloadReport } from '../data/types.ts'
import { t } from '../language/t.ts'
import { buttonClass } from '../ui/button.tsx'
import { Notice } from '../ui/layout.tsx'
import { failingProviders } from './failing-providers.ts'
import { answers, cureOf, saidBy } from './trunk/trunk-state.tsx'

const EVERY_MS = 15_000

/** What stands still or is broken, each with the way to its cure; nothing when all is well. */
export function Attention() {
  const { may } = useSession()
  const providers = useProviders(EVERY_MS)
  const agents = useRead<Agent[]>('/agents')
  const webhooks = useRead<Webhook[]>('/webhooks', { everyMs: EVERY_MS, enabled: may('developer') })
  const workload = useRead<WorkloadReport>('/reports/workload', { everyMs: EVERY_MS })
  const trunks = useRead<Trunk[]>('/trunks', { everyMs: EVERY_MS })
  const campaigns = useRead<Campaign[]>('/api/v/campaign/', { everyMs: EVERY_MS })
  const notes: ReactNode[] = []
  if (workload.data && workload.data.totals.workers === 0) {
    notes.push(
      <Notice key="workers" tone="bad">
        {t('No voice worker is linked, so no call can be answered. Start one:')} <code>npm run patchbay voice</code>
      </Notice>,
    )
  }
  for (const { provider, agents: names } of failingProviders(providers.data?.providers ?? [], agents.data ?? [])) {
    notes.push(
      <Notice
        action={
          <Link className={buttonClass('plain', 'sm')} to="/providers">
            {t('Providers')}
          </Link>
        }
        key={`provider ${provider.provider}`}
        tone="bad"
      >
        {t('{provider} can’t serve {agents}: {why}', {
          provider: provider.title,
          agents: formatList(names, 2),
          why: provider.health.message ?? t('it fails'),
        })}
      </Notice>,
    )
  }
  for (const { webhook_id, url, enabled, disabled_reason, failing_since } of webhooks.data ?? []) {
    // The person who switched one off knows.
    if (enabled ? failing_since === null : disabled_reason === null) continue
    notes.push(
      <Notice
        action={
          <Link
            className={buttonClass('plain', 'sm')}
            params={{ webhookId: webhook_id }}
            to="/developers/webhooks/$webhookId"
          >
            {t('Webhook')}
          </Link>
        }
        key={webhook_id}
        tone={enabled ? 'warn' : 'bad'}
      >
        {enabled
          ? t('The webhook {url} is not taken: see why, mend your server, and it is sent again by itself.', { url })
          : t(
              'The webhook {url} was switched off: {disabled_reason}. Mend your server, switch it on, and send what it missed.',
              { url, disabled_reason },
            )}
      </Notice>,
    )
  }
  for (const trunk of trunks.data ?? []) {
    if (answers(trunk) !== false) continue
    const { trunk_id, name, register, state } = trunk
    const why = saidBy(state?.contact_status ?? 0, state?.contact_reason ?? null)
    notes.push(
      <Notice
        action={
          <Link className={buttonClass('plain', 'sm')} params={{ trunkId: trunk_id }} to="/numbers/trunks/$trunkId">
            {t('Trunk')}
          </Link>
        }
        key={trunk_id}
        tone="bad"
      >
        {register
          ? t('The trunk “{name}” could not register: {why}.', { name, why })
          : t('The trunk “{name}” does not answer: {why}.', { name, why })}{' '}
        {cureOf(trunk)}
      </Notice>,
    )
  }
  for (const { slug, name, pause_reason } of campaigns.data ?? []) {
    if (pause_reason === null) continue
    notes.push(
      <Notice
        action={
          <Link className={buttonClass('plain', 'sm')} params={{ slug }} to="/campaigns/$slug">
            {t('Campaign')}
          </Link>
        }
        key={slug}
        tone="warn"
      >
        {pause_reason === 'budget_reached'
          ? t('The campaign “{name}” stands still: its budget is used up. Raise it to go on.', { name })
          : t(
              'The campaign “{name}” stands still: too many of its calls failed. Look at their causes, then resume it.',
              { name },
            )}
      </Notice>,
    )
  }
  return notes.length === 0 ? null : <div className="space-y-2">{notes}</div>
}
