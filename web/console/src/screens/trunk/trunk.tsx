import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatCount, formatDuration, formatInstant, formatMs, formatShare } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Trunk, TrunkHealth } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Badge, Card, Loading, Notice, PageHead, Stat } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { TrunkTestCall } from './test-call.tsx'
import { TrunkCheck } from './trunk-check.tsx'
import { TrunkDialog } from './trunk-dialog.tsx'
import { answers, cureOf, saidBy, TrunkState } from './trunk-state.tsx'
import { TrunkWeek } from './trunk-week.tsx'

const EVERY_MS = 5_000
const HEALTH_EVERY_MS = 10_000

/** One SIP trunk: how it stands and why, what it answered over time, and a look at it now. */
export function Screen() {
  const { trunkId } = useParams({ strict: false })
  const { may } = useSession()
  const navigate = useNavigate()
  const path = `/trunks/${trunkId}`
  const { data: trunk, error, refetch } = useRead<Trunk>(path, { everyMs: EVERY_MS })
  const [isEdited, setEdited] = useState(false)
  const [isRemoved, setRemoved] = useState(false)
  const remove = useWrite(() => [path, { method: 'DELETE' }], {
    done: t('Removed'),
    changes: ['/trunks'],
    onDone: () => void navigate({ to: '/numbers', search: { tab: 'trunks' } }),
  })
  if (trunk === undefined) return error ? <Fault error={error} retry={() => void refetch()} /> : <Loading />
  return (
    <>
      <PageHead
        actions={
          may('developer') && (
            <>
              <Button onClick={() => setEdited(true)}>{t('Edit')}</Button>
              <Button aria-label={t('Remove')} icon="trash" kind="danger" onClick={() => setRemoved(true)} />
            </>
          )
        }
        id={trunk.trunk_id}
        lead={
          <>
            <Link className="hover:underline" search={{ tab: 'trunks' }} to="/numbers">
              {t('SIP trunks')}
            </Link>{' '}
            · {trunk.host} · {trunk.transport.toUpperCase()}
          </>
        }
        title={
          <span className="flex items-center gap-3">
            <span className="truncate">{trunk.name}</span> <TrunkState trunk={trunk} />
          </span>
        }
      />
      <div className="space-y-4">
        <Standing trunk={trunk} />
        <Figures trunk={trunk} />
        <div className="grid gap-4 xl:grid-cols-2">
          <TrunkCheck mayCheck={may('developer')} trunk={trunk} />
          <Health path={`${path}/health`} />
        </div>
        {may('developer') && <TrunkTestCall trunk={trunk} />}
        <Outages trunk={trunk} />
      </div>
      {isEdited && <TrunkDialog onClose={() => setEdited(false)} trunk={trunk} />}
      <Confirm
        action={t('Remove')}
        onClose={() => setRemoved(false)}
        onConfirm={() => remove.mutateAsync()}
        open={isRemoved}
        title={t('Remove the trunk {name}?', { name: trunk.name })}
      >
        {t('Its numbers can no longer be reached, and its stored password is gone.')}
      </Confirm>
    </>
  )
}

/** What is wrong now, since when, and what to do. */
function Standing({ trunk }: { trunk: Trunk }) {
  const cure = cureOf(trunk)
  if (cure === undefined) return null
  const { state, events } = trunk
  const since = answers(trunk) === false && events[0]?.type === 'down' ? events[0].at : undefined
  return (
    <Notice tone="bad">
      {state && <strong>{saidBy(state.contact_status ?? 0, state.contact_reason)}. </strong>}
      {since && `${t('Since {at}.', { at: formatInstant(since) })} `}
      {cure}
    </Notice>
  )
}

function Figures({ trunk: { state, max_concurrent_calls } }: { trunk: Trunk }) {
  const byStatus = Object.entries(state?.by_status ?? {}).sort(([, a], [, b]) => b - a)
  return (
    <Card>
      <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 xl:grid-cols-5">
        <Stat
          label={t('Calls now')}
          note={t('at most {n}', { n: formatCount(max_concurrent_calls) })}
          value={formatCount(state?.active_calls)}
        />
        <Stat
          label={t('Answered')}
          note={state === null ? undefined : t('{n} of {all}', { n: state.answered, all: state.attempts })}
          value={formatShare(state?.asr)}
        />
        <Stat label={t('Average length')} value={formatDuration(state?.acd_seconds)} />
        <Stat label={t('Ring after')} value={formatMs(state?.pdd_ms)} />
        <Stat
          label={t('Redirected')}
          note={byStatus.map(([status, count]) => `${status}: ${formatCount(count)}`).join(', ')}
          value={formatCount(state?.failovers)}
        />
      </div>
    </Card>
  )
}

const SHOWN_ATTEMPTS = 12

function Health({ path }: { path: string }) {
  const { data, error } = useRead<TrunkHealth>(path, { everyMs: HEALTH_EVERY_MS })
  return (
    <Card title={t('What it answered')}>
      {error ? (
        <Fault error={error} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <>
          <TrunkWeek hours={data.hours} />
          {data.attempts.length > 0 && (
            <ul aria-label={t('Last answers')} className="mt-4 divide-y divide-line text-sm">
              {data.attempts.slice(0, SHOWN_ATTEMPTS).map(({ at, method, ok, status, reason }) => (
                <li className="flex items-center gap-3 py-1.5" key={`${at} ${method} ${reason}`}>
                  <span className="w-20 shrink-0 text-muted" title={formatInstant(at)}>
                    {formatAgo(at)}
                  </span>
                  <span className="w-20 shrink-0 font-mono text-xs">{method}</span>
                  <span className="min-w-0 truncate" title={saidBy(status, reason)}>
                    <Badge tone={ok ? 'good' : 'bad'}>{saidBy(status, reason)}</Badge>
                  </span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Card>
  )
}

function Outages({ trunk: { events } }: { trunk: Trunk }) {
  if (events.length === 0) return null
  return (
    <Card flush title={t('When it failed and came back')}>
      <Table
        columns={[
          { name: t('Happened'), cell: ({ at }) => formatInstant(at) },
          {
            name: t('State'),
            cell: ({ type }) =>
              type === 'up' ? (
                <Badge tone="good">{t('Answers again')}</Badge>
              ) : (
                <Badge tone="bad">{t('Fell silent')}</Badge>
              ),
          },
          { name: t('It said'), cell: ({ status, reason }) => saidBy(status, reason) },
        ]}
        label={t('When it failed and came back')}
        rowKey={({ at, type }) => `${at} ${type}`}
        rows={events}
      />
    </Card>
  )
}
