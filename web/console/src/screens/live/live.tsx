import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { CALL_TYPES, useFeed } from '../../data/feed.ts'
import { formatDuration } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Call, Page, Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Card, Empty, Loading, PageHead } from '../../ui/layout.tsx'
import { CallStatus, partyOf } from '../call-status.tsx'
import { Supervise } from './supervise.tsx'

/** The stream tells what changes; this is for what it may not. */
const EVERY_MS = 5_000
const FEED = `/events?types=${CALL_TYPES.join(',')}`
const SHOWN_TURNS = 4
const MAX_SHOWN = 60

/** Every running call with the last things said in it. */
export function Screen() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const options = { everyMs: EVERY_MS }
  useFeed(FEED, CALL_TYPES, ['/calls'])
  const talking = useRead<Page<Call>>('/calls/logs', {
    query: { status: 'in_progress', page_size: MAX_SHOWN },
    ...options,
  })
  const ringing = useRead<Page<Call>>('/calls/logs', { query: { status: 'ringing', page_size: MAX_SHOWN }, ...options })
  const calls = [...(talking.data?.items ?? []), ...(ringing.data?.items ?? [])]
  const total = (talking.data?.total ?? 0) + (ringing.data?.total ?? 0)
  return (
    <>
      <PageHead
        lead={
          total === 0
            ? t('Every running call, as it goes.')
            : total > calls.length
              ? t('{n} running, the newest {shown} shown', { n: total, shown: calls.length })
              : t('{n} running', { n: total })
        }
        title={t('Live')}
      />
      <Fault error={talking.error} />
      {talking.data === undefined ? (
        !talking.error && <Loading />
      ) : calls.length === 0 ? (
        <Card>
          <Empty
            action={
              <Link className={buttonClass()} to="/agents">
                {t('Talk to an agent')}
              </Link>
            }
            icon="live"
            title={t('Nobody is talking')}
          >
            {t('Calls appear here the moment they ring, with what is said as it is said.')}
          </Empty>
        </Card>
      ) : (
        <div className="grid gap-4 md:grid-cols-2 2xl:grid-cols-3">
          {calls.map((call) => (
            <LiveCall
              call={call}
              isWatched={search.call === call.call_log_id}
              key={call.call_log_id}
              onWatch={(isWatched) =>
                void navigate({
                  to: '/live',
                  search: isWatched ? { call: call.call_log_id } : {},
                  replace: true,
                })
              }
            />
          ))}
        </div>
      )}
    </>
  )
}

interface LiveCallProps {
  call: Call
  /** Open: its words as they are said, and what can be done to it. */
  isWatched: boolean
  onWatch: (isWatched: boolean) => void
}

function LiveCall({ call, isWatched, onWatch }: LiveCallProps) {
  const { call_log_id: callId, call_type, answered_at, agent_name, status } = call
  const end = useWrite(() => [`/calls/${callId}/hangup`, { method: 'POST' }], {
    done: t('Hung up'),
    changes: ['/calls'],
  })
  const canWatch = status === 'in_progress'
  return (
    <Card
      actions={<CallStatus call={call} />}
      className={isWatched ? 'md:col-span-2' : ''}
      title={
        <Link className="hover:underline" params={{ callId }} to="/calls/$callId">
          {agent_name}
        </Link>
      }
    >
      <p className="mb-3 flex justify-between gap-3 text-sm text-muted">
        <span className="truncate">{partyOf(call)}</span>
        {answered_at && <Clock since={answered_at} />}
      </p>
      {isWatched && canWatch ? <Supervise callId={callId} /> : <LastWords callId={callId} />}
      <div className="mt-3 flex flex-wrap gap-2">
        {canWatch && (
          <Button
            aria-expanded={isWatched}
            icon={isWatched ? 'close' : 'live'}
            onClick={() => onWatch(!isWatched)}
            size="sm"
          >
            {isWatched ? t('Close') : t('Watch')}
          </Button>
        )}
        <Link className={buttonClass('plain', 'sm')} params={{ callId }} to="/calls/$callId">
          {t('Open')}
        </Link>
        {call_type === 'phone' && !isWatched && (
          <Button busy={end.isPending} icon="hangup" kind="danger" onClick={() => end.mutate()} size="sm">
            {t('Hang up')}
          </Button>
        )}
      </div>
    </Card>
  )
}

function LastWords({ callId }: { callId: string }) {
  const { data: turns = [] } = useRead<Turn[]>(`/calls/${callId}/turns`, { everyMs: EVERY_MS })
  return (
    <ol className="min-h-32 space-y-1.5">
      {turns.length === 0 && <li className="text-sm text-muted">{t('Nothing was said yet.')}</li>}
      {turns.slice(-SHOWN_TURNS).map(({ turn, role, text }) => (
        <li className="line-clamp-2 text-sm wrap-anywhere" key={turn}>
          <span className={`mr-1.5 text-xs font-semibold ${role === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
            {role === 'user' ? t('Caller') : t('Agent')}
          </span>
          {text}
        </li>
      ))}
    </ol>
  )
}

function Clock({ since }: { since: string }) {
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1000))
  return <span>{seconds < 60 ? `${seconds} s` : formatDuration(seconds)}</span>
}
