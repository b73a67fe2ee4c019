import type { SumSpan } from '../../store/calls/call-sums.ts'
import {
  agentNames,
  type DispositionSource,
  dashboardSums,
  dispositionSeries,
  dispositionSums,
  NO_CALLS,
  totalSums,
} from '../../store/calls/reports.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import { averageSeconds, figuresOf, METRICS, type Metric, percentages } from './figures.ts'
import { autoInterval, bucketCount, bucketStarts, type Interval, MAX_BUCKETS } from './interval.ts'
import { Dashboard, DashboardQuery, DispositionQuery, Dispositions, Summary, SummaryQuery, Workload } from './schema.ts'
import { spanOf } from './span.ts'
import { workloadExample } from './workload.ts'

const tag = 'Reports'
const figuresExample = {
  total_calls: 2,
  total_duration: 95.5,
  avg_duration: 47.75,
  total_cost: 0.021,
  cost_llm: 0.012,
  cost_stt: 0.004,
  cost_tts: 0.005,
  platform_cost: 0,
  own_keys_cost: 0,
  total_tokens: 830,
  avg_tokens: 415,
}
const spanExample = { start_date: '2026-01-30T00:00:00.000Z', end_date: '2026-01-31T00:00:00.000Z' }
const agentExample = { agent_id: '0197f3a2-7c1e-7000-8000-000000000003', agent_name: 'Reception' }

const dashboard = defineRoute({
  method: 'GET',
  path: '/reports/dashboard',
  auth: 'jwt_or_key',
  role: 'member',
  query: DashboardQuery,
  success: { status: 200, schema: Dashboard },
  tag,
  summary: 'Metrics of calls in all, over time, by agent and by call type',
  description: 'A call counts in the bucket in which it was created.',
  examples: {
    success: {
      ...spanExample,
      interval: 'day',
      totals: figuresExample,
      series: [{ start: spanExample.start_date, ...figuresExample }],
      by_agent: [{ ...agentExample, ...figuresExample }],
      by_call_type: [{ call_type: 'phone', ...figuresExample }],
    },
  },
  handler: async ({ query, tenant }, { clock }) => {
    const span = spanOf(query, clock.nowMs())
    const { interval: asked = 'auto' } = query
    const interval = asked === 'auto' ? autoInterval(span.startMs, span.endMs) : asked
    refuseTooManyBuckets(span.startMs, span.endMs, interval)
    const sums = await dashboardSums(tenant, span, interval)
    const names = await agentNames(tenant, [...sums.byAgent.keys()])
    return {
      start_date: isoTime(span.startMs),
      end_date: isoTime(span.endMs),
      interval,
      totals: figuresOf(sums.totals),
      series: bucketStarts(span.startMs, span.endMs, interval).map((startMs) => ({
        start: isoTime(startMs),
        ...figuresOf(sums.byBucket.get(startMs) ?? NO_CALLS),
      })),
      by_agent: byCalls(sums.byAgent).map(([agentId, group]) => ({
        agent_id: agentId,
        agent_name: names.get(agentId) ?? '',
        ...figuresOf(group),
      })),
      by_call_type: byCalls(sums.byCallType).map(([callType, group]) => ({
        call_type: callType,
        ...figuresOf(group),
      })),
    }
  },
})

const callSummary = defineRoute({
  method: 'GET',
  path: '/reports/call-summary',
  auth: 'jwt_or_key',
  role: 'member',
  query: SummaryQuery,
  success: { status: 200, schema: Summary, description: 'Only the metrics asked for.' },
  tag,
  summary: 'Chosen metrics over all calls of a span',
  examples: { query: { fields: 'total_calls,avg_duration' }, success: { total_calls: 2, avg_duration: 47.75 } },
  handler: async ({ query, tenant }, { clock }) => {
    const metrics = metricsOf(query.fields)
    const figures = figuresOf(await totalSums(tenant, spanOf(query, clock.nowMs())))
    return Object.fromEntries(metrics.map((metric) => [metric, figures[metric]]))
  },
})

