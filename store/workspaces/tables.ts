import type { Generated, Selectable } from 'kysely'
import type { CreatedAt } from '../database/tables.ts'

export type WorkspaceRole = 'member' | 'developer' | 'admin'

interface WorkspacesTable {
  id: string
  name: string
  type: string
  slug: string
  /** Phone calls it may have at once; null: any number. */
  max_concurrent_calls: Generated<number | null>
  /** Allowed destinations, within the operator's; null: no limit of its own. */
  dial_countries: Generated<string[] | null>
  dial_number_types: Generated<string[] | null>
  created_at: CreatedAt
  deleted_at: Date | null
  suspended_at: Date | null
  suspended_reason: string | null
}

interface MembershipsTable {
  workspace_id: string
  user_id: string
  role: WorkspaceRole
  joined_at: Generated<Date>
  /** Given by groups of the identity provider, which take it away, too. */
  from_groups: Generated<boolean>
}

/** null: no limit, every provider. */
export interface WorkspaceQuotasTable {
  workspace_id: string
  calls_at_once: number | null
  web_sessions_at_once: number | null
  agents: number | null
  documents: number | null
  storage_bytes: number | null
  minutes_a_month: number | null
  cost_usd_a_month: number | null
  purchases: Generated<boolean>
  /** Bought numbers it may have at once. */
  bought_numbers: number | null
  providers: string[] | null
  /** It may use keys of its own accounts at providers. */
  own_keys: Generated<boolean>
  /** On accounts of the operator null is the country of the calling number; `*`: all. */
  dial_countries: string[] | null
  dial_number_types: string[] | null
}

/** Days; null: for ever. */
export interface WorkspaceRetentionTable {
  workspace_id: string
  recordings_days: number | null
  transcripts_days: number | null
  chats_days: number | null
  logs_days: number | null
}

export type Workspace = Selectable<WorkspacesTable>

/** Of no single workspace. */
export interface GlobalWorkspaceTables {
  workspace_quotas: WorkspaceQuotasTable
  workspace_retention: WorkspaceRetentionTable
  workspaces: WorkspacesTable
  memberships: MembershipsTable
}
