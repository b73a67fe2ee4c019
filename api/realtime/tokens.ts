import { createHash, randomBytes } from 'node:crypto'
import { SESSION_TOKEN_TTL_S } from '../../runtime/call/control/session-token.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import type { RequesterStanding } from '../auth/standing-rights.ts'

/**
 * One-time tokens that open a realtime session. A token is 256 random bits; Redis keeps only its SHA-256, beside the
 * call it opens, so that a look into Redis opens nothing. Taking a token deletes it in the same command.
 */

/** The call a token opens. */
export interface SessionGrant {
  workspaceId: string
  callId: string
  /** The client asked for a recording. */
  isRecorded?: boolean | undefined
  /** Whose right to it must stand when it is opened; a visitor's while the call runs, too. */
  holder?: RequesterStanding | undefined
}

const keyOf = (token: string): string => `patchbay:session-token:${createHash('sha256').update(token).digest('hex')}`

/** Makes a token that opens the session of `grant` once, within `ttlS` of `nowMs`: ten minutes as a rule. */
export async function issueSessionToken(
  redis: RedisClient,
  grant: SessionGrant,
  nowMs: number,
  ttlS = SESSION_TOKEN_TTL_S,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url')
  await redis.set(
    keyOf(token),
    JSON.stringify([grant.workspaceId, grant.callId, grant.isRecorded ?? false, grant.holder]),
    {
      expiration: { type: 'EX', value: ttlS },
    },
  )
  return { token, expiresAt: new Date(nowMs + ttlS * 1000) }
}

/** The call of the token, or undefined when it was used, is expired or was never issued. A second taker gets nothing. */
export async function takeSessionToken(redis: RedisClient, token: string): Promise<SessionGrant | undefined> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined
  const value = await redis.getDel(keyOf(token))
  if (value === null) return undefined
  const [workspaceId, callId, isRecorded, holder] = JSON.parse(value) as [
    string,
    string,
    boolean,
    RequesterStanding | null,
  ]
  return { workspaceId, callId, isRecorded, holder: holder ?? undefined }
}
