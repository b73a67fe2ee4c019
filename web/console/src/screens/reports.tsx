import { useNavigate, useSearch } from '@tanstack/react-router'
import {
  formatChange,
  formatCount,
  formatDuration,
  formatInner,
  formatShare,
  formatUsd,
  formatWord,
} from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import { lastDays, SPANS } from '../data/spans.ts'
import type { Agent, Campaign, DashboardReport, DispositionReport } from '../data/types.ts'
import { locale } from '../language/language.ts'
import { t } from '../language/t.ts'
import { AgentOptions } from '../ui/agent-options.tsx'
import { BarChart } from '../ui/bar-chart.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Fault } from '../ui/fault.tsx'
import { Select } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { Card, Empty, Loading, PageHead, Stat } from '../ui/layout.tsx'
import { Table } from '../ui/table.tsx'

const UP_TO_A_YEAR = [...SPANS, ['365', t('Last year')]] as const

const STATS = [
  [t('Calls'), 'total_calls', formatCount],
  [t('Talk'), 'total_duration', formatDuration],
  [t('Average length'), 'avg_duration', formatDuration],
  [t('Cost'), 'total_cost', formatUsd],
  [t('Tokens'), 'total_tokens', formatCount],
] as const

/** Calls, talk, cost and outcomes over time, against the time before, and agent against agent. */
export function Screen() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const days = String(search.days ?? '7')
  const agentId = search.agent_id === undefined ? undefined : String(search.agent_id)
  const campaign = search.campaign === undefined ? undefined : String(search.campaign)
  const { startMs, endMs } = lastDays(days)
  const only = { agent_id: agentId, campaign }
  const query = { ...only, start_date: new Date(startMs).toISOString() }
  const queryBefore = {
    ...only,
    start_date: new Date(2 * startMs - endMs).toISOString(),
    end_date: query.start_date,
  }
  const { data: agents } = useRead<Agent[]>('/agents')
  const { data: campaigns = [] } = useRead<Campaign[]>('/api/v/campaign/')
  const before = useRead<DashboardReport>('/reports/dashboard', { query: { ...queryBefore, interval: 'auto' } })
  const report = useRead<DashboardReport>('/reports/dashboard', { query: { ...query, interval: 'auto' } })
  const outcomes = useRead<DispositionReport>('/reports/disposition', { query })
  const set = (change: { days?: string; agent_id?: string; campaign?: string }) => {
    const next = { days, agent_id: agentId, campaign, ...change }
    void navigate({
      to: '/reports',
      search: Object.fromEntries(Object.entries(next).filter(([, value]) => value)),
      replace: true,
    })
  }
  return (
    <>
      <PageHead
        actions={
          <>
            <Select
              aria-label={t('Agent')}
              className="w-40! sm:w-48!"
              onChange={(event) => set({ agent_id: event.target.value })}
              value={agentId ?? ''}
            >
              <AgentOptions agents={agents} />
            </Select>
            {campaigns.length > 0 && (
              <Select
                aria-label={t('Campaign')}
                className="w-40! sm:w-48!"
                onChange={(event) => set({ campaign: event.target.value })}
                value={campaign ?? ''}
              >
                <option value="">{t('All campaigns')}</option>
                {campaigns.map(({ slug, name }) => (
                  <option key={slug} value={slug}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
            <Select
              aria-label={t('Time')}
              className="w-36! sm:w-40!"
              onChange={(event) => set({ days: event.target.value })}
              value={days}
            >
              {UP_TO_A_YEAR.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
            {report.data && (
              <a
                className={buttonClass()}
                download="report.csv"
                href={`data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(report.data))}`}
              >
                <Icon name="download" size={16} /> CSV
              </a>
            )}
          </>
        }
        lead={t('Calls, talk, cost and outcomes over time.')}
        title={t('Reports')}
      />
      <Fault error={report.error} retry={() => void report.refetch()} />
      {report.data && report.data.totals.total_calls === 0 && (
        <Card>
          <Empty icon="reports" title={t('No calls in this time')}>
            {t("Look further back, or take the agent's filter away.")}
          </Empty>
        </Card>
      )}
      {report.data && report.data.totals.total_calls > 0 && (
        <Report before={before.data?.totals} outcomes={outcomes.data} report={report.data} />
      )}
      {report.isPending && <Loading />}
    </>
  )
}

function Report({
  report: { totals, series, by_agent, interval },
  before,
  outcomes,
}: {
  report: DashboardReport
  /** Of as much time before. */
  before: DashboardReport['totals'] | undefined
  outcomes: DispositionReport | undefined
}) {
  const labelOf = (start: string) =>
    new Date(start).toLocaleString(
      locale,
      interval === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' },
    )
  return (
    <div className="space-y-4">
      <Card>
        <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 lg:grid-cols-5">
          {STATS.map(([label, figure, format]) => (
            <Stat
              key={figure}
              label={label}
              note={before && changeOf(totals[figure], before[figure], format)}
              value={format(totals[figure])}
            />
          ))}
        </div>
        {totals.own_keys_cost > 0 && (
          <p className="mt-3 text-sm text-muted">
            {t('Billed to your own accounts: {cost}', { cost: formatUsd(totals.own_keys_cost) })}
          </p>
        )}
      </Card>
      <div className="grid gap-4 xl:grid-cols-2">
        <Card title={t('Calls by {interval}', { interval: formatInner(interval) })}>
          <BarChart
            bars={series.map(({ start, total_calls }) => ({
              label: labelOf(start),
              value: total_calls,
              text: formatCount(total_calls),
            }))}
            format={formatCount}
            isCount
            label={t('Calls over time')}
          />
        </Card>
        <Card title={t('Cost by {interval}', { interval: formatInner(interval) })}>
          <BarChart
            bars={series.map(({ start, total_cost }) => ({
              label: labelOf(start),
              value: total_cost ?? 0,
              text: formatUsd(total_cost),
            }))}
            format={formatUsd}
            label={t('Cost over time')}
          />
        </Card>
        <Card flush title={t('Outcomes')}>
          {outcomes ? (
            <Table
              columns={[
                { name: t('Outcome'), cell: ({ disposition }) => formatWord(disposition) },
                { name: t('Calls'), align: 'end', cell: ({ count }) => formatCount(count) },
                { name: t('Share'), align: 'end', cell: ({ percentage }) => formatShare(percentage / 100) },
                {
                  name: t('Average length'),
                  align: 'end',
                  wide: true,
                  cell: ({ avg_duration }) => formatDuration(avg_duration),
                },
              ]}
              label={t('Outcomes')}
              rowKey={({ disposition }) => disposition}
              rows={outcomes.dispositions}
            />
          ) : (
            <Loading />
          )}
        </Card>
        <Card flush title={t('Agents')}>
          <Table
            columns={[
              {
                name: t('Agent'),
                cell: ({ agent_name }) => <span className="block max-w-44 truncate">{agent_name}</span>,
              },
              { name: t('Calls'), align: 'end', cell: ({ total_calls }) => formatCount(total_calls) },
              {
                name: t('Average length'),
                align: 'end',
                wide: true,
                cell: ({ avg_duration }) => formatDuration(avg_duration),
              },
              { name: t('Cost'), align: 'end', cell: ({ total_cost }) => formatUsd(total_cost) },
            ]}
            label={t('Agents')}
            rowKey={({ agent_id }) => agent_id}
            rows={by_agent}
          />
        </Card>
      </div>
    </div>
  )
}

type Figure = number | null

/** A figure against that of the time before. */
function changeOf(now: Figure, before: Figure, format: (figure: Figure) => string): string | undefined {
  if (now === null || before === null) return undefined
  if (before === 0) return now === 0 ? undefined : t('none before')
  return t('{change} from {before}', { change: formatChange(now / before - 1), before: format(before) })
}

const CSV_FIGURES = [
  ...['total_calls', 'total_duration', 'avg_duration', 'total_cost', 'cost_llm', 'cost_stt', 'cost_tts'],
  ...['platform_cost', 'own_keys_cost', 'total_tokens'],
] as const

/** The series as a file: an interval a line, by the names of the API. */
function csvOf({ series }: DashboardReport): string {
  const lines = series.map((bucket) => {
    const figures = bucket as unknown as Readonly<Record<string, Figure>>
    return [bucket.start, ...CSV_FIGURES.map((name) => figures[name] ?? '')].join(',')
  })
  return `${[['start', ...CSV_FIGURES].join(','), ...lines].join('\r\n')}\r\n`
}
