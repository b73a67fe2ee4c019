import { createHash } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { createIdentities, keyIdentity, type Membership } from '../../store/accounts/identity.ts'
import type { Store } from '../../store/database/database.ts'
import type { User } from '../../store/database/schema.ts'
import { isUuid } from '../ids.ts'
import { type AnyRoute, scopeOf } from '../route.ts'
import type { AccessTokens } from './access-token.ts'
import { ACCESS_COOKIE, readCookie } from './cookies.ts'
import { isSignedOut } from './standing-rights.ts'

/** Who calls and what they are in the workspace they asked for. */
export interface Caller {
  readonly user: User | undefined
  readonly membership: Membership | undefined
  /** The API key that called. */
  readonly key: { readonly id: string; readonly name: string } | undefined
  /** The session of the user's token, where it names one. */
  readonly sessionId: string | undefined
  /** When the user's token was made, Unix time in seconds. */
  readonly issuedAtS: number
  /** The workspace header names another workspace than the caller may enter. */
  readonly refused: boolean
}

/** The credentials of a request. */
interface Credentials {
  readonly cookies: string
  /** Empty where the route takes no key. */
  readonly apiKey: string
  /** Header X-Workspace-Id; empty when absent. */
  readonly workspaceId: string
  readonly params: Readonly<Record<string, string>>
  /** Called with the key's owner as soon as it is known, even if the request is then refused. */
  recognised?(key: RecognisedKey): void
}

/** An existing key, with any permissions. */
export interface RecognisedKey {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
}

export interface Authenticator {
  /** Throws the 401 of the specification's section 7.2, and the 403 of a key whose workspace is suspended. */
  authenticate(credentials: Credentials, route: AnyRoute): Caller | Promise<Caller>
}

export function createAuthenticator(store: Store, accessTokens: AccessTokens): Authenticator {
  const identityOf = createIdentities(store.pool)

  async function byKey(credentials: Credentials, route: AnyRoute): Promise<Caller> {
    const scope = scopeOf(route)
    if (scope === undefined) throw new PatchbayError('key_not_allowed')
    const { apiKey, workspaceId } = credentials
    const key = await keyIdentity(store.pool, hashApiKey(apiKey))
    if (key === undefined) throw new PatchbayError('invalid_api_key')
    credentials.recognised?.(key)
    if (!key.scopes.includes(scope) && route.anyScope !== true) {
      throw new PatchbayError('insufficient_scope', { params: { scope }, headers: { 'x-required-scope': scope } })
    }
    if (key.isSuspended) throw new PatchbayError('workspace_suspended')
    return {
      user: undefined,
      membership: { workspaceId: key.workspaceId, role: 'developer', isSuspended: false },
      key: { id: key.id, name: key.name },
      sessionId: undefined,
      issuedAtS: 0,
      refused: workspaceId !== '' && workspaceId.toLowerCase() !== key.workspaceId,
    }
  }

  async function byToken(credentials: Credentials, route: AnyRoute): Promise<Caller> {
    const token = readCookie(credentials.cookies, ACCESS_COOKIE)
    if (token === '') throw new PatchbayError('invalid_token')
    const { sub, sid, iat } = await accessTokens.verify(token)
    if (!isUuid(sub) || (sid !== undefined && !isUuid(sid))) throw new PatchbayError('invalid_token')
    const inPath = route.workspace === 'path' ? (credentials.params.workspace_id ?? '') : ''
    const asked = inPath === '' ? credentials.workspaceId : inPath
    const isWellFormed = isUuid(asked)
    const identity = await identityOf({
      userId: sub,
      workspaceId: isWellFormed ? asked : null,
      sessionId: sid ?? null,
    })
    if (identity === undefined) throw new PatchbayError('user_not_found')
    const { user, membership } = identity
    if (!identity.sessionLives || isSignedOut(user, sid, iat)) throw new PatchbayError('invalid_token')
    return {
      user,
      membership,
      key: undefined,
      sessionId: sid,
      issuedAtS: iat,
      refused:
        (asked !== '' && !isWellFormed) || (inPath !== '' && !(await mayEnter(user, credentials.workspaceId, inPath))),
    }
  }

  /** Whether a header that stands beside the workspace of the path names one of the user's own, too. */
  async function mayEnter(user: User, named: string, inPath: string): Promise<boolean> {
    if (named === '' || named.toLowerCase() === inPath.toLowerCase()) return true
    if (!isUuid(named)) return false
    const identity = await identityOf({ userId: user.id, workspaceId: named, sessionId: null })
    return identity?.membership !== undefined
  }

  return {
    authenticate: (credentials, route) => {
      if (credentials.apiKey === '') return byToken(credentials, route)
      if (route.auth === 'jwt_or_key' || readCookie(credentials.cookies, ACCESS_COOKIE) === '') {
        return byKey(credentials, route)
      }
      return route.auth === 'jwt' ? byToken(credentials, route) : byTokenOrKey(credentials, route)
    },
  }

  /**
   * Where the specification takes the cookie alone, a request with both is the user's, if the cookie is good: generated clients send the
   * key in it, too, and jars an expired one.
   */
  async function byTokenOrKey(credentials: Credentials, route: AnyRoute): Promise<Caller> {
    try {
      return await byToken(credentials, route)
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.status !== 401) throw error
      return byKey(credentials, route)
    }
  }
}

/** API keys are 256 random bits, so a plain SHA-256 can't be searched. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
