import { sql } from 'kysely'
import type { EffectiveConfig } from '../config/schema.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { Store } from '../store/database/database.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

/**
 * What users' secrets are sealed with is a key of its own, apart from the one that signs access tokens and that others may
 * hold. At start everything that is still sealed under an earlier key, or under the token's, is sealed anew, so that the
 * earlier one can be thrown away.
 */

type KeyConfig = Pick<EffectiveConfig, 'dataKey' | 'dataKeyOld' | 'jwtApiSecret'>

const UNOPENED =
  'A secret was sealed under a key that is neither PATCHBAY_DATA_KEY nor one of PATCHBAY_DATA_KEY_OLD; name that key there, or set the secret again'

/** Several nodes may do it at once: each value is changed only where it is still the one that was read. */
export async function resealAll(store: Store, config: KeyConfig, log: Logger): Promise<{ resealed: number }> {
  const earlier = [...(config.dataKeyOld ?? []), config.jwtApiSecret].filter((key) => key !== config.dataKey)
  let resealed = 0
  for (const column of SEALED_COLUMNS) resealed += await resealColumn(store, column, config.dataKey, earlier, log)
  if (resealed > 0) log.info({ resealed }, 'Secrets were sealed anew under PATCHBAY_DATA_KEY')
  return { resealed }
}

async function resealColumn(
  store: Store,
  {
    table,
    column,
    key,
    box,
    label,
    holds = sql<boolean>`true`,
    replaced = (value, by) => by(value as string),
  }: SealedColumn,
  dataKey: string,
  earlier: readonly string[],
  log: Logger,
): Promise<number> {
  const [now, before] = [box(dataKey), earlier.map(box)]
  const { rows } = await sql<{ key: string; workspaceId: string; value: unknown }>`
    select ${sql.ref(key)}::text as key, workspace_id::text as "workspaceId", ${sql.ref(column)} as value
    from ${sql.table(table)} where ${sql.ref(column)} is not null and ${holds}`.execute(store.acrossTenants)
  let count = 0
  for (const row of rows) {
    let changed = 0
    const next = replaced(row.value, (sealed) => {
      if (now.open(sealed, label(row)) !== undefined) return sealed
      for (const old of before) {
        const text = old.open(sealed, label(row))
        if (text === undefined) continue
        changed++
        return now.seal(text, label(row))
      }
      log.error({ table, column, row: row.key, workspaceId: row.workspaceId }, UNOPENED)
      return sealed
    })
    if (changed === 0) continue
    const asStored = (value: unknown) =>
      typeof value === 'string' ? sql`${value}` : sql`${JSON.stringify(value)}::jsonb`
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${asStored(next)}
      where ${sql.ref(key)}::text = ${row.key} and ${sql.ref(column)} = ${asStored(row.value)}`.execute(
      store.acrossTenants,
    )
    count += Number(numAffectedRows) * changed
  }
  return count
}
