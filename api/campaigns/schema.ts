import { type Static, type TSchema, Type } from 'typebox'
import { SLOT_STRATEGIES } from '../../runtime/admission/slot-claim.ts'
import { RETRIED } from '../../runtime/dialing/retry.ts'
import type { CallingRules } from '../../runtime/dialing/rules.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { CampaignFields, CampaignWithLists } from '../../store/campaigns/campaigns.ts'
import type { Campaign } from '../../store/database/schema.ts'
import { statesOf } from '../../workers/dialer/policy.ts'
import { type Fault, Id, Instant, NameInput, Nullable } from '../schema.ts'

/** A campaign as it is sent and shown. */

const MOST = 2_147_483_647
const Count = (description: string, minimum = 0, maximum = MOST) => Type.Integer({ minimum, maximum, description })
const Time = (description: string) => Type.String({ format: 'wall-time', description })

const RetryRule = Type.Object(
  {
    after_minutes: Type.Integer({ minimum: 0, maximum: 43_200 }),
    other_part_of_day: Type.Optional(
      Type.Boolean({ description: 'In the morning, at midday or in the evening, wherever it was not tried lately.' }),
    ),
  },
  { additionalProperties: false },
)

/** Every field a caller may send, with its default. */
const FIELDS = {
  agent_id: [Nullable(Type.String({ maxLength: 100 })), null],
  workspace: [Nullable(Type.String({ maxLength: 100, description: 'Default: the active workspace.' })), null],
  email: [Nullable(Type.String({ maxLength: 254, description: 'Of the owner.' })), null],
  locale_name: [
    Type.String({ maxLength: 8, description: 'Region whose numbers may be written without a country code.' }),
    'USCA',
  ],
  active: [Type.Boolean(), true],
  call_ratio: [
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 10,
      description:
        'Calls a free agent. Up to 1 every call has its agent before it is dialled; above, so many are dialled, up to this, that ' +
        'at most 1 % of those who pick up are expected to find no agent free.',
    }),
    1,
  ],
  pacing: [
    Type.Enum(['predictive', 'fixed'], {
      description:
        '`predictive`: `call_ratio` is an upper limit. `fixed`: it is taken as it is written, whatever the answer rate; an Admin sets it. Either way every call has its agent once 2.5 % of those who picked up in 30 days found nobody free.',
    }),
    'predictive',
  ],
  dialer_interval: [Count('Seconds between two ticks of the dialer.', 2, 15), 10],
  max_active_calls: [Count('Calls at once; 0: unlimited.'), 0],
  max_number_calls: [Count('Most attempts a prospect.', 1), 10],
  min_time_between_calls: [Count('Least minutes between two attempts on a number, by any campaign.'), 30],
  dupe_days: [Count('Days a number counts as a duplicate; -1: never.', -1, 36_500), 90],
  expire_days: [Count('Days until a prospect expires; -1: never.', -1, 36_500), 90],
  earliest_prospect_time: [Time("In the prospect's time zone."), '09:00:00'],
  latest_prospect_time: [Time("In the prospect's time zone; no call begins from then on."), '21:00:00'],
  ignore_states: [Type.String({ maxLength: 1_000, description: 'Comma-separated: `TX,FL`.' }), ''],
  filter_holidays: [
    Type.Boolean({ description: 'Leave out states on holidays on which their law forbids calls.' }),
    true,
  ],
  max_wait_time: [Count('Seconds a call waits for a free agent.', 0, 86_400), 60],
  queue_strategy: [Type.Enum([...SLOT_STRATEGIES]), 'longest-idle-agent'],
  wrap_up_time: [Count("Seconds an agent's slot rests after a call.", 0, 86_400), 3],
  paused: [Type.Boolean({ description: 'Places nothing new; running calls end as they would.' }), false],
  from_numbers: [
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 500,
      description: "Registered numbers to call from; none: the agent's own.",
    }),
    [],
  ],
  max_calls_per_number_per_day: [Count('Attempts a source number makes in 24 hours; 0: unlimited.'), 0],
  retry: [
    Type.Object(Object.fromEntries(RETRIED.map((outcome) => [outcome, Type.Optional(RetryRule)])), {
      additionalProperties: false,
      description:
        'When to try again, by outcome; never sooner than `min_time_between_calls`, but for `fault`. Outcomes left out keep their default.',
    }),
    {},
  ],
  voicemail_resolves: [Type.Boolean({ description: 'A machine that was reached settles the prospect.' }), false],
  consent_required: [Type.Boolean({ description: 'Only prospects with `consent_at` are called.' }), false],
  holidays: [
    Type.Array(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }), {
      maxItems: 1_000,
      description: 'Further dates without calls.',
    }),
    [],
  ],
  calling_days: [
    Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      maxItems: 7,
      description: "ISO weekdays, in the prospect's time zone; 1 is Monday.",
    }),
    [1, 2, 3, 4, 5, 6, 7],
  ],
  budget: [
    Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1e12,
        description: 'USD; the campaign pauses itself when its calls have cost so much.',
      }),
    ),
    null,
  ],
  stop_when: [
    Nullable(
      Type.Object(
        {
          failure_rate: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
          window: Type.Integer({ minimum: 1, maximum: 10_000 }),
        },
        {
          additionalProperties: false,
          description:
            "Of the last `window` attempts so many ended in a carrier's or provider's fault: the campaign pauses itself.",
        },
      ),
    ),
    { failure_rate: 0.5, window: 50 },
  ],
  webhook_before_dial: [
    Nullable(
      Type.String({
        maxLength: 2_000,
        description: 'Asked right before each call; anything but `{"dial": true}` within 2 s means no.',
      }),
    ),
    null,
  ],
  agent_tools: [
    Type.Array(Type.Enum(['do_not_call', 'call_back']), {
      maxItems: 2,
      description: "What the agent may do in the campaign's calls besides its own tools.",
    }),
    ['do_not_call', 'call_back'],
  ],
  abandoned_message: [
    Type.String({
      maxLength: 1_000,
      description:
        'Said to callees who pick up while no agent is free, with `call_ratio` above 1; `{{workspace}}`, `{{from_number}}` and the ' +
        "prospect's variables are filled in. Empty: a sentence in English with both.",
    }),
    '',
  ],
} as const satisfies Record<string, readonly [TSchema, unknown]>

