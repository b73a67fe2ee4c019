import { Type } from 'typebox'
import { Instant, Nullable } from '../schema.ts'

const Count = Type.Integer({ minimum: 0 })

export const StatusBody = Type.Object({
  slug: Type.String(),
  status: Type.Enum(['Running', 'Stopped', 'Completed', 'Inactive']),
  reason: Nullable(
    Type.Enum(
      [
        'paused',
        'outside_calling_hours',
        'waiting_for_retry',
        'no_agent',
        'no_number',
        'no_capacity',
        'budget_reached',
        'too_many_failures',
        'numbers_blocked',
        'no_prospects',
        'all_held',
      ],
      { description: 'Why a campaign calls nobody; null: its next tick will call, or it is completed.' },
    ),
  ),
  active_calls: Count,
  calls: Type.Object({ placing: Count, ringing: Count, talking: Count, waiting: Count }),
  ready_agents: Count,
  prospects: Type.Object({
    total: Count,
    unresolved: Count,
    resolved: Count,
    by_resolution: Type.Record(Type.String(), Count),
    callable_now: Count,
    by_zone: Type.Array(
      Type.Object({
        zones: Type.Array(Type.String(), { description: 'IANA time zones; none: nobody knows where they are.' }),
        regions: Type.Array(Type.String(), { description: 'Countries and states whose calling hours hold.' }),
        waiting: Count,
        callable_now: Count,
        opens_at: Nullable({
          ...Instant,
          description: 'When their calling hours begin; null: they are open, or unknown, or never come.',
        }),
      }),
      { description: 'Who waits, by where the same calling hours hold; the hundred largest, largest first.' },
    ),
    held: Type.Record(Type.String(), Count, { description: 'Waiting prospects that are not called now, by reason.' }),
    call_backs: Type.Object(
      { promised: Count, missed: Count },
      {
        description:
          'Call backs at a time that was named; `missed`: those of them that were not made within 15 minutes.',
      },
    ),
  }),
  reason_after_start: Nullable(
    Type.String({
      description: 'Of a paused campaign: what would keep it from calling once it is resumed; null: nothing.',
    }),
  ),
  next_call_at: Nullable({
    ...Instant,
    description: 'When somebody may be called next; null: nobody, or from no number.',
  }),
  today: Type.Object({ attempts: Count, answered: Count, humans: Count, machines: Count, abandoned: Count }),
  answer_rate: Nullable(Type.Number({ description: "Of today's attempts; null before the first." })),
  abandoned_rate_30d: Nullable(Type.Number()),
  pacing: Type.Object({ call_ratio: Type.Number(), effective_ratio: Type.Number(), why: Type.String() }),
  cost: Type.Number({ description: 'USD, as far as prices are known.' }),
  updated_at: Instant,
})
