import { uuidv7 } from 'uuidv7'
import type { ApiKey } from './schema.ts'
import type { Tenant } from './tenant.ts'

export type ListedApiKey = Omit<ApiKey, 'key_hash' | 'workspace_id'>

const LISTED = ['id', 'name', 'prefix', 'created_at', 'last_used_at'] as const

export function insertApiKey(
  tenant: Tenant,
  key: { name: string; prefix: string; hash: Buffer },
): Promise<ListedApiKey> {
  return tenant.db
    .insertInto('api_keys')
    .values({ id: uuidv7(), name: key.name, prefix: key.prefix, key_hash: key.hash })
    .returning(LISTED)
    .executeTakeFirstOrThrow()
}

/** Oldest first. */
export function listApiKeys(tenant: Tenant): Promise<ListedApiKey[]> {
  return tenant.db.selectFrom('api_keys').select(LISTED).orderBy('id').execute()
}

/** False when the workspace has no such key. */
export async function deleteApiKey(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
