import { type Kysely, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { GlobalTables, WorkspaceRole } from '../database/schema.ts'

/** Invitations into workspaces: of registered users, who join at once or on acceptance, and links by which somebody signs up. */

export interface Invitation {
  id: string
  workspace_id: string
  workspace_name: string
  role: WorkspaceRole
  /** Empty: of a link that works for any address. */
  email: string
  created_at: Date
  /** Of a link; null: the invitation waits for its user. */
  expires_at: Date | null
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

/**
 * Makes the user of this e-mail, if there is one, a member; a member stays as they are, and what asked them before is gone. One
 * statement in either case.
 */
export async function joinByEmail(
  db: Kysely<GlobalTables>,
  { workspaceId, email, role }: { workspaceId: string; email: string; role: WorkspaceRole },
): Promise<void> {
  await sql`
    with invited as (select id from users where lower(email) = lower(${email})),
      answered as (delete from invitations i using invited where i.workspace_id = ${workspaceId} and i.user_id = invited.id)
    insert into memberships (workspace_id, user_id, role)
    select ${workspaceId}, invited.id, ${role} from invited
    on conflict do nothing`.execute(db)
}

/** Those of a workspace and its links that work at `nowMs`, oldest first. */
export async function invitationsTo(
  db: Kysely<GlobalTables>,
  workspaceId: string,
  nowMs: number,
): Promise<Invitation[]> {
  const links = db
    .selectFrom('one_time_links as l')
    .innerJoin('workspaces as w', 'w.id', 'l.workspace_id')
    .select(['l.id', 'w.id as workspace_id', 'w.name as workspace_name', 'l.email', 'l.created_at'])
    .select((eb) => [eb.ref('l.role').$notNull().as('role'), 'l.expires_at'])
    .where('l.workspace_id', '=', workspaceId)
    .where('w.deleted_at', 'is', null)
    .where('l.used_at', 'is', null)
    .where('l.expires_at', '>', new Date(nowMs))
    .execute()
  const waiting = await invitations(db).where('i.workspace_id', '=', workspaceId).execute()
  return [...waiting, ...(await links)].sort((a, b) => Number(a.created_at) - Number(b.created_at))
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
    .select(['i.id', 'i.workspace_id', 'w.name as workspace_name', 'i.role', 'u.email', 'i.created_at'])
    .select(sql<Date | null>`null`.as('expires_at'))
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

/** False when there is no such invitation. */
export async function declineInvitation(
  db: Kysely<GlobalTables>,
  userId: string,
  invitationId: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('id', '=', invitationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Takes an invitation or a link of the workspace back. False when there is no such thing. */
export async function withdrawInvitation(
  db: Kysely<GlobalTables>,
  workspaceId: string,
  invitationId: string,
): Promise<boolean> {
  const withdrawn = await Promise.all([
    db
      .deleteFrom('invitations')
      .where('id', '=', invitationId)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst(),
    db
      .deleteFrom('one_time_links')
      .where('id', '=', invitationId)
      .where('workspace_id', '=', workspaceId)
      .where('used_at', 'is', null)
      .executeTakeFirst(),
  ])
  return withdrawn.some(({ numDeletedRows }) => numDeletedRows > 0n)
}

/**
 * Makes a new user a member by a link; in the transaction that makes the user. False: the workspace is gone, or who made the link
 * is no Admin of it any more.
 */
export async function joinByLink(
  trx: Kysely<GlobalTables>,
  userId: string,
  link: { workspaceId: string; role: WorkspaceRole; createdBy: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    insert into memberships (workspace_id, user_id, role)
    select w.id, ${userId}, ${link.role} from workspaces w
    join memberships m on m.workspace_id = w.id and m.user_id = ${link.createdBy} and m.role = 'admin'
    where w.id = ${link.workspaceId} and w.deleted_at is null
    returning user_id`.execute(trx)
  return rows.length > 0
}
