import { formatDayTime, formatDuration, formatMs, formatUsd, formatWord } from '../../data/format.ts'
import type { Call } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { CopiedId } from '../../ui/copied-id.tsx'
import type { ListColumn } from '../../ui/list/columns.tsx'
import { CallStatus, partyOf } from '../call-status.tsx'

export const CALL_COLUMNS: readonly ListColumn<Call>[] = [
  { id: 'agent', name: t('Agent'), width: 'minmax(6rem,1fr)', cell: ({ agent_name }) => agent_name },
  { id: 'with', name: t('With'), width: 'minmax(9rem,11rem)', cell: (call) => <Party call={call} /> },
  { id: 'status', name: t('Status'), width: '6.5rem', cell: (call) => <CallStatus call={call} /> },
  {
    id: 'summary',
    name: t('Summary'),
    width: 'minmax(8rem,2fr)',
    fromPx: 1_000,
    cell: ({ summary }) => <span className="text-muted">{summary}</span>,
  },
  {
    id: 'outcome',
    name: t('Outcome'),
    width: '8rem',
    fromPx: 900,
    cell: ({ disposition, analysis }) => (
      <span className="text-muted">{formatWord(analysis?.disposition ?? disposition)}</span>
    ),
  },
  {
    id: 'campaign',
    name: t('Campaign'),
    width: '8rem',
    isExtra: true,
    cell: ({ campaign_slug }) => <span className="text-muted">{campaign_slug}</span>,
  },
  {
    id: 'duration',
    name: t('Length'),
    width: '4.5rem',
    align: 'end',
    isSortable: true,
    cell: (call) => formatDuration(lengthOf(call)),
  },
  {
    id: 'latency',
    name: t('Turn p50'),
    width: '5rem',
    align: 'end',
    fromPx: 760,
    cell: ({ latency }) => formatMs(latency.p50_ms),
  },
  {
    id: 'cost',
    name: t('Cost'),
    width: '5rem',
    align: 'end',
    fromPx: 680,
    isSortable: true,
    cell: ({ cost }) => formatUsd(cost.total_cost),
  },
  {
    id: 'when',
    name: t('When'),
    width: '9rem',
    align: 'end',
    cell: ({ created_at }) => <span className="text-muted">{formatDayTime(created_at)}</span>,
  },
  {
    id: 'id',
    name: t('Id'),
    width: '8rem',
    isExtra: true,
    cell: ({ call_log_id }) => (
      <span className="relative z-1">
        <CopiedId id={call_log_id} />
      </span>
    ),
  },
]

function Party({ call }: { call: Call }) {
  const { call_type, direction } = call
  return (
    <>
      {call_type === 'phone' && <span className="text-muted">{direction === 'inbound' ? t('from') : t('to')} </span>}
      {partyOf(call)}
    </>
  )
}

/** A running call's length counts with each reading of the list. */
export function lengthOf({ duration, status, answered_at }: Call): number | null {
  if (status !== 'in_progress' || answered_at === null) return duration
  return Math.max(0, Math.round((Date.now() - Date.parse(answered_at)) / 1000))
}
