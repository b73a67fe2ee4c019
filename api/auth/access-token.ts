import { type JWTVerifyResult, jwtVerify, SignJWT } from 'jose'
import { JWSSignatureVerificationFailed, JWTExpired } from 'jose/errors'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** What an access token says. */
interface AccessClaims {
  /** User id. */
  sub: string
  email: string
  /** Unix time in seconds. */
  exp: number
  /** When it was made, Unix time in seconds; without `iat` in the token, `exp` less the life of our own. */
  iat: number
  /** The session it belongs to and ends with; undefined where another holder of the secret signed it. */
  sid: string | undefined
}

export interface AccessTokens {
  /** `sessionId`: the session whose end is the token's too. */
  issue(user: { id: string; email: string }, sessionId?: string): Promise<string>
  /** Throws `token_expired` or `invalid_token`. Synchronous for a token verified before. */
  verify(token: string): AccessClaims | Promise<AccessClaims>
}

/** Signatures are remembered, not decisions: expiry is checked at each use. */
const REMEMBERED_TOKENS = 10_000
const MAX_TOKEN_LENGTH = 4096

/** HS256 JWTs with the claims `sub`, `email`, `exp`, `iat` and `sid`. */
export function createAccessTokens(
  secret: string,
  ttlS: number,
  clock: Clock,
  /** Those of the secrets that tokens are accepted of as well. */
  alsoAccepted: readonly string[] = [],
): AccessTokens {
  const encoder = new TextEncoder()
  const key = encoder.encode(secret)
  const keys = [key, ...alsoAccepted.map((one) => encoder.encode(one))]
  const verified = new Map<string, AccessClaims>()

  function unexpired(claims: AccessClaims): AccessClaims {
    if (claims.exp * 1000 <= clock.nowMs()) throw new PatchbayError('token_expired')
    return claims
  }

  async function check(token: string): Promise<AccessClaims> {
    const claims = await claimsOf(token, keys, ttlS, new Date(clock.nowMs()))
    if (verified.size >= REMEMBERED_TOKENS) verified.delete(verified.keys().next().value as string)
    verified.set(token, claims)
    return claims
  }

  return {
    issue(user, sessionId) {
      const nowS = Math.floor(clock.nowMs() / 1000)
      return new SignJWT({ email: user.email, ...(sessionId === undefined ? {} : { sid: sessionId }) })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(user.id)
        .setIssuedAt(nowS)
        .setExpirationTime(nowS + ttlS)
        .sign(key)
    },
    verify(token) {
      const claims = verified.get(token)
      return claims ? unexpired(claims) : check(token)
    },
  }
}

async function claimsOf(token: string, keys: readonly Uint8Array[], ttlS: number, now: Date): Promise<AccessClaims> {
  if (token === '' || token.length > MAX_TOKEN_LENGTH) throw new PatchbayError('invalid_token')
  try {
    const { payload } = await verifiedBy(token, keys, now)
    return {
      sub: String(payload.sub),
      email: String(payload.email),
      exp: Number(payload.exp),
      iat: Number(payload.iat ?? Number(payload.exp) - ttlS),
      sid: payload.sid === undefined ? undefined : String(payload.sid),
    }
  } catch (cause) {
    throw new PatchbayError(cause instanceof JWTExpired ? 'token_expired' : 'invalid_token', { cause })
  }
}

/** By the first key that made it; throws what the last one says of the signature, or that it is expired. */
async function verifiedBy(token: string, keys: readonly Uint8Array[], now: Date): Promise<JWTVerifyResult> {
  let refused: unknown
  for (const key of keys) {
    try {
      return await jwtVerify(token, key, {
        algorithms: ['HS256'],
        requiredClaims: ['sub', 'email', 'exp'],
        currentDate: now,
      })
    } catch (error) {
      if (!(error instanceof JWSSignatureVerificationFailed)) throw error
      refused = error
    }
  }
  throw refused
}
