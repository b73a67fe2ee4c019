import { Type } from 'typebox'
import { AgentVersionFilter } from '../calls/schema.ts'
import { Id, Instant, Nullable } from '../schema.ts'
import { METRICS } from './figures.ts'
import { INTERVALS } from './interval.ts'

const Cost = Nullable(Type.Number({ description: 'USD; null where no call has a known price.' }))

const FIGURES = {
  total_calls: Type.Integer(),
  total_duration: Type.Number({ description: 'Seconds.' }),
  avg_duration: Nullable(Type.Number({ description: 'Seconds, over answered calls; null without one.' })),
  total_cost: Cost,
  cost_llm: Cost,
  cost_stt: Cost,
  cost_tts: Cost,
  platform_cost: Cost,
  own_keys_cost: Type.Number({ description: 'USD of these that providers bill the workspace’s own accounts.' }),
  total_tokens: Type.Integer(),
  avg_tokens: Nullable(Type.Number({ description: 'Over all calls; null without one.' })),
}

const SpanQuery = {
  start_date: Type.Optional(
    Type.String({ format: 'date-time', description: 'ISO 8601, UTC without an offset. Default: 7 days ago.' }),
  ),
  end_date: Type.Optional(Type.String({ format: 'date-time', description: 'ISO 8601, exclusive. Default: now.' })),
  agent_id: Type.Optional(Type.String({ description: 'Only calls of this agent.' })),
  agent_version: AgentVersionFilter,
  campaign: Type.Optional(Type.String({ maxLength: 100, description: 'Only calls of this campaign, by its slug.' })),
}

export const DashboardQuery = Type.Object({
  ...SpanQuery,
  call_type: Type.Optional(
    Type.Enum(['phone', 'web'], { description: 'Only calls over the phone, or only those of pages.' }),
  ),
  interval: Type.Optional(
    Type.Enum(['auto', ...INTERVALS], {
      description: 'Length of a bucket. Default, `auto`: hour up to 2 days, day up to 92, week up to 366, else month.',
    }),
  ),
})

export const Dashboard = Type.Object({
  start_date: Instant,
  end_date: Instant,
  interval: Type.Enum([...INTERVALS]),
  totals: Type.Object(FIGURES),
  series: Type.Array(Type.Object({ start: Instant, ...FIGURES }), {
    description: 'A bucket each, empty ones included, aligned to UTC; the first may start before start_date.',
  }),
  by_agent: Type.Array(Type.Object({ agent_id: Id, agent_name: Type.String(), ...FIGURES })),
  by_call_type: Type.Array(Type.Object({ call_type: Type.Enum(['phone', 'web']), ...FIGURES })),
})

export const SummaryQuery = Type.Object({
  ...SpanQuery,
  fields: Type.Optional(
    Type.String({ description: `Comma-separated metrics; default all. Known: ${METRICS.join(', ')}.` }),
  ),
})

export const Summary = Type.Object(
  Object.fromEntries(Object.entries(FIGURES).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof typeof FIGURES]: ReturnType<typeof Type.Optional<(typeof FIGURES)[K]>>
  },
)

export const DispositionQuery = Type.Object({
  ...SpanQuery,
  by: Type.Optional(
    Type.Enum(['line', 'analysis'], {
      default: 'line',
      description: 'How the line ended, or what the analysis of the call came to.',
    }),
  ),
  interval: Type.Optional(
    Type.Enum(['auto', ...INTERVALS], {
      description: 'Counts over time, too, in buckets of this length; `auto` as for the dashboard.',
    }),
  ),
})

export const Dispositions = Type.Object({
  start_date: Instant,
  end_date: Instant,
  total: Type.Integer({ description: 'Calls that have a disposition.' }),
  dispositions: Type.Array(
    Type.Object({
      disposition: Type.String(),
      count: Type.Integer(),
      percentage: Type.Number({ description: 'Of total, two decimals; they add up to 100.' }),
      avg_duration: Nullable(Type.Number({ description: 'Seconds, over answered calls.' })),
    }),
  ),
  interval: Nullable(Type.Enum([...INTERVALS], { description: 'Of the series; null where none was asked for.' })),
  series: Type.Array(
    Type.Object({
      start: Instant,
      counts: Type.Record(Type.String(), Type.Integer(), { description: 'By disposition.' }),
    }),
    { description: 'A bucket each, empty ones included, where an interval was asked for.' },
  ),
})

const Ratio = Type.Number({ description: '0 to 1.' })

export const WORKER_STATES = ['ready', 'draining', 'overloaded', 'unreachable'] as const

export const Workload = Type.Object({
  scraped_at: Instant,
  totals: Type.Object({
    workers: Type.Integer(),
    active_sessions: Type.Integer(),
    capacity: Type.Integer(),
    utilization: Ratio,
  }),
  workers: Type.Array(
    Type.Object({
      worker_id: Type.String(),
      pool: Type.String({ description: 'The pool of workers it belongs to; empty: the one that serves all others.' }),
      state: Type.Enum([...WORKER_STATES]),
      active_sessions: Nullable(Type.Integer()),
      capacity: Nullable(Type.Integer()),
      utilization: Nullable(Ratio),
      cpu_utilization: Nullable(Type.Number({ description: 'Cores in use, averaged over the last seconds.' })),
      memory_bytes: Nullable(Type.Integer()),
      event_loop_lag_ms: Nullable(Type.Number()),
      turn_latency_p50_ms: Nullable(Type.Number()),
      turn_latency_p95_ms: Nullable(Type.Number()),
      sessions_total: Nullable(Type.Integer()),
      failures_total: Nullable(Type.Integer()),
      version: Nullable(Type.String()),
      commit: Nullable(Type.String()),
    }),
    { description: 'A worker that does not answer in 1 s is `unreachable`; its figures are null.' },
  ),
})
