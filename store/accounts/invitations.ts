import { type Kysely, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { GlobalTables, WorkspaceRole } from '../database/schema.ts'

/** Invitations into workspaces. An invited user becomes a member on acceptance. */

export interface Invitation {
  id: string
  workspace_id: string
  workspace_name: string
  role: WorkspaceRole
  email: string
  name: string
  created_at: Date
}

/**
 * Invites the user of this e-mail, if there is one who is no member yet; invited again, the newer role counts. One
 * statement in either case. Returns whether an invitation was made.
 */
export async function inviteByEmail(
  db: Kysely<GlobalTables>,
  invitation: { workspaceId: string; email: string; role: WorkspaceRole; invitedBy: string },
): Promise<boolean> {
  const { workspaceId, email, role, invitedBy } = invitation
  const { rows } = await sql`
    insert into invitations (id, workspace_id, user_id, role, invited_by)
    select ${uuidv7()}, ${workspaceId}, u.id, ${role}, ${invitedBy} from users u
    where lower(u.email) = lower(${email})
      and not exists (select 1 from memberships m where m.user_id = u.id and m.workspace_id = ${workspaceId})
    on conflict (workspace_id, user_id) do update set role = excluded.role, invited_by = excluded.invited_by
    returning id`.execute(db)
  return rows.length > 0
}

/** Those of a workspace, oldest first. */
export function invitationsTo(db: Kysely<GlobalTables>, workspaceId: string): Promise<Invitation[]> {
  return invitations(db).where('i.workspace_id', '=', workspaceId).execute()
}

/** Those of a user, oldest first. */
export function invitationsOf(db: Kysely<GlobalTables>, userId: string): Promise<Invitation[]> {
  return invitations(db).where('i.user_id', '=', userId).execute()
}

function invitations(db: Kysely<GlobalTables>) {
  return db
    .selectFrom('invitations as i')
    .innerJoin('workspaces as w', 'w.id', 'i.workspace_id')
    .innerJoin('users as u', 'u.id', 'i.user_id')
    .select(['i.id', 'i.workspace_id', 'w.name as workspace_name', 'i.role', 'u.email', 'u.name', 'i.created_at'])
    .where('w.deleted_at', 'is', null)
    .orderBy('i.id')
}

/** Makes the invited a member. The workspace's id, or undefined when there is no such invitation for the user. */
export function acceptInvitation(
  db: Kysely<GlobalTables>,
  userId: string,
  invitationId: string,
): Promise<string | undefined> {
  return db.transaction().execute(async (trx) => {
    const invitation = await trx
      .deleteFrom('invitations as i')
      .where('i.id', '=', invitationId)
      .where('i.user_id', '=', userId)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('workspaces as w')
            .select('w.id')
            .whereRef('w.id', '=', 'i.workspace_id')
            .where('w.deleted_at', 'is', null),
        ),
      )
      .returning(['i.workspace_id', 'i.role'])
      .executeTakeFirst()
    if (invitation === undefined) return undefined
    await trx
      .insertInto('memberships')
      .values({ workspace_id: invitation.workspace_id, user_id: userId, role: invitation.role })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return invitation.workspace_id
  })
}

/** Declines or revokes. False when there is no such invitation. */
export async function dropInvitation(
  db: Kysely<GlobalTables>,
  invitationId: string,
  of: { userId: string } | { workspaceId: string },
): Promise<boolean> {
  const all = db.deleteFrom('invitations').where('id', '=', invitationId)
  const own = 'userId' in of ? all.where('user_id', '=', of.userId) : all.where('workspace_id', '=', of.workspaceId)
  const { numDeletedRows } = await own.executeTakeFirst()
  return numDeletedRows > 0n
}
