import { isDeepStrictEqual } from 'node:util'
import type { DocumentPlan } from './documents.ts'
import { type Kind, masked, withHeaders } from './kinds.ts'
import { type LockEntry, valueDigest } from './lock-file.ts'
import type { Fields, ManagedFile } from './managed-file.ts'

/** A field that is not the same in the file and on the instance. */
export interface FieldDifference {
  field: string
  file: unknown
  instance: unknown
}

/** What a file and the instance differ in. */
export interface ResourcePlan {
  kind: Kind
  file: ManagedFile
  id: string | undefined
  /** Changed in the file alone: what `apply` sends. */
  changes: FieldDifference[]
  /** Changed on the instance alone: what `pull` takes. */
  drifts: FieldDifference[]
  /** Changed in both. */
  conflicts: FieldDifference[]
  documents?: DocumentPlan
}

export const isCreated = ({ id }: ResourcePlan): boolean => id === undefined
export const isSame = ({ id, changes, drifts, conflicts, documents }: ResourcePlan): boolean =>
  id !== undefined &&
  changes.length + drifts.length + conflicts.length === 0 &&
  (documents === undefined || documents.uploads.length + documents.removals.length + documents.added.length === 0)

/** What the file says of a field, or what holds where it says nothing; undefined: nothing does. */
export const desiredField = (file: Pick<ManagedFile, 'fields'>, kind: Kind, field: string): unknown =>
  file.fields[field] ?? (field in file.fields ? null : kind.defaults[field])

/** Compares field by field with what both were the last time. `instance`: as it would stand in a file. */
export function comparedFields(
  file: ManagedFile,
  kind: Kind,
  instance: Fields,
  entry: Pick<LockEntry, 'fields'>,
): Pick<ResourcePlan, 'changes' | 'drifts' | 'conflicts'> {
  const compared: Pick<ResourcePlan, 'changes' | 'drifts' | 'conflicts'> = { changes: [], drifts: [], conflicts: [] }
  for (const field of kind.fields) {
    const local = desiredField(file, kind, field)
    const there = instance[field]
    if (local === undefined || there === undefined) continue
    const known = entry.fields[field]
    const isLocalNew = known === undefined ? field in file.fields : known[0] !== valueDigest(local)
    const isThereNew = known === undefined || known[1] !== valueDigest(there)
    if (!isLocalNew && !isThereNew) continue
    const change = { field, file: local, instance: there }
    // The same, and no header that could be another behind its mask.
    const isEqual = isDeepStrictEqual(plain(masked({ [field]: local })[field]), plain(there))
    if (isEqual && !(isLocalNew && hasHeaders(field, local))) continue
    if (!isLocalNew) compared.drifts.push(change)
    else if (isThereNew && !isEqual) compared.conflicts.push(change)
    else compared.changes.push(change)
  }
  return compared
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

function hasHeaders(field: string, value: unknown): boolean {
  if (field !== 'tools') return false
  let count = 0
  withHeaders({ tools: value }, (header) => {
    count++
    return header
  })
  return count > 0
}

/** What the lock says once they are the same. */
export function lockedFields(
  file: Pick<ManagedFile, 'fields'>,
  kind: Kind,
  instance: Fields,
): Pick<LockEntry, 'fields' | 'headers'> {
  const fields: LockEntry['fields'] = {}
  for (const field of kind.fields) {
    const local = desiredField(file, kind, field)
    if (local !== undefined && instance[field] !== undefined)
      fields[field] = [valueDigest(local), valueDigest(instance[field])]
  }
  return { fields, headers: headersOf(file.fields) }
}

/** By `tool header`: the digest of what the file says. */
export function headersOf(fields: Fields): Record<string, string> {
  const headers: Record<string, string> = {}
  withHeaders(fields, (value, of) => {
    headers[of] = valueDigest(value)
    return value
  })
  return headers
}
