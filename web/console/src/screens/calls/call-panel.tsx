import { Link } from '@tanstack/react-router'
import { formatDuration, formatInstant, formatMs, formatUsd, formatWord } from '../../data/format.ts'
import type { Call } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Facts } from '../../ui/layout.tsx'
import { CallStatus, isRunning, partyOf } from '../call-status.tsx'
import { lengthOf } from './columns.tsx'

/** A call beside the list it is in: who, what came of it, and what was said. */
export function CallPanel({ call }: { call: Call }) {
  const { agent_id, agent_name, summary, analysis, disposition, transcript, campaign_slug, latency, cost } = call
  return (
    <>
      <div className="flex items-start justify-between gap-3">
        <p className="min-w-0 text-md font-semibold wrap-anywhere">{partyOf(call)}</p>
        <CallStatus call={call} />
      </div>
      {summary && <p className="text-pretty wrap-anywhere">{summary}</p>}
      <Facts
        rows={[
          [
            t('Agent'),
            <Link className="hover:underline" key="agent" params={{ agentId: agent_id }} to="/agents/$agentId">
              {agent_name}
            </Link>,
          ],
          [t('When'), formatInstant(call.created_at)],
          [t('Length'), formatDuration(lengthOf(call))],
          ...[[t('Outcome'), formatWord(analysis?.disposition ?? disposition)] as const].filter(([, word]) => word),
          ...(campaign_slug === null
            ? []
            : [
                [
                  t('Campaign'),
                  <Link
                    className="hover:underline"
                    key="campaign"
                    params={{ slug: campaign_slug }}
                    to="/campaigns/$slug"
                  >
                    {campaign_slug}
                  </Link>,
                ] as const,
              ]),
          [t('Turn p50'), formatMs(latency.p50_ms)],
          [t('Cost'), formatUsd(cost.total_cost)],
          [t('Id'), <CopiedId id={call.call_log_id} key="id" />],
        ]}
      />
      {transcript.length === 0 ? (
        <p className="text-muted">
          {isRunning(call) ? t('Nothing was said yet.') : t('Nothing was said in this call.')}
        </p>
      ) : (
        <ol aria-label={t('Transcript')} className="space-y-2 text-sm">
          {transcript.map(({ role, text, start_ms }) => (
            <li key={`${role} ${start_ms}`}>
              <span className={`text-xs font-semibold ${role === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
                {role === 'user' ? t('Caller') : t('Agent')}
              </span>
              <p className="whitespace-pre-wrap wrap-anywhere">{text}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  )
}