type Field = keyof typeof FIELDS
type Schemas = { [K in Field]: (typeof FIELDS)[K][0] }
const each = <T>(make: (schema: TSchema, otherwise: unknown) => T) =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, [schema, otherwise]]) => [name, make(schema, otherwise)]))

export const CreateCampaign = Type.Object({
  name: NameInput,
  ...(each((schema, otherwise) => Type.Optional({ ...schema, default: otherwise })) as unknown as Schemas),
})
export const ChangeCampaign = Type.Object({
  name: Type.Optional(NameInput),
  ...(each((schema) => Type.Optional(schema)) as unknown as {
    [K in Field]: ReturnType<typeof Type.Optional<Schemas[K]>>
  }),
})
export type CampaignInput = Static<typeof CreateCampaign>
export type CampaignChanges = Partial<CampaignInput>

const ListRef = Type.Object({ list_uuid: Id, list_slug: Type.String(), name: Type.String(), active: Type.Boolean() })

export const CampaignBody = Type.Object({
  campaign_id: Id,
  slug: Type.String(),
  name: Type.String(),
  ...(each((schema) => schema) as unknown as Schemas),
  status: Type.Enum(['Running', 'Stopped', 'Completed', 'Inactive']),
  pause_reason: Nullable(Type.Enum(['budget_reached', 'too_many_failures'])),
  lists: Type.Array(ListRef),
  prospects: Type.Integer({ minimum: 0, description: 'Of all its lists; none: there is nobody to call yet.' }),
  created_at: Instant,
  updated_at: Instant,
})

type CampaignState = Static<typeof CampaignBody>['status']

/** 422 items of what a schema can't say. */
export function campaignFaults(
  input: CampaignChanges,
  before: Pick<Campaign, 'earliest_prospect_time' | 'latest_prospect_time'> | undefined,
  law: { rules: CallingRules; places: Places },
): Fault[] {
  const faults: Fault[] = []
  const fault = (field: string, msg: string, type: Fault['type'] = 'value_error') =>
    faults.push({ loc: ['body', field], msg, type })
  const earliest = input.earliest_prospect_time ?? before?.earliest_prospect_time
  const latest = input.latest_prospect_time ?? before?.latest_prospect_time
  if (earliest !== undefined && latest !== undefined && wholeTime(earliest) >= wholeTime(latest)) {
    const field = input.earliest_prospect_time === undefined ? 'latest_prospect_time' : 'earliest_prospect_time'
    fault(field, 'earliest_prospect_time must be before latest_prospect_time')
  }
  if (input.locale_name !== undefined && !law.rules.locales.has(input.locale_name)) {
    fault('locale_name', `must be one of ${[...law.rules.locales.keys()].join(', ')}`, 'enum')
  }
  const states = statesOf(input.ignore_states ?? '')
  const unknown = states.filter((state) => law.places.regionOf(state) === undefined)
  if (unknown.length > 0)
    fault('ignore_states', `unknown state ${unknown.map((state) => JSON.stringify(state)).join(', ')}`)
  const dates = input.holidays ?? []
  const wrong = dates.find((date) => !isDate(date))
  if (wrong !== undefined) fault('holidays', `${wrong} is no date`)
  if (input.webhook_before_dial != null && !isWebAddress(input.webhook_before_dial)) {
    fault('webhook_before_dial', 'must be an http or https URL without user or password')
  }
  return faults
}

