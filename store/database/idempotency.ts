import { type Kysely, sql } from 'kysely'
import type { GlobalTables } from './schema.ts'
import type { Tenant } from './tenant.ts'

/** Answers kept by `Idempotency-Key`. A key belongs to a workspace, or to a user where the request is of none, and is forgotten after a day. */

const KEPT = sql<Date>`now() - interval '24 hours'`

/** What is known of a key: its answer's JSON, or null where its effect has not ended in an answer. */
interface KeptAnswer {
  requestHash: Buffer
  answer: string | null
  /** The id of what the request makes, where it is fixed before. */
  effectId: string | null
  createdAt: Date
}

export async function keptAnswer(tenant: Tenant, key: string): Promise<KeptAnswer | undefined> {
  const row = await tenant.db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'answer', 'effect_id', 'created_at'])
    .where('key', '=', key)
    .where('created_at', '>', KEPT)
    .executeTakeFirst()
  return (
    row && { requestHash: row.request_hash, answer: row.answer, effectId: row.effect_id, createdAt: row.created_at }
  )
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

/** Where the keys of one workspace or user are kept. */
export interface KeyShelf {
  /** Names its owner, so that no two shelves have the same. */
  readonly name: string
  find(key: string): Promise<KeptAnswer | undefined>
  /** False when the key is taken. */
  claim(key: string, requestHash: Buffer): Promise<boolean>
  keep(key: string, answer: string): Promise<void>
  drop(key: string): Promise<void>
}

export const shelfOfWorkspace = (tenant: Tenant): KeyShelf => ({
  name: `workspace ${tenant.workspaceId}`,
  find: (key) => keptAnswer(tenant, key),
  claim: (key, requestHash) => claim(tenant, key, requestHash),
  keep: (key, answer) => keepAnswer(tenant, key, answer),
  drop: (key) => dropKey(tenant, key),
})

export function shelfOfUser(db: Kysely<GlobalTables>, userId: string): KeyShelf {
  return {
    name: `user ${userId}`,
    async find(key) {
      const row = await db
        .selectFrom('user_idempotency_keys')
        .select(['request_hash', 'answer', 'created_at'])
        .where('user_id', '=', userId)
        .where('key', '=', key)
        .where('created_at', '>', KEPT)
        .executeTakeFirst()
      return row && { requestHash: row.request_hash, answer: row.answer, effectId: null, createdAt: row.created_at }
    },
    async claim(key, requestHash) {
      const ofUser = db.deleteFrom('user_idempotency_keys').where('user_id', '=', userId)
      await ofUser.where('key', '=', key).where('created_at', '<=', KEPT).execute()
      const row = await db
        .insertInto('user_idempotency_keys')
        .values({ user_id: userId, key, request_hash: requestHash, answer: null })
        .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
        .returning('key')
        .executeTakeFirst()
      return row !== undefined
    },
    async keep(key, answer) {
      const ofUser = db.updateTable('user_idempotency_keys').set({ answer }).where('user_id', '=', userId)
      await ofUser.where('key', '=', key).execute()
    },
    async drop(key) {
      await db.deleteFrom('user_idempotency_keys').where('user_id', '=', userId).where('key', '=', key).execute()
    },
  }
}
