import type { ErrorCode } from '../../runtime/lib/errors.ts'
import type { WorkspaceRole } from '../../store/database/schema.ts'

const RANKS: Readonly<Record<WorkspaceRole, number>> = { member: 0, developer: 1, admin: 2 }

/** The error for a role below `least`; undefined when it suffices. */
export function roleRefusal(role: WorkspaceRole, least: WorkspaceRole): ErrorCode | undefined {
  if (RANKS[role] >= RANKS[least]) return undefined
  return least === 'admin' ? 'admin_required' : 'insufficient_permissions'
}
