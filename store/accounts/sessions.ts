import { createHash, randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { cleanText } from '../../runtime/lib/text.ts'
import type { GlobalTables, SessionsTable } from '../database/schema.ts'

/**
 * Logins. Each is a session with one refresh token (256 random bits, kept as SHA-256) and the access tokens that name it. Its end
 * takes them all with it at once.
 */

const TOKEN = /^[A-Za-z0-9_-]{43}$/
const MAX_USER_AGENT_LENGTH = 300

interface IssuedRefreshToken {
  token: string
  userId: string
  sessionId: string
}

/** The client that logs in. */
interface Origin {
  address: string
  userAgent: string
}

export type Session = Pick<SessionsTable, 'id' | 'used_at' | 'expires_at' | 'address' | 'user_agent'> & {
  created_at: Date
}

/** Starts a session, and forgets the user's past ones. */
export async function startSession(
  db: Kysely<GlobalTables>,
  userId: string,
  from: Origin,
  nowMs: number,
  ttlS: number,
): Promise<IssuedRefreshToken> {
  return db.transaction().execute(async (trx) => {
    const now = new Date(nowMs)
    await trx.deleteFrom('refresh_tokens').where('user_id', '=', userId).where('expires_at', '<', now).execute()
    await trx.deleteFrom('sessions').where('user_id', '=', userId).where('expires_at', '<', now).execute()
    const sessionId = uuidv7()
    await trx
      .insertInto('sessions')
      .values({
        id: sessionId,
        user_id: userId,
        created_at: now,
        used_at: now,
        expires_at: new Date(nowMs + ttlS * 1000),
        address: from.address,
        user_agent: cleanText(from.userAgent, MAX_USER_AGENT_LENGTH),
      })
      .execute()
    return insertToken(trx, userId, sessionId, nowMs, ttlS)
  })
}

/**
 * The session and owner of a refresh token, noted as used now. Undefined where every token is unknown, expired or revoked. A browser may
 * hold one token of each path that the cookie had over time.
 */
export async function useRefreshToken(
  db: Kysely<GlobalTables>,
  tokens: readonly string[],
  nowMs: number,
): Promise<{ userId: string; sessionId: string } | undefined> {
  const hashes = tokens.filter((token) => TOKEN.test(token)).map(hashToken)
  if (hashes.length === 0) return undefined
  const row = await db
    .selectFrom('refresh_tokens')
    .select(['user_id', 'family_id'])
    .where('token_hash', 'in', hashes)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', new Date(nowMs))
    .orderBy('created_at', 'desc')
    .executeTakeFirst()
  if (row === undefined) return undefined
  await db
    .updateTable('sessions')
    .set({ used_at: new Date(nowMs) })
    .where('id', '=', row.family_id)
    .execute()
  return { userId: row.user_id, sessionId: row.family_id }
}

/** The sessions of refresh tokens and whose they are; unknown tokens have none. */
export async function sessionsOfTokens(
  db: Kysely<GlobalTables>,
  tokens: readonly string[],
): Promise<{ id: string; userId: string }[]> {
  const hashes = tokens.filter((token) => TOKEN.test(token)).map(hashToken)
  if (hashes.length === 0) return []
  const rows = await db
    .selectFrom('refresh_tokens')
    .select(['family_id', 'user_id'])
    .where('token_hash', 'in', hashes)
    .execute()
  return rows.map((row) => ({ id: row.family_id, userId: row.user_id }))
}

/** The user's sessions that are not over, the last used first. */
export function sessionsOf(db: Kysely<GlobalTables>, userId: string, nowMs: number): Promise<Session[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'used_at', 'expires_at', 'address', 'user_agent'])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', new Date(nowMs))
    .orderBy('used_at', 'desc')
    .execute()
}

/** False when the user has no such session, or it is over. */
export async function endSession(
  db: Kysely<GlobalTables>,
  userId: string,
  sessionId: string,
  nowMs: number,
): Promise<boolean> {
  const ended = await endWhere(db, userId, nowMs, sql`id = ${sessionId}`)
  return ended.length > 0
}

/** Ends every session of a user but `except`, and every access token that names no session. Returns how many ended. */
export async function endSessions(
  db: Kysely<GlobalTables>,
  userId: string,
  nowMs: number,
  except?: string,
): Promise<number> {
  const ended = await endWhere(db, userId, nowMs, except === undefined ? sql`true` : sql`id <> ${except}`)
  await db
    .updateTable('users')
    .set({ signed_out_at: new Date(nowMs) })
    .where('id', '=', userId)
    .execute()
  return ended.length
}

async function endWhere(
  db: Kysely<GlobalTables>,
  userId: string,
  nowMs: number,
  condition: ReturnType<typeof sql>,
): Promise<string[]> {
  const now = new Date(nowMs)
  const ended = await db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where(sql<boolean>`${condition}`)
    .returning('id')
    .execute()
  const ids = ended.map(({ id }) => id)
  if (ids.length > 0) {
    await db
      .updateTable('refresh_tokens')
      .set({ revoked_at: now })
      .where('family_id', 'in', ids)
      .where('revoked_at', 'is', null)
      .execute()
  }
  return ids
}

/** Whether the user ever logged in from this address, as far back as sessions are kept. */
export async function hasLoggedInFrom(db: Kysely<GlobalTables>, userId: string, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row !== undefined
}

async function insertToken(
  db: Kysely<GlobalTables>,
  userId: string,
  sessionId: string,
  nowMs: number,
  ttlS: number,
): Promise<IssuedRefreshToken> {
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('refresh_tokens')
    .values({
      id: uuidv7(),
      family_id: sessionId,
      user_id: userId,
      token_hash: hashToken(token),
      created_at: new Date(nowMs),
      expires_at: new Date(nowMs + ttlS * 1000),
    })
    .execute()
  return { token, userId, sessionId }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
