import { type Static, Type } from 'typebox'
import { NUMBER_TYPES, type NumberType } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { AuditRow } from '../../store/accounts/audit-log.ts'
import type { ListedWorkspace } from '../../store/accounts/instance.ts'
import { SECURITY_EVENTS, type SecurityRow } from '../../store/accounts/security-log.ts'
import type { User } from '../../store/database/schema.ts'
import type { CarrierNumber } from '../../store/telephony/carrier-numbers.ts'
import type { TrunkHost } from '../../store/telephony/trunk-hosts.ts'
import type { OperatorQuotas, WorkspaceUse } from '../../store/workspaces/workspace-quotas.ts'
import { Id, Instant, Nullable, PhoneNumberInput } from '../schema.ts'

const Signup = Type.Enum(['open', 'invitation', 'closed'])

export const SettingsBody = Type.Object({
  signup: Nullable(Signup),
  effective_signup: Type.Enum(['open', 'invitation', 'closed', 'local'], {
    description: '`local`: requests from the machine itself, and everybody until there is a user.',
  }),
  mail: Type.Boolean({
    description: 'Whether a mail server is set; without one links are handed out by the operator.',
  }),
  version: Type.String(),
  commit: Type.String({ description: 'Of git; `unknown` where it is neither a checkout nor an image that names it.' }),
})

export const SettingsInput = Type.Object({
  signup: Type.Union([Signup, Type.Null()], { description: 'null: what the configuration says.' }),
})

export const MaintenanceBody = Type.Object({
  maintenance: Nullable(
    Type.Object({
      since: Type.String({ format: 'date-time' }),
      message: Type.String({ description: 'The operator’s sentence; may be empty.' }),
    }),
  ),
})

const variables = (description: string) => Type.Array(Type.String(), { description })

export const ReloadBody = Type.Object({
  detail: Type.String(),
  changed: variables('Variables of this node that are in force anew.'),
  needs_restart: variables('Variables that changed, too, and wait for a restart.'),
  processes: Type.Integer({ description: 'Api nodes and job workers that were asked, this one included.' }),
})

const count = (description: string) => Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description }))

const QUOTAS = {
  calls_at_once: count('Phone calls at once.'),
  web_sessions_at_once: count('Web sessions at once.'),
  agents: count('Agents.'),
  documents: count('Documents of all agents.'),
  storage_bytes: Nullable(Type.Integer({ minimum: 0, maximum: 2 ** 52, description: 'Bytes of documents.' })),
  minutes_a_month: count('Minutes of calls a calendar month (UTC).'),
  cost_usd_a_month: Nullable(Type.Number({ minimum: 0, maximum: 1e9, description: 'Cost of calls a calendar month.' })),
  purchases: Type.Boolean({ description: 'Whether it may buy phone numbers.' }),
  bought_numbers: count('Bought phone numbers it may have at once.'),
  providers: Nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 100,
      description: 'The providers it may use, and so whose keys; null: all.',
    }),
  ),
  own_keys: Type.Boolean({
    description: 'Whether it may use keys of its own accounts at providers, also of those that `providers` leaves out.',
  }),
  dial_countries: Nullable(
    Type.Array(Type.String({ pattern: '^(?:[A-Z]{2}|[*])$' }), {
      maxItems: 300,
      description:
        'Countries it may call (ISO 3166-1 alpha-2), `*` for all; null: over its own trunks as these say, on your accounts the country of the calling number.',
    }),
  ),
  dial_number_types: Nullable(
    Type.Array(Type.Enum([...NUMBER_TYPES]), {
      maxItems: NUMBER_TYPES.length,
      description:
        'Kinds of numbers it may call; null: over its own trunks as these say, on your accounts `fixed_line`, `mobile`, `toll_free`, `voip`.',
    }),
  ),
}

const Quotas = Type.Object(QUOTAS, { description: 'null: no limit.' })

export const QuotasInput = Type.Object(
  Object.fromEntries(Object.entries(QUOTAS).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Name in keyof typeof QUOTAS]: ReturnType<typeof Type.Optional<(typeof QUOTAS)[Name]>>
  },
)

export const OperatedWorkspaceBody = Type.Object({
  workspace_id: Id,
  name: Type.String(),
  type: Type.String(),
  slug: Type.String(),
  members: Type.Integer(),
  suspended_at: Nullable(Instant),
  suspended_reason: Nullable(Type.String()),
  created_at: Instant,
  use: Type.Object({
    agents: Type.Integer(),
    documents: Type.Integer(),
    storage_bytes: Type.Integer(),
    calls_now: Type.Integer(),
    minutes_this_month: Type.Number(),
    cost_usd_this_month: Type.Number(),
  }),
  quotas: Quotas,
})

