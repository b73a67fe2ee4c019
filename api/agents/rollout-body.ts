import { Type } from 'typebox'
import { Id, Instant, Nullable } from '../schema.ts'

export const DEFAULT_MIN_CALLS = 50
export const DEFAULT_PLANNED_CALLS = 400

const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

const Rule = Type.Object({
  match: Type.Object({
    attribute: Type.String({
      pattern: '^(called_number|country|language|channel|campaign|variable:.{1,200})$',
      description:
        '`called_number`, `country` of the other side (ISO 3166), `channel` (`phone`, `web`, `chat`), `campaign` (slug), `variable:NAME`, or `language`, which is the variable of that name.',
    }),
    operator: Type.Enum(['is', 'is_not', 'starts_with']),
    values: Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 200 }),
  }),
  version: Version,
})

const Guard = Type.Object({
  figure: Type.String({
    pattern: '^(success|latency_p95|faults|cost|disposition:.{1,100})$',
    description:
      '`success` of the analysis, `disposition:NAME` (both: less is worse), `faults`, `latency_p95`, `cost` (more is worse).',
  }),
  min_calls: Type.Integer({
    minimum: 2,
    maximum: 1_000_000,
    description: `Of each version, before which nothing is decided. Default: ${DEFAULT_MIN_CALLS}.`,
  }),
  planned_calls: Type.Integer({
    minimum: 20,
    maximum: 10_000_000,
    description: `Of both versions: by then most of what the guard may err is spent. Default: ${DEFAULT_PLANNED_CALLS}.`,
  }),
  stop_when: Type.Enum(['worse']),
})
const { figure, ...rest } = Guard.properties
export const GuardInput = Type.Object({ figure, ...Type.Partial(Type.Object(rest)).properties })

export const RolloutInput = Type.Object({
  rules: Type.Array(Rule, { maxItems: 50, default: [], description: 'The first that matches decides.' }),
  split: Type.Array(Type.Object({ version: Version, weight: Type.Number({ minimum: 0, maximum: 1 }) }), {
    minItems: 1,
    maxItems: 10,
    description: 'Of the calls that no rule decides. Weights sum to 1.',
  }),
  sticky: Type.Enum(['contact', 'call'], {
    default: 'contact',
    description: '`contact`: the same number or session gets the same version again.',
  }),
  guard: Type.Optional(Nullable(GuardInput)),
})

export const FigureInterval = Type.Object(
  { value: Nullable(Type.Number()), low: Nullable(Type.Number()), high: Nullable(Type.Number()) },
  { description: 'With its interval of 95 % confidence; nulls where nothing is known.' },
)

export const RolloutBody = Type.Object({
  rollout_id: Id,
  status: Type.Enum(['running', 'stopped']),
  ...Type.Omit(RolloutInput, ['guard']).properties,
  guard: Nullable(
    Type.Object({
      ...Guard.properties,
      z: Nullable(Type.Number({ description: 'Standardised difference, above 0 where the newer version is worse.' })),
      boundary: Nullable(Type.Number({ description: 'Where the guard stops the rollout.' })),
    }),
  ),
  started_at: Instant,
  started_by: Type.Object({ id: Type.String(), name: Type.String() }),
  stopped: Nullable(
    Type.Object({
      at: Instant,
      version: Type.Integer({ description: 'The version that is worse.' }),
      serves: Type.Integer({ description: 'The version that all calls get, until another is published.' }),
      z: Type.Number(),
      boundary: Type.Number(),
    }),
  ),
  versions: Type.Array(
    Type.Object({
      version: Type.Integer(),
      calls: Type.Integer({ description: 'That are over and that the split gave it.' }),
      answered: Type.Integer(),
      success: FigureInterval,
      faults: FigureInterval,
      disposition: Nullable(FigureInterval),
      latency_p95_ms: FigureInterval,
      cost_usd: FigureInterval,
    }),
  ),
})
