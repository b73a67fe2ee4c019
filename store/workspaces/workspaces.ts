import { type Kysely, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { GlobalTables, Workspace, WorkspaceRole } from '../database/schema.ts'
import type { OperatorQuotas } from './workspace-quotas.ts'

export type MemberWorkspace = Workspace & { role: WorkspaceRole }

export interface Member {
  user_id: string
  name: string
  email: string
  role: WorkspaceRole
  joined_at: Date
}

const MAX_SLUG_LENGTH = 60

/** Lower-case Latin letters, digits and dashes; `workspace` for a name that has none. */
export function slugify(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
  const slug = words
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/-+$/, '')
  return slug === '' ? 'workspace' : slug
}

interface NewWorkspace {
  name: string
  type: string
  adminId: string
  /** What it may use from its first moment; undefined: everything. */
  quotas?: OperatorQuotas | undefined
}

/** Makes a workspace with its Admin. The slug is the name's; when taken, `-2`, `-3` and so on. */
export async function insertWorkspace(db: Kysely<GlobalTables>, workspace: NewWorkspace): Promise<MemberWorkspace> {
  const { name, type, adminId, quotas } = workspace
  const base = slugify(name)
  let row: Workspace | undefined
  // Ends: each number is given once, and only so many slugs can have been taken by names that end in a number.
  for (let attempt = 0; row === undefined; attempt++) {
    const slug = attempt === 0 ? base : `${base}-${await nextNumber(db, base)}`
    row = await db
      .insertInto('workspaces')
      .values({ id: uuidv7(), name, type, slug })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .returningAll()
      .executeTakeFirst()
  }
  await db.insertInto('memberships').values({ workspace_id: row.id, user_id: adminId, role: 'admin' }).execute()
  if (quotas !== undefined) {
    await db
      .insertInto('workspace_quotas')
      .values({ workspace_id: row.id, ...quotas })
      .execute()
  }
  return { ...row, role: 'admin' }
}

export async function workspaceName(db: Kysely<GlobalTables>, workspaceId: string): Promise<string | undefined> {
  const row = await db.selectFrom('workspaces').select('name').where('id', '=', workspaceId).executeTakeFirst()
  return row?.name
}

/** Its name, and limits of concurrent phone calls and of destinations; null: no limit of its own. */
export async function changeWorkspace(
  db: Kysely<GlobalTables>,
  workspaceId: string,
  change: Partial<Pick<Workspace, 'name' | 'max_concurrent_calls' | 'dial_countries' | 'dial_number_types'>>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await db.updateTable('workspaces').set(change).where('id', '=', workspaceId).execute()
}

/** From 2 on. Who asks at the same time waits for the other's transaction and gets the number after. */
async function nextNumber(db: Kysely<GlobalTables>, base: string): Promise<number> {
  const { last } = await db
    .insertInto('slug_numbers')
    .values({ base, last: 2 })
    .onConflict((conflict) => conflict.column('base').doUpdateSet({ last: sql<number>`slug_numbers.last + 1` }))
    .returning('last')
    .executeTakeFirstOrThrow()
  return last
}

/** Makes a workspace and its first member in one transaction. */
export function createWorkspace(db: Kysely<GlobalTables>, workspace: NewWorkspace): Promise<MemberWorkspace> {
  return db.transaction().execute((trx) => insertWorkspace(trx, workspace))
}

/** Every workspace the user belongs to, oldest first. */
export function workspacesOf(db: Kysely<GlobalTables>, userId: string): Promise<MemberWorkspace[]> {
  return db
    .selectFrom('memberships as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .selectAll('w')
    .select('m.role')
    .where('m.user_id', '=', userId)
    .where('w.deleted_at', 'is', null)
    .orderBy('w.id')
    .execute()
}

/** Sets the workspace a user works in by default and returns it. */
export async function switchWorkspace(
  db: Kysely<GlobalTables>,
  userId: string,
  workspaceId: string,
): Promise<MemberWorkspace> {
  await db.updateTable('users').set({ current_workspace_id: workspaceId }).where('id', '=', userId).execute()
  const workspace = (await workspacesOf(db, userId)).find(({ id }) => id === workspaceId)
  if (workspace === undefined) throw new PatchbayError('not_a_member')
  return workspace
}

/** The members in the order they joined. */
export function membersOf(db: Kysely<GlobalTables>, workspaceId: string): Promise<Member[]> {
  return db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id as user_id', 'u.name', 'u.email', 'm.role', 'm.joined_at'])
    .where('m.workspace_id', '=', workspaceId)
    .orderBy('m.joined_at')
    .orderBy('u.id')
    .execute()
}

/**
 * A member, with all of the workspace held until the end of the transaction. Throws `member_not_found`, and `last_admin` where no
 * administrator would be left.
 */
export async function holdMember(
  trx: Kysely<GlobalTables>,
  workspaceId: string,
  userId: string,
  { staysAdmin = false } = {},
): Promise<{ user_id: string }> {
  const members = await trx
    .selectFrom('memberships')
    .select(['user_id', 'role'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('user_id')
    .forUpdate()
    .execute()
  const member = members.find(({ user_id }) => user_id === userId.toLowerCase())
  if (member === undefined) throw new PatchbayError('member_not_found')
  const admins = members.filter(({ role }) => role === 'admin')
  if (!staysAdmin && member.role === 'admin' && admins.length === 1) throw new PatchbayError('last_admin')
  return member
}

/** Throws what `holdMember` throws. */
export async function removeMember(db: Kysely<GlobalTables>, workspaceId: string, userId: string): Promise<void> {
  await within(db, async (trx) => {
    const member = await holdMember(trx, workspaceId, userId)
    await trx
      .deleteFrom('memberships')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', member.user_id)
      .execute()
    await leaveCurrent(trx, workspaceId, [member.user_id])
  })
}

/** In a transaction of its own, or the one that is open. */
function within<T>(db: Kysely<GlobalTables>, work: (trx: Kysely<GlobalTables>) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}

/**
 * Hides a workspace from everyone at once: its members, keys and numbers stop working with this transaction. Its data are
 * removed afterwards, in the background.
 */
export async function deleteWorkspace(db: Kysely<GlobalTables>, workspaceId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const gone = await trx
      .updateTable('workspaces')
      .set({ deleted_at: sql<Date>`now()`, slug: sql<string>`'deleted~' || id` })
      .where('id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (gone === undefined) throw new PatchbayError('not_a_member')
    // What the operator gave it may be given to another at once; what it bought goes back to the carrier in the background.
    await trx
      .deleteFrom('carrier_numbers')
      .where('workspace_id', '=', workspaceId)
      .where('assigned_by', 'is not', null)
      .execute()
    const members = await trx
      .deleteFrom('memberships')
      .where('workspace_id', '=', workspaceId)
      .returning('user_id')
      .execute()
    await leaveCurrent(
      trx,
      workspaceId,
      members.map(({ user_id }) => user_id),
    )
  })
}

/** Moves users who worked in this workspace to the oldest other one they belong to. */
export async function leaveCurrent(
  db: Kysely<GlobalTables>,
  workspaceId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .updateTable('users')
    .set((eb) => ({
      current_workspace_id: eb
        .selectFrom('memberships as m')
        .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
        .select('w.id')
        .whereRef('m.user_id', '=', 'users.id')
        .where('w.deleted_at', 'is', null)
        .where('w.id', '!=', workspaceId)
        .orderBy('w.id')
        .limit(1),
    }))
    .where('id', 'in', userIds)
    .where('current_workspace_id', '=', workspaceId)
    .execute()
}