export const SuspendInput = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, description: 'For yourself and the workspace’s members.' }),
  end_calls: Type.Boolean({ default: false, description: 'Whether calls that run are ended; else they finish.' }),
})

export const SuspensionBody = Type.Object({ detail: Type.String(), calls_ended: Type.Integer() })

export const TrunkHostBody = Type.Object({
  trunk_host_id: Id,
  host: Type.String(),
  workspace_id: Id,
  approved_by: Nullable(Type.String({ format: 'uuid' })),
  created_at: Instant,
})

export const TrunkHostInput = Type.Object({
  host: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Name, address or range of addresses (`192.0.2.0/23`), without port.',
  }),
  workspace_id: Type.String({ format: 'uuid' }),
})

export const CarrierNumberBody = Type.Object({
  provider: Type.String(),
  phone_number: Type.String({ description: 'E.164.' }),
  workspace_id: Id,
  assigned_by: Nullable(
    Type.String({
      format: 'uuid',
      description: 'The operator; null: bought by the workspace, or older than this list.',
    }),
  ),
  created_at: Instant,
})

export const CarrierNumberInput = Type.Object({
  provider: Type.String({ minLength: 1, maxLength: 64, description: 'A telephony plugin with an account of yours.' }),
  phone_number: PhoneNumberInput('International format; stored as E.164.'),
  workspace_id: Type.String({ format: 'uuid' }),
})

export const carrierNumberExample = {
  provider: 'twilio',
  phone_number: '+14155550100',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  assigned_by: '0197f3a2-7c1e-7000-8000-000000000001',
  created_at: '2026-01-31T09:00:00.000Z',
}

export function carrierNumberBody(number: CarrierNumber) {
  const { provider, phone_number, workspace_id, assigned_by, created_at } = number
  return { provider, phone_number, workspace_id, assigned_by, created_at: created_at.toISOString() }
}

export const OperatedUserBody = Type.Object({
  user_id: Id,
  name: Type.String(),
  email: Type.String(),
  is_operator: Type.Boolean(),
  email_verified: Type.Boolean(),
  created_at: Instant,
})

export const UserRightsInput = Type.Object({ is_operator: Type.Boolean() })

export const LinkBody = Type.Object({
  link: Type.String({ description: 'Works once. Hand it to the person, to nobody else.' }),
  token: Type.String({ description: 'What the link carries.' }),
  expires_at: Instant,
})

export const SignupInvitationInput = Type.Object({ email: Type.String({ format: 'email', maxLength: 254 }) })

export const AuditBody = Type.Object({
  id: Id,
  at: Instant,
  workspace_id: Nullable(Id),
  actor: Type.Object({
    kind: Type.Enum(['user', 'key', 'shell']),
    id: Nullable(Id),
    name: Type.String(),
  }),
  action: Type.String({ description: 'Method and path of the endpoint, or the command.' }),
  resource: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
  address: Type.String(),
  request_id: Type.String(),
})

export const SecurityBody = Type.Object({
  id: Id,
  at: Instant,
  kind: Type.Enum([...SECURITY_EVENTS]),
  user_id: Nullable(Id),
  account: Type.String({ description: 'E-mail address; empty where there is no such account.' }),
  workspace_id: Nullable(Id),
  detail: Type.Record(Type.String(), Type.Unknown()),
  address: Type.String(),
  request_id: Type.String(),
})

export const securityExample = {
  id: '0197f3a2-7c1e-7000-8000-00000000000e',
  at: '2026-01-31T09:00:00.000Z',
  kind: 'login_failed',
  user_id: '0197f3a2-7c1e-7000-8000-000000000001',
  account: 'ada@example.com',
  workspace_id: null,
  detail: {},
  address: '203.0.113.9',
  request_id: 'f1c1a3f0-6f0b-4a86-9a6e-6a1f7d7d0c12',
}

export const auditExample = {
  id: '0197f3a2-7c1e-7000-8000-00000000000b',
  at: '2026-01-31T09:00:00.000Z',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  actor: { kind: 'user', id: '0197f3a2-7c1e-7000-8000-000000000001', name: 'ada@example.com' },
  action: 'DELETE /agents/{agent_id}',
  resource: '/agents/0197f3a2-7c1e-7000-8000-000000000003',
  detail: {},
  address: '203.0.113.9',
  request_id: 'f1c1a3f0-6f0b-4a86-9a6e-6a1f7d7d0c11',
}

