import { boundary } from '../../runtime/lib/async/boundary.ts'
import { type ErrorCode, PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { createIdentities, type LiveKey, liveKeys } from '../../store/accounts/identity.ts'
import { openPublicAgents } from '../../store/agents/public-agents.ts'
import type { Store } from '../../store/database/database.ts'
import type { KeyScope } from '../../store/database/schema.ts'
import type { RequiredRole } from '../route.ts'
import type { Operators } from './operators.ts'
import { roleRefusal } from './roles.ts'

/** Who holds an open stream or socket, and what it needs to stay open. Plain data: a listen token carries it. */
export type RequesterStanding = UserStanding | KeyStanding | VisitorStanding

interface UserStanding {
  readonly kind: 'user'
  readonly userId: string
  /** Null: the access token names none, and ends when its user signs out everywhere. */
  readonly sessionId: string | null
  readonly issuedAtS: number
  /** Null: the endpoint belongs to no workspace. */
  readonly workspaceId: string | null
  readonly role: RequiredRole
  readonly refusesSuspended: boolean
}

interface KeyStanding {
  readonly kind: 'key'
  readonly keyId: string
  readonly scope: KeyScope
}

/** A visitor of a public agent. */
interface VisitorStanding {
  readonly kind: 'visitor'
  readonly agentId: string
}

/** Two beats and a slow answer stay within the five seconds that docs/api.md promises. */
const BEAT_MS = 2_000

interface Watched {
  readonly standing: RequesterStanding
  readonly withdrawn: Set<(code: ErrorCode) => void>
}

interface StandingRightsOptions {
  store: Store
  operators: Operators
  log: Logger
  beatMs?: number
}

/**
 * Asks at each beat whether the holders of what is open still have the right to it, as a new request would be asked. All that
 * is open on a node is asked together, in a query per kind of holder. While the database is away, what is open stays open.
 */
export class StandingRights {
  readonly #options: StandingRightsOptions
  readonly #identityOf: ReturnType<typeof createIdentities>
  readonly #watched = new Map<string, Watched>()
  readonly #timer: NodeJS.Timeout
  #isAsking = false
  #isFailing = false

  constructor(options: StandingRightsOptions) {
    this.#options = options
    this.#identityOf = createIdentities(options.store.pool)
    this.#timer = setInterval(
      boundary('http', () => this.#beat()),
      options.beatMs ?? BEAT_MS,
    ).unref()
  }

  /** Calls `withdrawn` once, when the right ends. Returns the function that stops watching. */
  watch(standing: RequesterStanding, withdrawn: (code: ErrorCode) => void): () => void {
    const key = JSON.stringify(standing)
    const watched = this.#watched.get(key) ?? { standing, withdrawn: new Set() }
    this.#watched.set(key, watched)
    const once = (code: ErrorCode) => withdrawn(code)
    watched.withdrawn.add(once)
    return () => {
      watched.withdrawn.delete(once)
      if (watched.withdrawn.size === 0 && this.#watched.get(key) === watched) this.#watched.delete(key)
    }
  }

  /** Throws the error a request of the holder would get now. */
  async require(standing: RequesterStanding): Promise<void> {
    const [code] = await this.#refusals([standing])
    if (code !== undefined) throw new PatchbayError(code)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#watched.clear()
  }

  async #beat(): Promise<void> {
    if (this.#isAsking || this.#watched.size === 0) return
    this.#isAsking = true
    try {
      const asked = [...this.#watched]
      const codes = await this.#refusals(asked.map(([, { standing }]) => standing))
      this.#isFailing = false
      for (const [i, [key, { withdrawn }]] of asked.entries()) {
        const code = codes[i]
        if (code === undefined) continue
        this.#watched.delete(key)
        for (const tell of withdrawn) this.#tell(tell, code)
      }
    } catch (err) {
      if (!this.#isFailing) {
        this.#options.log.warn({ err }, 'The rights of open streams could not be checked; they stay open meanwhile')
      }
      this.#isFailing = true
    } finally {
      this.#isAsking = false
    }
  }

  #tell(tell: (code: ErrorCode) => void, code: ErrorCode): void {
    try {
      tell(code)
    } catch (err) {
      this.#options.log.error({ err, code }, 'A stream whose right ended could not be closed')
    }
  }

  /** By place: the code that each is refused with. */
  async #refusals(standings: readonly RequesterStanding[]): Promise<(ErrorCode | undefined)[]> {
    const { store } = this.#options
    const keyIds = standings.flatMap((one) => (one.kind === 'key' ? [one.keyId] : []))
    const agentIds = standings.flatMap((one) => (one.kind === 'visitor' ? [one.agentId] : []))
    const [keys, agents] = await Promise.all([
      keyIds.length === 0 ? new Map<string, LiveKey>() : liveKeys(store.pool, keyIds),
      agentIds.length === 0 ? new Set<string>() : openPublicAgents(store.pool, agentIds),
    ])
    return Promise.all(
      standings.map((standing) => {
        if (standing.kind === 'user') return this.#userRefusal(standing)
        if (standing.kind === 'key') return keyRefusal(standing, keys.get(standing.keyId))
        return agents.has(standing.agentId) ? undefined : 'agent_not_found'
      }),
    )
  }

  async #userRefusal(standing: UserStanding): Promise<ErrorCode | undefined> {
    const { userId, workspaceId, sessionId, issuedAtS, role } = standing
    const identity = await this.#identityOf({ userId, workspaceId, sessionId })
    if (identity === undefined) return 'user_not_found'
    const { user, membership, sessionLives } = identity
    if (!sessionLives || isSignedOut(user, sessionId, issuedAtS)) return 'invalid_token'
    if (role === 'operator') return this.#options.operators.includes(user) ? undefined : 'operator_required'
    if (workspaceId === null) return undefined
    if (membership === undefined) return 'not_a_member'
    const refusal = role === 'none' ? undefined : roleRefusal(membership.role, role)
    if (refusal !== undefined) return refusal
    return membership.isSuspended && standing.refusesSuspended ? 'workspace_suspended' : undefined
  }
}

function keyRefusal({ scope }: KeyStanding, key: LiveKey | undefined): ErrorCode | undefined {
  if (key === undefined) return 'invalid_api_key'
  if (!key.scopes.includes(scope)) return 'invalid_token'
  return key.isSuspended ? 'workspace_suspended' : undefined
}

/** Whether the user signed out everywhere after a token without a session was made. */
export function isSignedOut(
  user: { readonly signed_out_at: Date | null },
  sessionId: string | null | undefined,
  issuedAtS: number,
): boolean {
  const bySession = sessionId !== undefined && sessionId !== null
  return !bySession && user.signed_out_at !== null && issuedAtS < user.signed_out_at.getTime() / 1_000
}
