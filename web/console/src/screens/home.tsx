import { Link } from '@tanstack/react-router'
import { formatAgo, formatCount, formatDuration, formatMs, formatShare, formatUsd } from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Call, DashboardReport, Page, WorkloadReport } from '../data/types.ts'
import { t } from '../language/t.ts'
import { buttonClass } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Card, Empty, Loading, PageHead, Stat } from '../ui/layout.tsx'
import { Attention } from './attention.tsx'
import { CallMyPhone } from './call/call-my-phone.tsx'
import { CallStatus, partyOf } from './call-status.tsx'
import { Invitations } from './invitations.tsx'
import { LocalSpeech } from './local-speech.tsx'

const RECENT = 8
const EVERY_MS = 5_000

/** How things stand: calls now, today's figures, what needs somebody. */
export function Home() {
  const { user, isOperator } = useSession()
  const agents = useRead<Agent[]>('/agents')
  const recent = useRead<Page<Call>>('/calls/logs', { query: { page_size: RECENT }, everyMs: EVERY_MS })
  const live = useRead<Page<Call>>('/calls/logs', { query: { page_size: 1, status: 'in_progress' }, everyMs: EVERY_MS })
  return (
    <>
      <PageHead lead={t('How things stand today.')} title={`${greeting()}, ${user.name.split(' ')[0]}`} />
      <div className="space-y-4">
        <Invitations />
        <Attention />
        {isOperator && agents.data && <LocalSpeech agents={agents.data} />}
        {recent.data?.total === 0 && agents.data && <FirstSteps agents={agents.data} />}
        {agents.data && agents.data.length > 0 && <CallMyPhone />}
        <div className={`grid gap-4 ${isOperator ? 'xl:grid-cols-[1fr_22rem]' : ''}`}>
          <div className="min-w-0 space-y-4">
            <Today live={live.data?.total} />
            <Card
              actions={
                <Link className={buttonClass('quiet', 'sm')} to="/calls">
                  {t('All calls')}
                </Link>
              }
              flush
              title={t('Latest calls')}
            >
              {recent.data ? <Recent calls={recent.data.items} /> : <Loading />}
            </Card>
          </div>
          {isOperator && <Workers />}
        </div>
      </div>
    </>
  )
}

function greeting(): string {
  const hour = new Date().getHours()
  return hour < 5 || hour >= 18 ? t('Good evening') : hour < 12 ? t('Good morning') : t('Good afternoon')
}

function FirstSteps({ agents }: { agents: readonly Agent[] }) {
  const [first] = agents
  return (
    <Card className="border-accent! bg-accent-soft!">
      <div className="flex flex-wrap items-center justify-between gap-4">
        <div>
          <h2 className="text-md">
            {first ? t('Talk to {agent_name}', { agent_name: first.agent_name }) : t('Create your first agent')}
          </h2>
          <p className="mt-0.5 max-w-xl text-pretty">
            {first
              ? t(
                  'It answers right here in the browser: speak or type. Afterwards you see the call: both voices, what was said, and how long each answer took.',
                )
              : t(
                  'An agent is a prompt, a voice and a model. It answers in the browser at once, and on the phone once it has a number.',
                )}
          </p>
        </div>
        {first ? (
          <Link
            className={buttonClass('primary')}
            params={{ agentId: first.agent_id }}
            search={{ tab: 'talk' }}
            to="/agents/$agentId"
          >
            <Icon name="mic" /> {t('Talk to {name}', { name: first.agent_name })}
          </Link>
        ) : (
          <Link className={buttonClass('primary')} search={{ new: true }} to="/agents">
            <Icon name="plus" /> {t('New agent')}
          </Link>
        )}
      </div>
    </Card>
  )
}

function Today({ live }: { live: number | undefined }) {
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  const query = { start_date: today.toISOString(), interval: 'hour' }
  const { data } = useRead<DashboardReport>('/reports/dashboard', { query, everyMs: 30_000 })
  const answered = useRead<Page<Call>>('/calls/logs', {
    query: { start_date: query.start_date, status: 'completed', page_size: 1 },
    everyMs: 30_000,
  })
  const total = data?.totals.total_calls
  const rate = total ? (answered.data?.total ?? 0) / total : null
  return (
    <Card>
      <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 lg:grid-cols-5">
        <Stat label={t('Calls now')} tone={live ? 'good' : 'neutral'} value={formatCount(live)} />
        <Stat label={t('Calls today')} value={formatCount(total)} />
        <Stat label={t('Completed')} value={formatShare(rate)} />
        <Stat label={t('Average length')} value={formatDuration(data?.totals.avg_duration)} />
        <Stat label={t('Cost today')} value={formatUsd(data?.totals.total_cost)} />
      </div>
    </Card>
  )
}

function Recent({ calls }: { calls: readonly Call[] }) {
  if (calls.length === 0) {
    return (
      <Empty icon="calls" title={t('No calls yet')}>
        {t(
          'Talk to an agent, or give it a phone number. Each call appears here with its recording, transcript and timing.',
        )}
      </Empty>
    )
  }
  return (
    <ul>
      {calls.map((call) => (
        <li className="border-t border-line" key={call.call_log_id}>
          <Link
            className="grid grid-cols-[1fr_auto] items-center gap-3 px-4 py-2.5 hover:bg-sunken/60 sm:grid-cols-[1fr_8rem_5rem_6rem]"
            params={{ callId: call.call_log_id }}
            to="/calls/$callId"
          >
            <span className="min-w-0">
              <span className="block truncate font-medium">{call.agent_name}</span>
              <span className="block truncate text-xs text-muted">{partyOf(call)}</span>
            </span>
            <span className="text-right sm:text-left">
              <CallStatus call={call} />
            </span>
            <span className="hidden text-right text-sm sm:block">{formatDuration(call.duration)}</span>
            <span className="hidden text-right text-sm text-muted sm:block">{formatAgo(call.created_at)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Workers() {
  const { data } = useRead<WorkloadReport>('/reports/workload', { everyMs: EVERY_MS })
  const slowest = data?.workers.reduce<number | null>((worst, { turn_latency_p95_ms: p95 }) => {
    return p95 === null ? worst : Math.max(worst ?? 0, p95)
  }, null)
  const median = data?.workers.find(({ turn_latency_p50_ms }) => turn_latency_p50_ms !== null)?.turn_latency_p50_ms
  return (
    <Card className="self-start" title={t('Voice workers')}>
      {data ? (
        <div className="space-y-4">
          <Seats capacity={data.totals.capacity} taken={data.totals.active_sessions} />
          <div className="grid grid-cols-2 gap-4">
            <Stat label={t('Turn latency p50')} value={formatMs(median)} />
            <Stat label={t('Turn latency p95')} value={formatMs(slowest)} />
          </div>
        </div>
      ) : (
        <Loading lines={2} />
      )}
    </Card>
  )
}

function Seats({ taken, capacity }: { taken: number; capacity: number }) {
  const share = capacity === 0 ? 0 : taken / capacity
  return (
    <div>
      <div className="mb-1.5 flex justify-between text-sm">
        <span className="text-muted">{t('Seats taken')}</span>
        <span className="font-medium">{t('{n} of {all}', { n: formatCount(taken), all: formatCount(capacity) })}</span>
      </div>
      <div className="h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className={`h-full rounded-full ${share > 0.9 ? 'bg-warn' : 'bg-accent'}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </div>
  )
}
