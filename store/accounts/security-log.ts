import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { SecurityLogTable } from '../database/schema.ts'

/** Logins, refused logins and other events of accounts and keys. Rows are only ever added, as in the audit log. */

export const SECURITY_EVENTS = [
  'signup',
  'signup_refused',
  'login',
  'login_failed',
  'locked_out',
  'logout',
  'session_ended',
  'sessions_ended',
  /** Written until refresh tokens became good for more than one use; rows are kept for a year. */
  'refresh_replayed',
  'password_link_mailed',
  'password_reset',
  'link_refused',
  'password_changed',
  'email_verified',
  'account_deleted',
  'key_created',
  'key_rotated',
  'key_revoked',
  'events_left_out',
] as const
export type SecurityEventKind = (typeof SECURITY_EVENTS)[number]

export interface SecurityEvent {
  kind: SecurityEventKind
  /** Null: no known account. */
  userId: string | null
  /** E-mail address of the account; empty for an unknown account: the typed text may be a password. */
  account: string
  workspaceId?: string | null
  detail?: Readonly<Record<string, unknown>>
  address: string
  requestId: string
}

export type SecurityRow = Omit<SecurityLogTable, 'at' | 'detail' | 'kind'> & {
  at: Date
  kind: SecurityEventKind
  detail: Record<string, unknown>
}

export async function writeSecurityEvent(store: Store, event: SecurityEvent): Promise<void> {
  const { kind, userId, account, workspaceId = null, detail = {}, address, requestId } = event
  await store.global
    .insertInto('security_log')
    .values({
      id: uuidv7(),
      kind,
      user_id: userId,
      account,
      workspace: workspaceId,
      detail: JSON.stringify(detail),
      address,
      request_id: requestId,
    })
    .execute()
}

/** Newest first. */
export async function securityPage(
  store: Store,
  filter: { kind?: SecurityEventKind | undefined; userId?: string | undefined; address?: string | undefined },
  { offset, limit, after }: ListPart,
): Promise<{ rows: SecurityRow[]; total: number }> {
  let query = store.global.selectFrom('security_log')
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind)
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId)
  if (filter.address !== undefined) query = query.where('address', '=', filter.address)
  const placed = after === undefined ? query.offset(offset) : query.where('id', '<', after.id)
  const [rows, { total }] = await Promise.all([
    placed.selectAll().orderBy('id', 'desc').limit(limit).execute(),
    query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { rows: rows as SecurityRow[], total }
}
