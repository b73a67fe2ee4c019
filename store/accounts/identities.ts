import type { Kysely } from 'kysely'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { GlobalTables, User, WorkspaceRole } from '../database/schema.ts'
import { removeMember } from '../workspaces/workspaces.ts'
import { setEmailVerified, setPassword } from './accounts.ts'
import { endSessions } from './sessions.ts'
import { createUser, userByEmail } from './users.ts'

/** Users as identity providers know them, by issuer and subject, which never change as addresses do. */
interface Identity {
  issuer: string
  subject: string
}

/** Someone whose e-mail address the identity provider vouches for. */
interface Newcomer extends Identity, Omit<Parameters<typeof createUser>[1], 'join' | 'isOperatorIfFirst'> {}

export function userOfIdentity(db: Kysely<GlobalTables>, identity: Identity): Promise<User | undefined> {
  return db
    .selectFrom('user_identities as i')
    .innerJoin('users as u', 'u.id', 'i.user_id')
    .selectAll('u')
    .where('i.issuer', '=', identity.issuer)
    .where('i.subject', '=', identity.subject)
    .executeTakeFirst()
}

/**
 * Ties the identity to the user of its address, who is created where there is none. Anybody could have made an account of an address
 * that was never verified: such a one gets the new password, which nobody knows, and its sessions end.
 */
export async function tieIdentity(
  db: Kysely<GlobalTables>,
  { issuer, subject, ...newcomer }: Newcomer,
  nowMs: number,
): Promise<{ user: User; isNew: boolean }> {
  const known = await userByEmail(db, newcomer.email)
  const user = known ?? (await createUser(db, newcomer))
  if (known?.email_verified_at === null) {
    await setPassword(db, user.id, newcomer.passwordHash)
    await endSessions(db, user.id, nowMs)
  }
  await setEmailVerified(db, user.id, user.email)
  await db
    .insertInto('user_identities')
    .values({ issuer, subject, user_id: user.id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return { user, isNew: known === undefined }
}

/**
 * Gives the user these roles, by slug of the workspace; undefined ends a membership that groups gave. Resolves with the slugs whose last
 * Admin keeps the role, and with those of no workspace.
 */
export async function applyGroupRoles(
  db: Kysely<GlobalTables>,
  userId: string,
  roles: ReadonlyMap<string, WorkspaceRole | undefined>,
): Promise<{ kept: string[]; unknown: string[] }> {
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'slug'])
    .where('slug', 'in', [...roles.keys()])
    .where('deleted_at', 'is', null)
    .execute()
  const kept: string[] = []
  for (const { id, slug } of workspaces) {
    try {
      await db.transaction().execute((trx) => applyRole(trx, { workspaceId: id, userId }, roles.get(slug)))
    } catch (error) {
      if (!(error instanceof PatchbayError && error.code === 'last_admin')) throw error
      kept.push(slug)
    }
  }
  const unknown = [...roles.keys()].filter((slug) => !workspaces.some((workspace) => workspace.slug === slug))
  return { kept, unknown }
}

async function applyRole(
  trx: Kysely<GlobalTables>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  role: WorkspaceRole | undefined,
): Promise<void> {
  const members = await trx
    .selectFrom('memberships')
    .select(['user_id', 'role', 'from_groups'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('user_id')
    .forUpdate()
    .execute()
  const own = members.find(({ user_id }) => user_id === userId)
  if (role === undefined) {
    if (own?.from_groups) await removeMember(trx, workspaceId, userId)
    return
  }
  const isLastAdmin = own?.role === 'admin' && members.filter((one) => one.role === 'admin').length === 1
  if (isLastAdmin && role !== 'admin') throw new PatchbayError('last_admin')
  await trx
    .insertInto('memberships')
    .values({ workspace_id: workspaceId, user_id: userId, role, from_groups: true })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role, from_groups: true }))
    .execute()
}
