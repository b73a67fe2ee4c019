import type { Pool } from 'pg'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { KeyScope, User, WorkspaceRole } from '../database/schema.ts'

/** Who a request comes from. These run on every request, so they are prepared statements and one round trip each. */

interface UserIdentity {
  user: User
  /** The user's place in the asked workspace; undefined without membership or when the workspace is deleted. */
  membership: Membership | undefined
  /** False when the session is over or never was; true where none was asked for. */
  sessionLives: boolean
}

export interface Membership {
  workspaceId: string
  role: WorkspaceRole
  isSuspended: boolean
}

/** Who asks for what: the user, the workspace (null: its current one) and the session its token names (null: none). */
interface IdentityQuestion {
  userId: string
  workspaceId: string | null
  sessionId: string | null
}

const COLUMNS = `u.*, w.id as workspace_id, m.role, w.suspended_at is not null as is_suspended,
      s.id is not null as session_lives`
const SESSION_LIVES = 's.user_id = u.id and s.ended_at is null'

/** Also what the benchmark lets its peer ask. */
export const USER_IDENTITY = {
  name: 'user-identity',
  text: `select ${COLUMNS}
    from users u
    left join memberships m on m.user_id = u.id and m.workspace_id = coalesce($2::uuid, u.current_workspace_id)
    left join workspaces w on w.id = m.workspace_id and w.deleted_at is null
    left join sessions s on s.id = $3::uuid and ${SESSION_LIVES}
    where u.id = $1`,
}

const USER_IDENTITIES = {
  name: 'user-identities',
  text: `select asked.at, ${COLUMNS}
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as asked (user_id, workspace_id, session_id, at)
    join users u on u.id = asked.user_id
    left join memberships m
      on m.user_id = u.id and m.workspace_id = coalesce(asked.workspace_id, u.current_workspace_id)
    left join workspaces w on w.id = m.workspace_id and w.deleted_at is null
    left join sessions s on s.id = asked.session_id and ${SESSION_LIVES}`,
}

/** Round trips at once; who comes while all are under way shares the next. */
const MAX_ROUND_TRIPS = 4
const MAX_A_ROUND_TRIP = 100

interface Asked extends IdentityQuestion {
  resolve: (identity: UserIdentity | undefined) => void
  reject: (error: unknown) => void
}

type IdentityRow = User & {
  workspace_id: string | null
  role: WorkspaceRole
  is_suspended: boolean
  session_lives: boolean
}

/**
 * The user, its membership of the asked workspace and whether its session lives; undefined when there is no such user.
 * Nothing is remembered: each is read after it was asked for. But those asked for within one turn of the event loop, or
 * while earlier ones are still under way, are read together.
 */
export function createIdentities(pool: Pool): (question: IdentityQuestion) => Promise<UserIdentity | undefined> {
  let waiting: Asked[] = []
  let underWay = 0
  let isScheduled = false

  function flush(): void {
    isScheduled = false
    while (waiting.length > 0 && underWay < MAX_ROUND_TRIPS) {
      const together = waiting.slice(0, MAX_A_ROUND_TRIP)
      waiting = waiting.slice(MAX_A_ROUND_TRIP)
      underWay++
      inBackground(
        'database',
        read(pool, together).finally(() => {
          underWay--
          flush()
        }),
      )
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...question, resolve, reject })
      if (isScheduled) return
      isScheduled = true
      setImmediate(boundary('database', flush))
    })
}

/** Settles everything asked for; never rejects. */
async function read(pool: Pool, asked: readonly Asked[]): Promise<void> {
  try {
    const [first] = asked
    if (first && asked.length === 1) {
      const values = [first.userId, first.workspaceId, first.sessionId]
      const { rows } = await pool.query<IdentityRow>({ ...USER_IDENTITY, values })
      first.resolve(rows[0] && identityOf(rows[0], first))
      return
    }
    const values = [
      asked.map(({ userId }) => userId),
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ sessionId }) => sessionId),
    ]
    const { rows } = await pool.query<IdentityRow & { at: number }>({ ...USER_IDENTITIES, values })
    for (const { at, ...row } of rows) {
      const one = asked[at - 1]
      one?.resolve(identityOf(row, one))
    }
    // Who was found is settled already.
    for (const { resolve } of asked) resolve(undefined)
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}

function identityOf(row: IdentityRow, { sessionId }: IdentityQuestion): UserIdentity {
  const { workspace_id, role, is_suspended, session_lives, ...user } = row
  return {
    user,
    membership: workspace_id === null ? undefined : { workspaceId: workspace_id, role, isSuspended: is_suspended },
    sessionLives: sessionId === null || session_lives,
  }
}

const KEY_IDENTITY = {
  name: 'key-identity',
  text: `select k.workspace_id, k.id, k.name, k.scopes, w.suspended_at is not null as is_suspended,
      (k.last_used_at is null or k.last_used_at < now() - interval '1 minute') as stale
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.key_hash = $1 and w.deleted_at is null and (k.expires_at is null or k.expires_at > now())`,
}

const KEY_USED = {
  name: 'key-used',
  text: `update api_keys set last_used_at = now() where id = $1 and workspace_id = $2`,
}

/** A live key, with any permissions. */
export interface LiveKey {
  scopes: readonly KeyScope[]
  isSuspended: boolean
}

const LIVE_KEYS = {
  name: 'live-keys',
  text: `select k.id, k.scopes, w.suspended_at is not null as is_suspended
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.id = any($1::uuid[]) and w.deleted_at is null and (k.expires_at is null or k.expires_at > now())`,
}

/** Those of the keys that are neither revoked nor expired, by id. */
export async function liveKeys(pool: Pool, ids: readonly string[]): Promise<Map<string, LiveKey>> {
  const { rows } = await pool.query<{ id: string; scopes: KeyScope[]; is_suspended: boolean }>({
    ...LIVE_KEYS,
    values: [ids],
  })
  return new Map(rows.map(({ id, scopes, is_suspended }) => [id, { scopes, isSuspended: is_suspended }]))
}

interface KeyIdentity {
  id: string
  name: string
  workspaceId: string
  scopes: readonly KeyScope[]
  isSuspended: boolean
}

/** Whose an API key is, by its SHA-256; undefined for an unknown or expired one. Notes the use, at most once a minute. */
export async function keyIdentity(pool: Pool, keyHash: Buffer): Promise<KeyIdentity | undefined> {
  const { rows } = await pool.query<{
    workspace_id: string
    id: string
    name: string
    scopes: KeyScope[]
    is_suspended: boolean
    stale: boolean
  }>({ ...KEY_IDENTITY, values: [keyHash] })
  const [row] = rows
  if (row === undefined) return undefined
  if (row.stale) await pool.query({ ...KEY_USED, values: [row.id, row.workspace_id] })
  const { id, name, workspace_id, scopes, is_suspended } = row
  return { id, name, workspaceId: workspace_id, scopes, isSuspended: is_suspended }
}
