import { Type } from 'typebox'
import type { PhoneNumberRow } from '../../store/database/schema.ts'
import { Id, Instant, Nullable, PhoneNumberInput } from '../schema.ts'

export const PhoneNumberBody = Type.Object({
  phone_number: Type.String({ description: 'E.164.' }),
  workspace_id: Id,
  provider: Type.String({ description: 'The telephony plugin that carries its calls.' }),
  agent_id: Nullable(Type.String({ format: 'uuid', description: 'The agent that answers.' })),
  trunk: Nullable(Type.String({ description: 'The trunk its calls take, where the provider has several.' })),
  max_concurrent_calls: Nullable(Type.Integer({ description: 'Calls it may have at once; null: any number.' })),
  inbound_webhook: Nullable(
    Type.String({ description: 'Asked, before a call to it is answered, who is to answer: see docs/events.md.' }),
  ),
  created_at: Instant,
  updated_at: Instant,
})
export const PhoneNumberWithSecretBody = Type.Object({
  ...PhoneNumberBody.properties,
  inbound_webhook_secret: Type.Optional(
    Type.String({ description: 'Where an `inbound_webhook` was just set: signs what it is asked. Shown this once.' }),
  ),
})

const InboundWebhook = Nullable(
  Type.String({ minLength: 1, maxLength: 2_000, description: 'http or https; null: nobody is asked.' }),
)

const MaxCalls = Nullable(
  Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Calls it may have at once; null: any number.' }),
)

const AgentId = Nullable(Type.String({ description: 'An agent of the workspace; null for none.' }))

export const CreatePhoneNumberInput = Type.Object({
  phone_number: PhoneNumberInput('International format; stored as E.164.'),
  provider: Type.String({ minLength: 1, maxLength: 64 }),
  agent_id: Type.Optional(AgentId),
  trunk: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  inbound_webhook: Type.Optional(InboundWebhook),
})

export const ChangePhoneNumberInput = Type.Object({
  agent_id: Type.Optional(AgentId),
  trunk: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Another trunk of the workspace, from the next call on.',
    }),
  ),
  max_concurrent_calls: Type.Optional(MaxCalls),
  inbound_webhook: Type.Optional(InboundWebhook),
})

export const PurchaseInput = Type.Object({
  provider: Type.String({ minLength: 1, maxLength: 64 }),
  country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2, as `US`.' }),
  area_code: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}$' })),
})

export const phoneNumberExample = {
  phone_number: '+14155550199',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  provider: 'sim',
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  trunk: null,
  max_concurrent_calls: null,
  inbound_webhook: null,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}

/** A phone number as callers see it. */
export function phoneNumberBody(row: PhoneNumberRow) {
  return {
    phone_number: row.phone_number,
    workspace_id: row.workspace_id,
    provider: row.provider,
    agent_id: row.agent_id,
    trunk: row.trunk,
    max_concurrent_calls: row.max_concurrent_calls,
    inbound_webhook: row.inbound_webhook,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
