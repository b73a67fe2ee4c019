import { createHash, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { GlobalTables, LinkKind, OneTimeLinksTable, WorkspaceRole } from '../database/schema.ts'

/** Links that work once: 256 random bits each, kept as SHA-256. Possession of the link is the authorization. */

const TOKEN = /^[A-Za-z0-9_-]{43}$/

const COLUMNS = ['id', 'kind', 'user_id', 'email', 'created_by', 'workspace_id', 'role'] as const
type OneTimeLink = Pick<OneTimeLinksTable, (typeof COLUMNS)[number]>

export interface NewLink {
  kind: LinkKind
  userId: string | null
  /** Empty: the link works for any address. */
  email: string
  createdBy: string | null
  /** The workspace that its user becomes a member of. */
  joins?: { workspaceId: string; role: WorkspaceRole }
}

/** Mailed links of a kind that work at once: a stranger who asks for more does not end the one in the user's mailbox. */
const MOST_LIVE_LINKS = 5

/**
 * Returns the token, which is kept nowhere. A link for an address ends the earlier ones of its kind and workspace; of a user's
 * links the last five work.
 */
export async function makeOneTimeLink(
  db: Kysely<GlobalTables>,
  link: NewLink,
  nowMs: number,
  ttlS: number,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(nowMs + ttlS * 1000)
  const { workspaceId = null, role = null } = link.joins ?? {}
  await db.transaction().execute(async (trx) => {
    const earlier = trx.deleteFrom('one_time_links').where('kind', '=', link.kind)
    if (link.userId === null) {
      await earlier
        .where('email', '=', link.email)
        .where('email', '<>', '')
        .where('workspace_id', 'is not distinct from', workspaceId)
        .execute()
    } else {
      const { userId } = link
      await earlier
        .where('user_id', '=', userId)
        .where('id', 'not in', (eb) =>
          eb
            .selectFrom('one_time_links')
            .select('id')
            .where('kind', '=', link.kind)
            .where('user_id', '=', userId)
            .where('used_at', 'is', null)
            .orderBy('created_at', 'desc')
            .limit(MOST_LIVE_LINKS - 1),
        )
        .execute()
    }
    await trx
      .insertInto('one_time_links')
      .values({
        id: uuidv7(),
        kind: link.kind,
        token_hash: hashOf(token),
        user_id: link.userId,
        email: link.email,
        created_by: link.createdBy,
        workspace_id: workspaceId,
        role,
        created_at: new Date(nowMs),
        expires_at: expiresAt,
      })
      .execute()
  })
  return { token, expiresAt }
}

/** A link that would work now. Undefined when it is unknown, used, expired or for something else. */
export async function findLink(
  db: Kysely<GlobalTables>,
  kind: LinkKind,
  token: string,
  nowMs: number,
): Promise<OneTimeLink | undefined> {
  if (!TOKEN.test(token)) return undefined
  return db
    .selectFrom('one_time_links')
    .select(COLUMNS)
    .where('token_hash', '=', hashOf(token))
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .where('expires_at', '>', new Date(nowMs))
    .executeTakeFirst()
}

/** What a signup link that would work now invites to. Undefined as of `findLink`, and where its workspace is gone. */
export async function findInvitation(
  db: Kysely<GlobalTables>,
  token: string,
  nowMs: number,
): Promise<{ email: string; role: WorkspaceRole | null; workspace_name: string | null } | undefined> {
  const link = await findLink(db, 'signup', token, nowMs)
  if (link?.workspace_id == null) return link && { email: link.email, role: null, workspace_name: null }
  const { email, role } = link
  const workspace = await db
    .selectFrom('workspaces')
    .select('name')
    .where('id', '=', link.workspace_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return workspace && { email, role, workspace_name: workspace.name }
}

/** Ends every link of the kind that the user still has. */
export async function endLinks(db: Kysely<GlobalTables>, kind: LinkKind, userId: string): Promise<void> {
  await db.deleteFrom('one_time_links').where('kind', '=', kind).where('user_id', '=', userId).execute()
}

/** Uses a link up. Undefined when it is unknown, used, expired or for something else. */
export async function useLink(
  db: Kysely<GlobalTables>,
  kind: LinkKind,
  token: string,
  nowMs: number,
): Promise<OneTimeLink | undefined> {
  if (!TOKEN.test(token)) return undefined
  return db
    .updateTable('one_time_links')
    .set({ used_at: new Date(nowMs) })
    .where('token_hash', '=', hashOf(token))
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .where('expires_at', '>', new Date(nowMs))
    .returning(COLUMNS)
    .executeTakeFirst()
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