export const operatorWorkspaceExample = {
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  name: 'Analytical Engines',
  type: 'team',
  slug: 'analytical-engines',
  members: 3,
  suspended_at: null,
  suspended_reason: null,
  created_at: '2026-01-31T09:00:00.000Z',
  use: {
    agents: 2,
    documents: 5,
    storage_bytes: 120_000,
    calls_now: 1,
    minutes_this_month: 412.5,
    cost_usd_this_month: 18.2,
  },
  quotas: {
    calls_at_once: 10,
    web_sessions_at_once: null,
    agents: null,
    documents: null,
    storage_bytes: null,
    minutes_a_month: 5000,
    cost_usd_a_month: null,
    purchases: false,
    bought_numbers: 10,
    providers: null,
    own_keys: true,
    dial_countries: ['US', 'CA'],
    dial_number_types: null,
  },
}

export const trunkHostExample = {
  trunk_host_id: '0197f3a2-7c1e-7000-8000-00000000000c',
  host: 'sip.example.com',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  approved_by: '0197f3a2-7c1e-7000-8000-000000000001',
  created_at: '2026-01-31T09:00:00.000Z',
}

export const operatorUserExample = {
  user_id: '0197f3a2-7c1e-7000-8000-000000000001',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  is_operator: false,
  email_verified: true,
  created_at: '2026-01-31T09:00:00.000Z',
}

export const linkExample = {
  link: 'https://voice.example.com/account/reset#token=Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b',
  token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b',
  expires_at: '2026-01-31T10:00:00.000Z',
}

export function operatedWorkspaceBody(row: ListedWorkspace, use: WorkspaceUse, quotas: OperatorQuotas) {
  return {
    workspace_id: row.id,
    name: row.name,
    type: row.type,
    slug: row.slug,
    members: row.members,
    suspended_at: row.suspended_at?.toISOString() ?? null,
    suspended_reason: row.suspended_reason,
    created_at: row.created_at.toISOString(),
    use,
    quotas: { ...quotas, dial_number_types: quotas.dial_number_types as NumberType[] | null },
  }
}

export function trunkHostBody({ id, created_at, host, workspace_id, approved_by }: TrunkHost) {
  return { trunk_host_id: id, host, workspace_id, approved_by, created_at: created_at.toISOString() }
}

export function operatedUserBody(user: User, isOperator: boolean) {
  return {
    user_id: user.id,
    name: user.name,
    email: user.email,
    is_operator: isOperator,
    email_verified: user.email_verified_at !== null,
    created_at: user.created_at.toISOString(),
  }
}

export function auditBody(row: AuditRow) {
  return {
    id: row.id,
    at: row.at.toISOString(),
    workspace_id: row.workspace,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    resource: row.resource,
    detail: row.detail,
    address: row.address,
    request_id: row.request_id,
  }
}

export function securityBody(row: SecurityRow) {
  return {
    id: row.id,
    at: row.at.toISOString(),
    kind: row.kind,
    user_id: row.user_id,
    account: row.account,
    workspace_id: row.workspace,
    detail: row.detail,
    address: row.address,
    request_id: row.request_id,
  }
}

export const ModelsBody = Type.Object({
  available: Type.Boolean({
    description: 'Whether models can be downloaded here: voice workers run on this machine, as with `npm start`.',
  }),
  engine: Nullable(
    Type.Object(
      {
        package: Type.String(),
        license: Type.String(),
        megabytes: Type.Number(),
        here: Type.Boolean(),
      },
      { description: 'What runs the models; it is installed with the first one.' },
    ),
  ),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      title: Type.String(),
      kind: Type.Enum(['stt', 'tts', 'denoise'], { description: 'Whether it hears, speaks or takes noise away.' }),
      languages: Type.Array(Type.String(), { description: 'Language tags; `multi` follows what is spoken.' }),
      license: Type.String(),
      megabytes: Type.Number(),
      here: Type.Boolean(),
    }),
  ),
  download: Nullable(
    Type.Object(
      {
        state: Type.Enum(['running', 'done', 'failed']),
        models: Type.Array(Type.String()),
        bytes: Type.Integer(),
        of_bytes: Type.Integer({ description: 'About.' }),
        started_at: Instant,
        message: Nullable(Type.String({ description: 'Why it failed.' })),
      },
      { description: 'The last one since the start of this node.' },
    ),
  ),
})

export const modelsExample: Static<typeof ModelsBody> = {
  available: true,
  engine: { package: 'sherpa-onnx-node', license: 'Apache-2.0', megabytes: 33, here: false },
  models: [
    {
      ...{ model: 'zipformer-en', title: 'Zipformer, English, word by word', kind: 'stt', languages: ['en'] },
      ...{ license: 'Apache-2.0', megabytes: 71, here: false },
    },
  ],
  download: {
    ...{ state: 'running', models: ['zipformer-en'], bytes: 12_000_000, of_bytes: 104_000_000 },
    ...{ started_at: '2026-01-31T09:00:00.000Z', message: null },
  },
}
