import type { Pool } from 'pg'
import type { User, WorkspaceRole } from './schema.ts'

/** Who a request comes from. These run on every request, so they are prepared statements and one round trip each. */

export interface UserIdentity {
  user: User
  /** The user's place in the asked workspace; undefined without membership or when the workspace is deleted. */
  membership: { workspaceId: string; role: WorkspaceRole } | undefined
}

/** Also what the benchmark lets its peer ask. */
export const USER_IDENTITY = {
  name: 'user-identity',
  text: `select u.*, w.id as workspace_id, m.role
    from users u
    left join memberships m on m.user_id = u.id and m.workspace_id = coalesce($2::uuid, u.current_workspace_id)
    left join workspaces w on w.id = m.workspace_id and w.deleted_at is null
    where u.id = $1`,
}

const USER_IDENTITIES = {
  name: 'user-identities',
  text: `select asked.at, u.*, w.id as workspace_id, m.role
    from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (user_id, workspace_id, at)
    join users u on u.id = asked.user_id
    left join memberships m
      on m.user_id = u.id and m.workspace_id = coalesce(asked.workspace_id, u.current_workspace_id)
    left join workspaces w on w.id = m.workspace_id and w.deleted_at is null`,
}

/** Round trips at once; who comes while all are under way shares the next. */
const MAX_ROUND_TRIPS = 4
const MAX_A_ROUND_TRIP = 100

interface Asked {
  userId: string
  workspaceId: string | null
  resolve: (identity: UserIdentity | undefined) => void
  reject: (error: unknown) => void
}

type IdentityRow = User & { workspace_id: string | null; role: WorkspaceRole }

/**
 * The user and its membership of `workspaceId` (null: its current workspace); undefined when there is no such user. Nothing
 * is remembered: each is read after it was asked for. But those asked for within one turn of the event loop, or while
 * earlier ones are still under way, are read together.
 */
export function createIdentities(
  pool: Pool,
): (userId: string, workspaceId: string | null) => Promise<UserIdentity | undefined> {
  let waiting: Asked[] = []
  let underWay = 0
  let isScheduled = false

  function flush(): void {
    isScheduled = false
    while (waiting.length > 0 && underWay < MAX_ROUND_TRIPS) {
      const together = waiting.slice(0, MAX_A_ROUND_TRIP)
      waiting = waiting.slice(MAX_A_ROUND_TRIP)
      underWay++
      void read(pool, together).finally(() => {
        underWay--
        flush()
      })
    }
  }

  return (userId, workspaceId) =>
    new Promise((resolve, reject) => {
      waiting.push({ userId, workspaceId, resolve, reject })
      if (isScheduled) return
      isScheduled = true
      setImmediate(flush)
    })
}

/** Settles everything asked for; never rejects. */
async function read(pool: Pool, asked: readonly Asked[]): Promise<void> {
  try {
    const [first] = asked
    if (first && asked.length === 1) {
      const values = [first.userId, first.workspaceId]
      const { rows } = await pool.query<IdentityRow>({ ...USER_IDENTITY, values })
      first.resolve(rows[0] && identityOf(rows[0]))
      return
    }
    const values = [asked.map(({ userId }) => userId), asked.map(({ workspaceId }) => workspaceId)]
    const { rows } = await pool.query<IdentityRow & { at: number }>({ ...USER_IDENTITIES, values })
    for (const { at, ...row } of rows) asked[at - 1]?.resolve(identityOf(row))
    // Who was found is settled already.
    for (const { resolve } of asked) resolve(undefined)
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}

function identityOf({ workspace_id, role, ...user }: IdentityRow): UserIdentity {
  return { user, membership: workspace_id === null ? undefined : { workspaceId: workspace_id, role } }
}

const KEY_WORKSPACE = {
  name: 'key-workspace',
  text: `select k.workspace_id, k.id,
      (k.last_used_at is null or k.last_used_at < now() - interval '1 minute') as stale
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.key_hash = $1 and w.deleted_at is null`,
}

const KEY_USED = {
  name: 'key-used',
  text: `update api_keys set last_used_at = now() where id = $1 and workspace_id = $2`,
}

/** The workspace of an API key by its SHA-256; undefined for an unknown one. Notes the use, at most once a minute. */
export async function keyWorkspace(pool: Pool, keyHash: Buffer): Promise<string | undefined> {
  const { rows } = await pool.query<{ workspace_id: string; id: string; stale: boolean }>({
    ...KEY_WORKSPACE,
    values: [keyHash],
  })
  const [row] = rows
  if (row?.stale) await pool.query({ ...KEY_USED, values: [row.id, row.workspace_id] })
  return row?.workspace_id
}
