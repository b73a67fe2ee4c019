import type { ColumnType, Generated, JSONColumnType } from 'kysely'

export type CreatedAt = ColumnType<Date, Date | undefined, never>
/** Set by the tenant handle alone. */
export type BoundWorkspace = ColumnType<string, never, never>
export type Json<T extends object> = JSONColumnType<T, string, string>

/** The highest number that was given to a slug of this base. */
interface SlugNumbersTable {
  base: string
  last: number
}

/** Which calls an api node says to hold. */
interface NodeLeasesTable {
  node_id: string
  calls: string[]
  renewed_at: Generated<Date>
}

interface IdempotencyKeysTable {
  workspace_id: BoundWorkspace
  key: string
  request_hash: Buffer
  /** The answer's JSON; null while its effect, outside the database, is under way or was broken off. */
  answer: string | null
  /** What the request makes will have this id. */
  effect_id: string | null
  created_at: CreatedAt
}

/** Of no single workspace. */
export interface GlobalDatabaseTables {
  slug_numbers: SlugNumbersTable
  node_leases: NodeLeasesTable
}

/** Of a workspace. */
export interface TenantDatabaseTables {
  idempotency_keys: IdempotencyKeysTable
}