const disposition = defineRoute({
  method: 'GET',
  path: '/reports/disposition',
  auth: 'jwt_or_key',
  role: 'member',
  query: DispositionQuery,
  success: { status: 200, schema: Dispositions },
  tag,
  summary: 'How calls ended',
  examples: {
    success: {
      ...spanExample,
      total: 2,
      dispositions: [{ disposition: 'completed', count: 2, percentage: 100, avg_duration: 47.75 }],
      interval: 'day',
      series: [{ start: spanExample.start_date, counts: { completed: 2 } }],
    },
  },
  handler: async ({ query, tenant }, { clock }) => {
    const span = spanOf(query, clock.nowMs())
    const groups = await dispositionSums(tenant, span, query.by ?? 'line')
    const interval = query.interval === 'auto' ? autoInterval(span.startMs, span.endMs) : (query.interval ?? null)
    const shares = percentages(groups.map((group) => group.calls))
    return {
      start_date: isoTime(span.startMs),
      end_date: isoTime(span.endMs),
      total: groups.reduce((total, group) => total + group.calls, 0),
      dispositions: groups.map((group, index) => ({
        disposition: group.disposition,
        count: group.calls,
        percentage: shares[index] ?? 0,
        avg_duration: averageSeconds(group),
      })),
      interval,
      series: interval === null ? [] : await seriesOf(query.by ?? 'line', tenant, span, interval),
    }
  },
})

const workload = defineRoute({
  method: 'GET',
  path: '/reports/workload',
  auth: 'jwt_or_key',
  role: 'member',
  success: { status: 200, schema: Workload },
  tag,
  summary: 'Voice workers and their load right now',
  description:
    'Read from the metrics endpoint of each worker. Workers serve all workspaces of an instance; only its operator reads what their hosts are called.',
  examples: {
    success: workloadExample,
  },
  handler: ({ user }, { workload, operators }) =>
    workload({ hidesHosts: user === undefined || !operators.includes(user) }),
})

export const reportRoutes = [dashboard, callSummary, disposition, workload]

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** How many calls came to what, bucket by bucket. */
async function seriesOf(by: DispositionSource, tenant: Tenant, span: SumSpan, interval: Interval) {
  refuseTooManyBuckets(span.startMs, span.endMs, interval)
  const rows = await dispositionSeries(tenant, span, by, interval)
  const byBucket = Map.groupBy(rows, ({ bucket }) => bucket.getTime())
  return bucketStarts(span.startMs, span.endMs, interval).map((startMs) => ({
    start: isoTime(startMs),
    counts: Object.fromEntries((byBucket.get(startMs) ?? []).map(({ disposition, calls }) => [disposition, calls])),
  }))
}

/** Groups with the most calls first; equal ones by key, so that an answer is stable. */
function byCalls<K extends string, T extends { calls: number }>(groups: ReadonlyMap<K, T>): [K, T][] {
  return [...groups].sort(([a, x], [b, y]) => y.calls - x.calls || (a < b ? -1 : 1))
}

function refuseTooManyBuckets(startMs: number, endMs: number, interval: Interval): void {
  if (bucketCount(startMs, endMs, interval) <= MAX_BUCKETS) return
  const msg = `makes more than ${MAX_BUCKETS} buckets of this span; choose a longer interval or a shorter span`
  throw new ValidationError([{ loc: ['query', 'interval'], msg, type: 'value_error' }])
}

function metricsOf(fields: string | undefined): readonly Metric[] {
  const names = (fields ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (names.length === 0) return METRICS
  const known = (name: string): name is Metric => (METRICS as readonly string[]).includes(name)
  const unknown = names.filter((name) => !known(name))
  if (unknown.length > 0) {
    const msg = `unknown metric ${unknown.map((name) => JSON.stringify(name)).join(', ')}; known: ${METRICS.join(', ')}`
    throw new ValidationError([{ loc: ['query', 'fields'], msg, type: 'enum' }])
  }
  return names.filter(known)
}
