import type { ColumnType, JSONColumnType } from 'kysely'

export type CreatedAt = ColumnType<Date, Date | undefined, never>
/** Set by the tenant handle alone. */
export type BoundWorkspace = ColumnType<string, never, never>
export type Json<T extends object> = JSONColumnType<T, string, string>
