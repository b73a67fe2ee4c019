import type { Generated, JSONColumnType, Selectable } from 'kysely'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'
import type { WorkspaceRole } from '../workspaces/tables.ts'

interface UsersTable {
  id: string
  name: string
  email: string
  password_hash: string
  phone_number: string
  current_workspace_id: string | null
  created_at: CreatedAt
  /** Tokens that name no session and were made before are void. */
  signed_out_at: Date | null
  email_verified_at: Date | null
  is_operator: Generated<boolean>
  /** Of mails to them, such as `de`; null: not known. */
  language: Generated<string | null>
}

/** One login: the family of its refresh tokens has the same id, and its access tokens name it. */
export interface SessionsTable {
  id: string
  user_id: string
  created_at: CreatedAt
  used_at: Date
  expires_at: Date
  address: string
  user_agent: string
  ended_at: Date | null
}

interface UserIdentitiesTable {
  issuer: string
  subject: string
  user_id: string
  created_at: CreatedAt
}

interface RefreshTokensTable {
  id: string
  family_id: string
  user_id: string
  token_hash: Buffer
  created_at: CreatedAt
  expires_at: Date
  revoked_at: Date | null
}

export type SignupMode = 'open' | 'invitation' | 'closed'

/** One row. */
interface InstanceSettingsTable {
  one_row: Generated<boolean>
  /** null: what the configuration says. */
  signup: SignupMode | null
  /** null: none. */
  maintenance_since: Date | null
  maintenance_message: string | null
  updated_at: Generated<Date>
}

export type LinkKind = 'password_reset' | 'verify_email' | 'signup'

export interface OneTimeLinksTable {
  id: string
  kind: LinkKind
  token_hash: Buffer
  user_id: string | null
  /** Empty: the link takes any address. */
  email: string
  /** The workspace, and the role in it, of who signs up by it. */
  workspace_id: string | null
  role: WorkspaceRole | null
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date
  used_at: Date | null
}

interface InvitationsTable {
  id: string
  workspace_id: string
  user_id: string
  role: WorkspaceRole
  invited_by: string | null
  created_at: CreatedAt
}

export interface AuditLogTable {
  id: string
  at: CreatedAt
  workspace: string | null
  actor_kind: 'user' | 'key' | 'shell'
  actor_id: string | null
  actor_name: string
  /** Method and path of the endpoint, or the command. */
  action: string
  resource: string
  detail: JSONColumnType<Record<string, unknown>, string, never>
  address: string
  request_id: string
}

export interface SecurityLogTable {
  id: string
  at: CreatedAt
  kind: string
  user_id: string | null
  /** E-mail address of the account; empty for an unknown account. */
  account: string
  workspace: string | null
  detail: JSONColumnType<Record<string, unknown>, string, never>
  address: string
  request_id: string
}

interface ApiKeysTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  prefix: string
  key_hash: Buffer
  created_at: CreatedAt
  last_used_at: Date | null
  scopes: Generated<KeyScope[]>
  expires_at: Date | null
  /** The user who made it. */
  created_by: string | null
}

/** What an API key may do. */
export const KEY_SCOPES = [
  'read',
  'calls',
  'agents',
  'batches',
  'numbers',
  'campaigns',
  'webhooks',
  'privacy',
  'delete',
] as const
export type KeyScope = (typeof KEY_SCOPES)[number]
/** With one of these a key does what needs an Admin otherwise. */
export const ADMIN_SCOPES: ReadonlySet<KeyScope> = new Set<KeyScope>(['webhooks', 'privacy', 'delete'])

interface UserIdempotencyKeysTable {
  user_id: string
  key: string
  request_hash: Buffer
  /** Sealed; null while its request is under way or was broken off. */
  answer: string | null
  created_at: CreatedAt
}

/** Of a workspace's own accounts; `set_by` and the rest as of the installation's. */
interface WorkspaceProviderKeysTable extends ProviderKeysTable {
  workspace_id: BoundWorkspace
}

/** Of the installation. */
export interface ProviderKeysTable {
  id: string
  provider: string
  variable: string
  /** Sealed. */
  value: string
  /** Its last characters. */
  hint: string
  set_by: string | null
  set_at: Generated<Date>
}

export type User = Selectable<UsersTable>

export type ApiKey = Selectable<ApiKeysTable>

/** Of no single workspace. */
export interface GlobalAccountTables {
  users: UsersTable
  user_identities: UserIdentitiesTable
  sessions: SessionsTable
  instance_settings: InstanceSettingsTable
  one_time_links: OneTimeLinksTable
  invitations: InvitationsTable
  audit_log: AuditLogTable
  security_log: SecurityLogTable
  refresh_tokens: RefreshTokensTable
  user_idempotency_keys: UserIdempotencyKeysTable
  provider_keys: ProviderKeysTable
}

/** Of a workspace. */
export interface TenantAccountTables {
  api_keys: ApiKeysTable
  workspace_provider_keys: WorkspaceProviderKeysTable
}
