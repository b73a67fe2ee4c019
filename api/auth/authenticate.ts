import { createHash } from 'node:crypto'
import { PatchbayError } from '../../runtime/errors.ts'
import type { Store } from '../../store/database.ts'
import { createIdentities, keyWorkspace } from '../../store/identity.ts'
import type { User, WorkspaceRole } from '../../store/schema.ts'
import { isUuid } from '../ids.ts'
import type { AnyRoute } from '../route.ts'
import type { AccessTokens } from './access-token.ts'
import { ACCESS_COOKIE, readCookie } from './cookies.ts'

/** Who calls and what they are in the workspace they asked for. */
export interface Caller {
  readonly user: User | undefined
  readonly membership: { workspaceId: string; role: WorkspaceRole } | undefined
  readonly viaKey: boolean
  /** The workspace header names another workspace than the caller may enter. */
  readonly refused: boolean
}

/** The credentials of a request. */
export interface Credentials {
  readonly cookies: string
  /** Empty where the route takes no key. */
  readonly apiKey: string
  /** Header X-Workspace-Id; empty when absent. */
  readonly workspaceId: string
  readonly params: Readonly<Record<string, string>>
}

export interface Authenticator {
  /** Throws the 401 of the specification's section 7.2. */
  authenticate(credentials: Credentials, route: AnyRoute): Caller | Promise<Caller>
}

export function createAuthenticator(store: Store, accessTokens: AccessTokens): Authenticator {
  const identityOf = createIdentities(store.pool)

  async function byKey({ apiKey, workspaceId }: Credentials): Promise<Caller> {
    const own = await keyWorkspace(store.pool, hashApiKey(apiKey))
    if (own === undefined) throw new PatchbayError('invalid_api_key')
    return {
      user: undefined,
      membership: { workspaceId: own, role: 'developer' },
      viaKey: true,
      refused: workspaceId !== '' && workspaceId.toLowerCase() !== own,
    }
  }

  async function byToken(credentials: Credentials, route: AnyRoute): Promise<Caller> {
    const token = readCookie(credentials.cookies, ACCESS_COOKIE)
    if (token === '') throw new PatchbayError('invalid_token')
    const claims = await accessTokens.verify(token)
    if (!isUuid(claims.sub)) throw new PatchbayError('invalid_token')
    const asked = route.workspace === 'path' ? (credentials.params.workspace_id ?? '') : credentials.workspaceId
    const isWellFormed = isUuid(asked)
    const identity = await identityOf(claims.sub, isWellFormed ? asked : null)
    if (identity === undefined) throw new PatchbayError('user_not_found')
    return {
      user: identity.user,
      membership: identity.membership,
      viaKey: false,
      refused: asked !== '' && !isWellFormed,
    }
  }

  return {
    authenticate: (credentials, route) =>
      credentials.apiKey === '' ? byToken(credentials, route) : byKey(credentials),
  }
}

/** API keys are 256 random bits, so a plain SHA-256 can't be searched. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
