import { Type } from 'typebox'
import type { ListedApiKey } from '../../store/api-keys.ts'
import { Id, Instant, Nullable } from '../schema.ts'

export const ListedApiKeyBody = Type.Object({
  id: Id,
  name: Type.String(),
  prefix: Type.String({ description: 'How the key begins.' }),
  created_at: Instant,
  last_used_at: Nullable(Instant),
})

export const CreatedApiKeyBody = Type.Object({
  id: Id,
  name: Type.String(),
  prefix: Type.String(),
  key: Type.String({ description: 'The key. It is shown this once.' }),
  created_at: Instant,
})

export const CreateApiKeyInput = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

export function listedApiKeyBody({ id, name, prefix, created_at, last_used_at }: ListedApiKey) {
  return {
    id,
    name,
    prefix,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at === null ? null : last_used_at.toISOString(),
  }
}
