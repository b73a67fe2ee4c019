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

interface DataKeyStatus {
  /** How many sealed texts each key opens, by the setting that names it. */
  readonly byKey: Readonly<Record<string, number>>
  /** What no key opens, by table and column. */
  readonly unopened: readonly { readonly column: string; readonly count: number }[]
}

/** Under which keys everything is sealed. Changes nothing. */
export async function dataKeyStatus(store: Store, config: KeyConfig): Promise<DataKeyStatus> {
  const old = config.dataKeyOld ?? []
  const keys: [name: string, key: string][] = [
    ['PATCHBAY_DATA_KEY', config.dataKey],
    ...old.map((key, at): [string, string] => [`PATCHBAY_DATA_KEY_OLD, key ${at + 1} of ${old.length}`, key]),
    ['JWT_API_SECRET', config.jwtApiSecret],
  ]
  const byKey: Record<string, number> = Object.fromEntries(keys.map(([name]) => [name, 0]))
  const unopened: { column: string; count: number }[] = []
  for (const sealedColumn of SEALED_COLUMNS) {
    const { table, column, box, label, replaced = (value, by) => by(value as string) } = sealedColumn
    const boxes = keys.map(([name, key]) => ({ name, box: box(key) }))
    let count = 0
    for (const row of await sealedValues(store, sealedColumn)) {
      replaced(row.value, (sealed) => {
        const found = boxes.find((one) => one.box.open(sealed, label(row)) !== undefined)?.name
        if (found === undefined) count++
        else byKey[found] = (byKey[found] ?? 0) + 1
        return sealed
      })
    }
    if (count > 0) unopened.push({ column: `${table}.${column}`, count })
  }
  return { byKey, unopened }
}

export function describeDataKeys({ byKey, unopened }: DataKeyStatus): string {
  const lines = Object.entries(byKey).map(([name, count]) => `${count} secrets are sealed under ${name}`)
  for (const { column, count } of unopened) lines.push(`${count} secrets of ${column} open with NO key: ${UNOPENED}`)
  const earlier = Object.entries(byKey).some(([name, count]) => name !== 'PATCHBAY_DATA_KEY' && count > 0)
  lines.push(
    earlier
      ? 'Earlier keys are still needed: the next start of an api node seals everything under PATCHBAY_DATA_KEY.'
      : 'No earlier key is needed any more: once every node has the new PATCHBAY_DATA_KEY, take the others away.',
  )
  return lines.join('\n')
}

async function resealColumn(
  store: Store,
  sealedColumn: SealedColumn,
  dataKey: string,
  earlier: readonly string[],
  log: Logger,
): Promise<number> {
  const { table, column, box, label, replaced = (value, by) => by(value as string) } = sealedColumn
  const [now, before] = [box(dataKey), earlier.map((one) => box(one))]
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
