import { type Static, Type } from 'typebox'
import type { Binding } from '../../runtime/plugin-sdk/telephony/extension.ts'
import type { ExtensionRow } from '../../store/database/schema.ts'
import { Id, Instant, Nullable } from '../schema.ts'

/** As a transfer names it: digits too few to be a number of somewhere else, or a name. */
const Name = Type.String({
  pattern: '^(?:[0-9*#]{1,6}|[A-Za-z][A-Za-z0-9_-]{0,31})$',
  description: 'What is dialled: up to six digits, or a name.',
})
const DisplayName = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[^\\u0000-\\u001f"<>]+$',
    description: 'What others see when it calls.',
  }),
)
const AgentId = Nullable(
  Type.String({ format: 'uuid', description: 'Answers calls to it while no phone is registered; null: nobody does.' }),
)

const Phone = Type.Object({
  contact: Type.String({ description: "The phone's own address." }),
  transport: Type.Enum(['udp', 'tcp', 'tls']),
  address: Type.String({ description: 'Where its registration came from.' }),
  user_agent: Nullable(Type.String()),
  expires_at: Instant,
})

export const ExtensionBody = Type.Object({
  extension_id: Id,
  workspace_id: Id,
  name: Name,
  display_name: DisplayName,
  agent_id: AgentId,
  username: Type.String({ description: 'What the phone logs in as, and its user: unique on the installation.' }),
  phones: Type.Array(Phone, { description: 'Those that are registered now, the newest first.' }),
  created_at: Instant,
  updated_at: Instant,
})

export const NewExtensionBody = Type.Object({
  ...ExtensionBody.properties,
  password: Type.String({ description: 'Shown this once.' }),
})

const closed = { additionalProperties: false } as const

export const CreateExtensionInput = Type.Object(
  { name: Name, display_name: Type.Optional(DisplayName), agent_id: Type.Optional(AgentId) },
  closed,
)

export const ChangeExtensionInput = Type.Object(
  { display_name: Type.Optional(DisplayName), agent_id: Type.Optional(AgentId) },
  closed,
)

export const extensionExample: Static<typeof ExtensionBody> = {
  extension_id: '0197f3a2-7c1e-7000-8000-000000000015',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  name: '204',
  display_name: 'Front desk',
  agent_id: null,
  username: '204.5f3c8a1b2d',
  phones: [
    {
      contact: 'sip:204.5f3c8a1b2d@10.0.0.7:5060',
      transport: 'udp',
      address: '198.51.100.7',
      user_agent: 'Linphone',
      expires_at: '2026-01-31T09:05:00.000Z',
    },
  ],
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}

/** An extension as callers see it. */
export function extensionBody(row: ExtensionRow, phones: readonly Binding[]): Static<typeof ExtensionBody> {
  return {
    extension_id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    display_name: row.display_name,
    agent_id: row.agent_id,
    username: row.username,
    phones: phones.map(({ contact, protocol, address, userAgent, expiresAtMs }) => ({
      ...{ contact, address, transport: protocol, user_agent: userAgent ?? null },
      expires_at: new Date(expiresAtMs).toISOString(),
    })),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
