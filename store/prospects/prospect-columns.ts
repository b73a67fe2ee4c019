import { metadataKeyOf } from '../../runtime/call/types/metadata.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** What the columns of a file of prospects are: by their names, or by what was said of them. */

/** Columns a prospect has of its own; every other one becomes a variable. */
export const OWN_COLUMNS = [
  'primary_phone',
  'first_name',
  'last_name',
  'email',
  'state',
  'postal_code',
  'timezone',
  'consent_at',
  'external_id',
] as const
export type OwnColumn = (typeof OWN_COLUMNS)[number]
const PHONE_NAMES = ['primary_phone', 'phone', 'phone_number']

/** Names of a file's columns → what each is: a column of the prospect's own, the name of a variable, or `''` to leave it out. */
export type ColumnMapping = Readonly<Record<string, string>>

/** `First Name` → `first_name`; the names of the number's column are one. */
export function ownColumnOf(name: string): OwnColumn | undefined {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
  if (PHONE_NAMES.includes(plain)) return 'primary_phone'
  return OWN_COLUMNS.find((column) => column === plain)
}

/** What a column is; neither: it is left out. */
export function fieldOf(
  name: string,
  mapping: ColumnMapping,
): { own?: OwnColumn; variable?: string; metadata?: string } {
  const target = (Object.hasOwn(mapping, name) ? mapping[name] : name) ?? ''
  const own = ownColumnOf(target)
  if (own !== undefined) return { own }
  const metadata = metadataKeyOf(target)
  if (metadata !== undefined) return { metadata }
  return target === '' ? {} : { variable: target }
}

/** Throws `csv_without_column` where the mapping speaks of a column that the file lacks. */
export function checkMapping(columns: readonly string[], mapping: ColumnMapping): void {
  const missing = Object.keys(mapping).find((name) => !columns.includes(name))
  if (missing !== undefined) throw new PatchbayError('csv_without_column')
}

export interface ProspectHeader {
  /** Where each column of the prospect's own stands. */
  at: ReadonlyMap<OwnColumn, number>
  variables: readonly (readonly [name: string, at: number])[]
  /** Of columns named `metadata[key]`: the key, and where it stands. */
  metadata: readonly (readonly [key: string, at: number])[]
}

/** What the agent knows of every prospect of such a file (variablesOf in prospect-claims.ts), but for those whose cell is empty. */
export function variableNames({ at, variables }: ProspectHeader): string[] {
  const own = [...at.keys()].filter((column) => column !== 'timezone' && column !== 'consent_at')
  return [...own, ...variables.map(([name]) => name)]
}

/** Of several columns that are the same, the first that the mapping names goes before `primary_phone`, and that before the rest. */
export function headerOf(columns: readonly string[], mapping: ColumnMapping): ProspectHeader {
  const at = new Map<OwnColumn, number>()
  const ranks = new Map<OwnColumn, number>()
  const variables: [string, number][] = []
  const metadata: [string, number][] = []
  for (const [index, name] of columns.entries()) {
    const { own, variable, metadata: key } = fieldOf(name, mapping)
    if (key !== undefined) metadata.push([key, index])
    if (variable !== undefined) variables.push([variable, index])
    if (own === undefined) continue
    const rank = Object.hasOwn(mapping, name) ? 2 : name.toLowerCase().startsWith('primary') ? 1 : 0
    if (rank <= (ranks.get(own) ?? -1)) continue
    at.set(own, index)
    ranks.set(own, rank)
  }
  return { at, variables, metadata }
}
