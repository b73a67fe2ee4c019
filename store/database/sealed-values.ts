import { type RawBuilder, sql } from 'kysely'
import type { Store } from './database.ts'

/** Values that hold sealed secrets, whatever table they are in. */

/** A column with such values. */
export interface SealedPlace {
  table: string
  column: string
  /** The column that names its row. */
  key: string
  /** Of a column of JSON: only rows with something at one of these paths. */
  paths?: readonly string[]
  /** Its rows are of no workspace. */
  isOfInstallation?: true
}

interface SealedValue {
  key: string
  /** Empty: of none. */
  workspaceId: string
  value: unknown
}

/** The values of a column in all workspaces. */
export async function sealedValues(
  store: Store,
  { table, column, key, paths, isOfInstallation }: SealedPlace,
): Promise<SealedValue[]> {
  const workspaceId = isOfInstallation ? sql`''` : sql`workspace_id::text`
  const at = paths?.map((path) => sql<boolean>`${sql.ref(column)} @? ${path}::jsonpath`)
  const { rows } = await sql<SealedValue>`
    select ${sql.ref(key)}::text as key, ${workspaceId} as "workspaceId", ${sql.ref(column)} as value
    from ${sql.table(table)}
    where ${sql.ref(column)} is not null and (${at === undefined ? sql`true` : sql.join(at, sql` or `)})`.execute(
    store.acrossTenants,
  )
  return rows
}

/** Replaces a value where it is still the one that was read. */
export async function replaceSealed(
  store: Store,
  { table, column, key }: SealedPlace,
  row: SealedValue,
  next: unknown,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${asStored(next)}
    where ${sql.ref(key)}::text = ${row.key} and ${sql.ref(column)} = ${asStored(row.value)}`.execute(
    store.acrossTenants,
  )
  return numAffectedRows > 0n
}

const asStored = (value: unknown): RawBuilder<unknown> =>
  typeof value === 'string' ? sql`${value}` : sql`${JSON.stringify(value)}::jsonb`
