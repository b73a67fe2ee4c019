import type { EffectiveConfig } from '../config/schema.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { Store } from '../store/database/database.ts'
import { replaceSealed, sealedValues } from '../store/database/sealed-values.ts'
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
  sealedColumn: SealedColumn,
  dataKey: string,
  earlier: readonly string[],
  log: Logger,
): Promise<number> {
  const { table, column, box, label, replaced = (value, by) => by(value as string) } = sealedColumn
  const [now, before] = [box(dataKey), earlier.map(box)]
  let count = 0
  for (const row of await sealedValues(store, sealedColumn)) {
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
    if (changed > 0 && (await replaceSealed(store, sealedColumn, row, next))) count += changed
  }
  return count
}
