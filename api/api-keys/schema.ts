import { Type } from 'typebox'
import type { ListedApiKey } from '../../store/accounts/api-keys.ts'
import { KEY_SCOPES } from '../../store/accounts/tables.ts'
import { Id, Instant, NameInput, Nullable } from '../schema.ts'

const Scopes = Type.Array(Type.Enum([...KEY_SCOPES]), {
  minItems: 1,
  maxItems: KEY_SCOPES.length,
  description:
    '`read` what the workspace has; `calls`: place calls, open sessions, chat; `agents`, `batches`, `numbers`, `campaigns`: also make and change these, as a Developer may; as an Admin may: `webhooks`, `privacy` (erase a person), `delete` (agents, calls, campaigns, lists).',
})

const common = {
  id: Id,
  name: Type.String(),
  prefix: Type.String({ description: 'How the key begins.' }),
  scopes: Scopes,
  created_at: Instant,
  expires_at: Nullable(Instant),
}

export const ListedApiKeyBody = Type.Object({
  ...common,
  created_by: Nullable(Type.String({ format: 'uuid', description: 'The user who made it.' })),
  last_used_at: Nullable(Instant),
})

export const CurrentKeyBody = Type.Object({
  ...common,
  workspace_id: Id,
  workspace_name: Type.String(),
})

export const CreatedApiKeyBody = Type.Object({
  ...common,
  key: Type.String({ description: 'The key. It is shown this once.' }),
})

export const CreateApiKeyInput = Type.Object({
  name: NameInput,
  scopes: Type.Array(Type.Enum([...KEY_SCOPES]), {
    minItems: 1,
    maxItems: KEY_SCOPES.length,
    default: ['read', 'calls'],
    description: 'What the key may do.',
  }),
  expires_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'When it stops working; default never.' })),
  ),
})

export const RotateApiKeyInput = Type.Object({
  grace_s: Type.Integer({
    minimum: 0,
    maximum: 2_592_000,
    default: 86_400,
    description: 'How many seconds the old key goes on working.',
  }),
})

export function listedApiKeyBody({ last_used_at, created_by, ...key }: ListedApiKey) {
  return { ...keyFields(key), created_by, last_used_at: last_used_at?.toISOString() ?? null }
}

/** The key itself is known at its making alone. */
export function createdApiKeyBody(row: ListedApiKey, key: string) {
  return { ...keyFields(row), key }
}

function keyFields(row: Omit<ListedApiKey, 'last_used_at' | 'created_by'>) {
  const { id, name, prefix, scopes, created_at, expires_at } = row
  return {
    id,
    name,
    prefix,
    scopes,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
  }
}
