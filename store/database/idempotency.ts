import { sql } from 'kysely'
import type { Tenant } from './tenant.ts'

/** Answers kept by `Idempotency-Key`. A key belongs to a workspace and is forgotten after a day. */

const KEPT = sql<Date>`now() - interval '24 hours'`

/** What is known of a key: its answer's JSON, or null where its effect has not ended in an answer. */
interface KeptAnswer {
  requestHash: Buffer
  answer: string | null
  /** The id of what the request makes, where it is fixed before. */
  effectId: string | null
}

export async function keptAnswer(tenant: Tenant, key: string): Promise<KeptAnswer | undefined> {
  const row = await tenant.db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'answer', 'effect_id'])
    .where('key', '=', key)
    .where('created_at', '>', KEPT)
    .executeTakeFirst()
  return row && { requestHash: row.request_hash, answer: row.answer, effectId: row.effect_id }
}

/**
 * Runs `effect` in one transaction with the keeping of its answer: both happen or neither. Who
 * comes with the same key meanwhile waits for that transaction. Undefined, and nothing was done, when the key is taken.
 */
export function keepWithEffect(
  tenant: Tenant,
  key: string,
  requestHash: Buffer,
  effect: (tenant: Tenant) => Promise<string>,
): Promise<string | undefined> {
  return tenant.db.transaction().execute(async (db) => {
    const within: Tenant = { workspaceId: tenant.workspaceId, db }
    if (!(await claim(within, key, requestHash))) return undefined
    const answer = await effect(within)
    await keepAnswer(within, key, answer)
    return answer
  })
}

/** Takes a key for an effect outside the database; false when it is taken. `keepAnswer` or `dropKey` ends it. */
export async function claim(
  tenant: Tenant,
  key: string,
  requestHash: Buffer,
  effectId: string | null = null,
): Promise<boolean> {
  await tenant.db.deleteFrom('idempotency_keys').where('key', '=', key).where('created_at', '<=', KEPT).execute()
  const row = await tenant.db
    .insertInto('idempotency_keys')
    .values({ key, request_hash: requestHash, answer: null, effect_id: effectId })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst()
  return row !== undefined
}

export async function keepAnswer(tenant: Tenant, key: string, answer: string): Promise<void> {
  await tenant.db.updateTable('idempotency_keys').set({ answer }).where('key', '=', key).execute()
}

/** Forgets a key whose effect did not happen. */
export async function dropKey(tenant: Tenant, key: string): Promise<void> {
  await tenant.db.deleteFrom('idempotency_keys').where('key', '=', key).execute()
}