function isDate(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

const wholeTime = (time: string): string => (time.length === 5 ? `${time}:00` : time)

/** Checked input as the columns hold it; only the fields that were sent. */
export function columnsOf(input: CampaignChanges): Partial<CampaignFields> {
  const { workspace: _, from_numbers, retry, holidays, calling_days, stop_when, agent_tools, ...plain } = input
  const json = <K extends string>(name: K, value: unknown) =>
    value === undefined ? {} : ({ [name]: value === null ? null : JSON.stringify(value) } as Record<K, string>)
  return {
    ...plain,
    ...(plain.earliest_prospect_time === undefined
      ? {}
      : { earliest_prospect_time: wholeTime(plain.earliest_prospect_time) }),
    ...(plain.latest_prospect_time === undefined
      ? {}
      : { latest_prospect_time: wholeTime(plain.latest_prospect_time) }),
    ...(plain.ignore_states === undefined ? {} : { ignore_states: statesOf(plain.ignore_states).join(',') }),
    ...json(
      'from_numbers',
      from_numbers?.map((number) => parsePhoneNumber(number) ?? number),
    ),
    ...json('retry', retry),
    ...json('holidays', holidays),
    ...json('calling_days', calling_days && [...new Set(calling_days)].sort()),
    ...json('stop_when', stop_when),
    ...json('agent_tools', agent_tools && [...new Set(agent_tools)]),
  } as Partial<CampaignFields>
}

export function campaignBody(
  campaign: CampaignWithLists,
  status: CampaignState,
  prospects: number,
): Static<typeof CampaignBody> {
  const {
    id,
    workspace_id,
    version: _,
    deleted_at: __,
    lists,
    created_at,
    updated_at,
    pause_reason,
    ...fields
  } = campaign
  return {
    ...fields,
    campaign_id: id,
    workspace: workspace_id,
    status,
    pause_reason: pause_reason as Static<typeof CampaignBody>['pause_reason'],
    lists: lists.map((list) => ({ list_uuid: list.id, list_slug: list.slug, name: list.name, active: list.active })),
    prospects,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

export const campaignExample: Static<typeof CampaignBody> = {
  campaign_id: '0197f3a2-7c1e-7000-8000-000000000021',
  slug: 'renewals',
  name: 'Renewals',
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  workspace: '0197f3a2-7c1e-7000-8000-000000000002',
  email: 'ada@example.com',
  locale_name: 'USCA',
  active: true,
  call_ratio: 1,
  pacing: 'predictive',
  dialer_interval: 10,
  max_active_calls: 0,
  max_number_calls: 10,
  min_time_between_calls: 30,
  dupe_days: 90,
  expire_days: 90,
  earliest_prospect_time: '09:00:00',
  latest_prospect_time: '21:00:00',
  ignore_states: 'TX',
  filter_holidays: true,
  max_wait_time: 60,
  queue_strategy: 'longest-idle-agent',
  wrap_up_time: 3,
  paused: false,
  from_numbers: [],
  max_calls_per_number_per_day: 0,
  retry: { busy: { after_minutes: 20 } },
  voicemail_resolves: false,
  consent_required: false,
  holidays: ['2026-12-24'],
  calling_days: [1, 2, 3, 4, 5],
  budget: null,
  stop_when: { failure_rate: 0.5, window: 50 },
  webhook_before_dial: null,
  agent_tools: ['do_not_call', 'call_back'],
  abandoned_message: '',
  status: 'Stopped',
  pause_reason: null,
  lists: [{ list_uuid: '0197f3a2-7c1e-7000-8000-000000000022', list_slug: 'renewals', name: 'Renewals', active: true }],
  prospects: 250,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}
