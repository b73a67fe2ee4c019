import { useNavigate, useSearch } from '@tanstack/react-router'
import { formatCount, formatDuration, formatInner, formatShare, formatUsd, formatWord } from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import type { Agent, DashboardReport, DispositionReport } from '../data/types.ts'
import { locale } from '../language/language.ts'
import { t } from '../language/t.ts'
import { AgentOptions } from '../ui/agent-options.tsx'
import { BarChart } from '../ui/bar-chart.tsx'
import { Fault } from '../ui/fault.tsx'
import { Select } from '../ui/field.tsx'
import { Card, Empty, Loading, PageHead, Stat } from '../ui/layout.tsx'
import { Table } from '../ui/table.tsx'

const DAY_MS = 86_400_000
const SPANS = [
  ['1', t('Last 24 hours')],
  ['7', t('Last 7 days')],
  ['30', t('Last 30 days')],
  ['90', t('Last 90 days')],
  ['365', t('Last year')],
] as const

/** Calls, talk, cost and outcomes over time, and agent against agent. */
export function Screen() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const days = String(search.days ?? '7')
  const agentId = search.agent_id === undefined ? undefined : String(search.agent_id)
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000
  const query = { start_date: new Date(nowMs - Number(days) * DAY_MS).toISOString(), agent_id: agentId }
  const { data: agents } = useRead<Agent[]>('/agents')
  const report = useRead<DashboardReport>('/reports/dashboard', { query: { ...query, interval: 'auto' } })
  const outcomes = useRead<DispositionReport>('/reports/disposition', { query })
  const set = (change: { days?: string; agent_id?: string }) => {
    const next = { days, ...(agentId ? { agent_id: agentId } : {}), ...change }
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
            <Select
              aria-label={t('Time')}
              className="w-36! sm:w-40!"
              onChange={(event) => set({ days: event.target.value })}
              value={days}
            >
              {SPANS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
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
      {report.data && report.data.totals.total_calls > 0 && <Report outcomes={outcomes.data} report={report.data} />}
      {report.isPending && <Loading />}
    </>
  )
}

function Report({
  report: { totals, series, by_agent, interval },
  outcomes,
}: {
  report: DashboardReport
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
          <Stat label={t('Calls')} value={formatCount(totals.total_calls)} />
          <Stat label={t('Talk')} value={formatDuration(totals.total_duration)} />
          <Stat label={t('Average length')} value={formatDuration(totals.avg_duration)} />
          <Stat label={t('Cost')} value={formatUsd(totals.total_cost)} />
          <Stat label={t('Tokens')} value={formatCount(totals.total_tokens)} />
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
