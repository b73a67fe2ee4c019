import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { SignupMode, User, Workspace } from '../database/schema.ts'

/** The installation as its operator sees it. */

export async function signupSetting(store: Store): Promise<SignupMode | null> {
  const { signup } = await store.global.selectFrom('instance_settings').select('signup').executeTakeFirstOrThrow()
  return signup
}

/** null: what the configuration says. */
export async function setSignup(store: Store, signup: SignupMode | null): Promise<void> {
  await store.global.updateTable('instance_settings').set({ signup, updated_at: sql<Date>`now()` }).execute()
}

export async function hasUsers(store: Store): Promise<boolean> {
  return (await store.global.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

export interface ListedWorkspace extends Workspace {
  members: number
}

/** Those that are not deleted, oldest first. */
export async function listWorkspaces(
  store: Store,
  { offset, limit, after }: ListPart,
): Promise<{ workspaces: ListedWorkspace[]; total: number }> {
  const kept = store.global.selectFrom('workspaces as w').where('w.deleted_at', 'is', null)
  const placed = after === undefined ? kept.offset(offset) : kept.where('w.id', '>', after.id)
  const [workspaces, { total }] = await Promise.all([
    placed
      .selectAll('w')
      .select((eb) =>
        eb
          .selectFrom('memberships as m')
          .whereRef('m.workspace_id', '=', 'w.id')
          .select((inner) => inner.fn.countAll<number>().as('count'))
          .as('members'),
      )
      .orderBy('w.id')
      .limit(limit)
      .execute(),
    kept.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { workspaces: workspaces.map((row) => ({ ...row, members: row.members ?? 0 })), total }
}

export async function workspaceById(store: Store, id: string): Promise<ListedWorkspace | undefined> {
  const row = await store.global
    .selectFrom('workspaces as w')
    .selectAll('w')
    .select((eb) =>
      eb
        .selectFrom('memberships as m')
        .whereRef('m.workspace_id', '=', 'w.id')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .as('members'),
    )
    .where('w.id', '=', id)
    .where('w.deleted_at', 'is', null)
    .executeTakeFirst()
  return row && { ...row, members: row.members ?? 0 }
}

/** `reason` null ends the suspension. False when there is no such workspace. */
export async function setSuspension(store: Store, workspaceId: string, reason: string | null): Promise<boolean> {
  const { numUpdatedRows } = await store.global
    .updateTable('workspaces')
    .set(
      reason === null
        ? { suspended_at: null, suspended_reason: null }
        : { suspended_at: sql<Date>`coalesce(suspended_at, now())`, suspended_reason: reason },
    )
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Oldest first; with `email` the one of that address. */
export async function listUsers(
  store: Store,
  filter: { email?: string | undefined },
  { offset, limit, after }: ListPart,
): Promise<{ users: User[]; total: number }> {
  let query = store.global.selectFrom('users')
  if (filter.email !== undefined) {
    query = query.where(sql<string>`lower(email)`, '=', sql<string>`lower(${filter.email})`)
  }
  const placed = after === undefined ? query.offset(offset) : query.where('id', '>', after.id)
  const [users, { total }] = await Promise.all([
    placed.selectAll().orderBy('id').limit(limit).execute(),
    query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { users, total }
}

/** Undefined when there is no such user. */
export function setOperator(store: Store, userId: string, isOperator: boolean): Promise<User | undefined> {
  return store.global
    .updateTable('users')
    .set({ is_operator: isOperator })
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst()
}
