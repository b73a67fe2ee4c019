import { createHash, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { GlobalTables } from './schema.ts'

/**
 * Refresh tokens: 256 random bits each, kept as SHA-256. Each use makes the next token of its family; a token used again
 * later than the grace means that somebody has a copy, so the whole family ends.
 */

/** Two tabs, or a client that lost the answer, may use the same token again this soon. */
export const REUSE_GRACE_MS = 10_000

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export interface IssuedRefreshToken {
  token: string
  userId: string
}

/**
 * Starts a family, and forgets the user's tokens past their end. A revoked or rotated one stays until then, so that its
 * reuse is recognised.
 */
export async function issueRefreshToken(
  db: Kysely<GlobalTables>,
  userId: string,
  nowMs: number,
  ttlS: number,
): Promise<IssuedRefreshToken> {
  await db
    .deleteFrom('refresh_tokens')
    .where('user_id', '=', userId)
    .where('expires_at', '<', new Date(nowMs))
    .execute()
  return insertToken(db, userId, uuidv7(), nowMs, ttlS)
}

/** Trades a token for the next of its family. Undefined when it is unknown, expired, revoked or replayed. */
export async function rotateRefreshToken(
  db: Kysely<GlobalTables>,
  token: string,
  nowMs: number,
  ttlS: number,
): Promise<IssuedRefreshToken | undefined> {
  if (!TOKEN.test(token)) return undefined
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('refresh_tokens')
      .selectAll()
      .where('token_hash', '=', hashToken(token))
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined || row.revoked_at !== null || row.expires_at.getTime() <= nowMs) return undefined
    if (row.rotated_at !== null && nowMs - row.rotated_at.getTime() > REUSE_GRACE_MS) {
      await revokeFamily(trx, row.family_id, nowMs)
      return undefined
    }
    if (row.rotated_at === null) {
      await trx
        .updateTable('refresh_tokens')
        .set({ rotated_at: new Date(nowMs) })
        .where('id', '=', row.id)
        .execute()
    }
    return insertToken(trx, row.user_id, row.family_id, nowMs, ttlS)
  })
}

/** Ends the family of a token; an unknown token is no error. */
export async function revokeRefreshToken(db: Kysely<GlobalTables>, token: string, nowMs: number): Promise<void> {
  if (!TOKEN.test(token)) return
  const row = await db
    .selectFrom('refresh_tokens')
    .select('family_id')
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (row) await revokeFamily(db, row.family_id, nowMs)
}

async function revokeFamily(db: Kysely<GlobalTables>, familyId: string, nowMs: number): Promise<void> {
  await db
    .updateTable('refresh_tokens')
    .set({ revoked_at: new Date(nowMs) })
    .where('family_id', '=', familyId)
    .where('revoked_at', 'is', null)
    .execute()
}

async function insertToken(
  db: Kysely<GlobalTables>,
  userId: string,
  familyId: string,
  nowMs: number,
  ttlS: number,
): Promise<IssuedRefreshToken> {
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('refresh_tokens')
    .values({
      id: uuidv7(),
      family_id: familyId,
      user_id: userId,
      token_hash: hashToken(token),
      created_at: new Date(nowMs),
      expires_at: new Date(nowMs + ttlS * 1000),
    })
    .execute()
  return { token, userId }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
