import { type Kysely, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { isDuplicate, type Store } from '../database/database.ts'
import type { GlobalTables, User } from '../database/schema.ts'
import type { OperatorQuotas } from '../workspaces/workspace-quotas.ts'
import { insertWorkspace } from '../workspaces/workspaces.ts'

/**
 * Makes a user with a workspace of its own, of which it is Admin. With `isOperatorIfFirst` the first of all users is an
 * operator; of two who come at once one is first. Throws `email_taken`, and what `join` throws: then there is no user.
 */
export async function createUser(
  db: Kysely<GlobalTables>,
  user: {
    name: string
    email: string
    passwordHash: string
    phoneNumber: string
    isOperatorIfFirst?: boolean
    /** What its workspace may use, unless the user is an operator; undefined: everything. */
    quotas?: OperatorQuotas | undefined
    /** Makes the user a member elsewhere, too, in the same transaction; returns the workspace to begin in, if it is that one. */
    join?: (trx: Kysely<GlobalTables>, userId: string) => Promise<string | undefined>
  },
): Promise<User> {
  try {
    return await db.transaction().execute(async (trx) => {
      const id = uuidv7()
      const isOperator = user.isOperatorIfFirst === true && (await isFirst(trx))
      await trx
        .insertInto('users')
        .values({
          id,
          name: user.name,
          email: user.email,
          password_hash: user.passwordHash,
          phone_number: user.phoneNumber,
          is_operator: isOperator,
        })
        .execute()
      const workspace = await insertWorkspace(trx, {
        ...{ name: `${user.name}'s workspace`, type: 'personal', adminId: id },
        quotas: isOperator ? undefined : user.quotas,
      })
      const joined = await user.join?.(trx, id)
      return trx
        .updateTable('users')
        .set({ current_workspace_id: joined ?? workspace.id })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
    })
  } catch (cause) {
    throw isDuplicate(cause, 'users_email') ? new PatchbayError('email_taken', { cause }) : cause
  }
}

/** The user of an e-mail address, whose case does not matter: Postgres lowers both, since others lower otherwise. */
export function userByEmail(db: Kysely<GlobalTables>, email: string): Promise<User | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', sql<string>`lower(${email})`)
    .executeTakeFirst()
}

export function userById(db: Kysely<GlobalTables>, id: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Whether there is no user yet. Concurrent callers wait for this transaction to end. */
async function isFirst(trx: Kysely<GlobalTables>): Promise<boolean> {
  const anyone = () => trx.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if ((await anyone()) !== undefined) return false
  await sql`select pg_advisory_xact_lock(hashtextextended('the first user', 0))`.execute(trx)
  return (await anyone()) === undefined
}

/** The Admins of a workspace, those who joined first at the head. */
export async function adminsOf(
  store: Pick<Store, 'global'>,
  workspaceId: string,
): Promise<Pick<User, 'email' | 'language'>[]> {
  return store.global
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.email', 'u.language'])
    .where('m.workspace_id', '=', workspaceId)
    .where('m.role', '=', 'admin')
    .orderBy('m.joined_at')
    .execute()
}
