import { type Kysely, sql } from 'kysely'
import type { GlobalTables, User, WorkspaceRole } from '../database/schema.ts'
import { holdMember, leaveCurrent, removeMember } from '../workspaces/workspaces.ts'

/** What users change about themselves, and Admins about members. */

export async function setPassword(db: Kysely<GlobalTables>, userId: string, passwordHash: string): Promise<void> {
  await db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute()
}

/** What a user is called and called at, and the language of mails to them. Resolves with the user; undefined: there is none any more. */
export async function changeUser(
  db: Kysely<GlobalTables>,
  userId: string,
  change: {
    readonly name?: string | undefined
    readonly phone_number?: string | undefined
    readonly language?: string | null | undefined
  },
): Promise<User | undefined> {
  return db
    .updateTable('users')
    .set((eb) => ({
      name: change.name ?? eb.ref('name'),
      phone_number: change.phone_number ?? eb.ref('phone_number'),
      language: change.language === undefined ? eb.ref('language') : change.language,
    }))
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst()
}

/** Sets the language of mails to the user where none is known. */
export async function learnLanguage(
  db: Kysely<GlobalTables>,
  userId: string,
  language: string,
): Promise<User | undefined> {
  return db
    .updateTable('users')
    .set({ language: sql<string>`coalesce(language, ${language})` })
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst()
}

/** Notes that the user reads mail to this address; nothing when the address is another by now. */
export async function setEmailVerified(
  db: Kysely<GlobalTables>,
  userId: string,
  email: string,
): Promise<User | undefined> {
  return db
    .updateTable('users')
    .set({ email_verified_at: sql<Date>`coalesce(email_verified_at, now())` })
    .where('id', '=', userId)
    .where('email', '=', email)
    .returningAll()
    .executeTakeFirst()
}

/** Throws `member_not_found`, and `last_admin` when the workspace would be left without an administrator. */
export async function changeRole(
  db: Kysely<GlobalTables>,
  workspaceId: string,
  userId: string,
  role: WorkspaceRole,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const member = await holdMember(trx, workspaceId, userId, { staysAdmin: role === 'admin' })
    await trx
      .updateTable('memberships')
      .set({ role })
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', member.user_id)
      .execute()
  })
}

/**
 * Deletes a user. Workspaces without another member are deleted with everything in them. Throws `last_admin`
 * while a workspace with other members would be left without an Admin.
 */
export async function deleteUser(db: Kysely<GlobalTables>, userId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const own = await trx
      .selectFrom('memberships')
      .select('workspace_id')
      .where('user_id', '=', userId)
      .orderBy('workspace_id')
      .execute()
    for (const { workspace_id } of own) {
      const members = await trx
        .selectFrom('memberships')
        .select('user_id')
        .where('workspace_id', '=', workspace_id)
        .orderBy('user_id')
        .forUpdate()
        .execute()
      if (members.length > 1) {
        await removeMember(trx, workspace_id, userId)
        continue
      }
      await trx
        .updateTable('workspaces')
        .set({ deleted_at: sql<Date>`now()`, slug: sql<string>`'deleted~' || id` })
        .where('id', '=', workspace_id)
        .execute()
      await trx.deleteFrom('memberships').where('workspace_id', '=', workspace_id).execute()
      await leaveCurrent(trx, workspace_id, [userId])
    }
    await trx.deleteFrom('users').where('id', '=', userId).execute()
  })
}
