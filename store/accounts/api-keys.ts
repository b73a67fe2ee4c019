import { uuidv7 } from 'uuidv7'
import type { ApiKey, KeyScope } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

export type ListedApiKey = Omit<ApiKey, 'key_hash' | 'workspace_id'>

const LISTED = ['id', 'name', 'prefix', 'scopes', 'created_by', 'created_at', 'expires_at', 'last_used_at'] as const

interface NewApiKey {
  name: string
  prefix: string
  hash: Buffer
  scopes: KeyScope[]
  expiresAt: Date | null
  createdBy: string | null
}

export function insertApiKey(tenant: Tenant, key: NewApiKey): Promise<ListedApiKey> {
  return tenant.db
    .insertInto('api_keys')
    .values({
      id: uuidv7(),
      name: key.name,
      prefix: key.prefix,
      key_hash: key.hash,
      scopes: key.scopes,
      expires_at: key.expiresAt,
      created_by: key.createdBy,
    })
    .returning(LISTED)
    .executeTakeFirstOrThrow()
}

/** Oldest first. */
export function listApiKeys(tenant: Tenant): Promise<ListedApiKey[]> {
  return tenant.db.selectFrom('api_keys').select(LISTED).orderBy('id').execute()
}

/**
 * Puts a new key in the place of an old one, which works on until `until` or its own end, whichever comes first. Undefined
 * when the workspace has no such key.
 */
export function replaceApiKey(
  tenant: Tenant,
  id: string,
  next: { prefix: string; hash: Buffer; createdBy: string | null },
  until: Date,
): Promise<ListedApiKey | undefined> {
  return tenant.db.transaction().execute(async (db) => {
    const old = await db.selectFrom('api_keys').select(LISTED).where('id', '=', id).forUpdate().executeTakeFirst()
    if (old === undefined) return undefined
    if (old.expires_at === null || old.expires_at > until) {
      await db.updateTable('api_keys').set({ expires_at: until }).where('id', '=', id).execute()
    }
    const { name, scopes, expires_at } = old
    return insertApiKey({ ...tenant, db }, { ...next, name, scopes, expiresAt: expires_at })
  })
}

/** False when the workspace has no such key. */
export async function deleteApiKey(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
