import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { lockedDocuments } from './documents.ts'
import { type Folder, fileText, writeWhole } from './folder.ts'
import { freeName } from './free-name.ts'
import { documentsIn, type InstanceState, lockKey } from './instance-state.ts'
import { AGENTS, FILE_KINDS, type Kind, withHeaders, withoutDefaults } from './kinds.ts'
import { type LockEntry, writeLock } from './lock-file.ts'
import { type Fields, type ManagedFile, managedFileText } from './managed-file.ts'
import { comparedFields, lockedFields } from './plan.ts'
import { secretName } from './with-secrets.ts'

export interface Pulled {
  written: string[]
  /** Changed in both: the file stays as it is. */
  conflicts: string[]
  /** Changed in the file alone. */
  kept: string[]
  /** Names that the files now need for what the instance does not show. */
  secrets: string[]
}

/**
 * Writes what the instance has into the folder. A field that only the file changed stays; one that both changed is reported, and
 * stays, too. `replace`: the instance's holds everywhere.
 */
export async function pull(folder: Folder, state: InstanceState, { replace }: { replace: boolean }): Promise<Pulled> {
  const pulled: Pulled = { written: [], conflicts: [], kept: [], secrets: [] }
  // Names first: the files name each other.
  const all: { kind: Kind; name: string; id: string; body: Fields }[] = []
  for (const kind of FILE_KINDS) {
    const taken = new Set((folder.files.get(kind) ?? []).map(({ name }) => name))
    const bodies = [...(state.bodies.get(kind) ?? [])].sort(([, a], [, b]) =>
      String(a.created_at) < String(b.created_at) ? -1 : 1,
    )
    for (const [id, body] of bodies) {
      const known = knownName(state, kind, id)
      const within = kind.folderField && kind.toFile(body, state.references)[kind.folderField]
      const place = typeof within === 'string' ? `${within}/` : ''
      const hasMoved = known !== undefined && kind.folderField !== undefined && folderOf(known) !== place
      if (hasMoved && !(await leavesPlace(kind, known, body))) continue
      const name = known !== undefined && !hasMoved ? known : placed(place, shownName(kind, body), taken)
      taken.add(name)
      if (kind === AGENTS) state.references.learn(name, id)
      all.push({ kind, name, id, body })
    }
  }
  for (const one of all) await pullOne(one)
  await writeLock(folder.root, state.workspaceId, state.lock)
  return pulled

  /** The file goes to another folder, as its agent is another one now. False: it has changes of its own, and stays. */
  async function leavesPlace(kind: Kind, name: string, body: Fields): Promise<boolean> {
    const file = folder.files.get(kind)?.find((one) => one.name === name)
    const entry = state.lock[lockKey(kind, name)] ?? { fields: {} }
    if (file !== undefined && !replace) {
      const { changes, conflicts } = comparedFields(file, kind, kind.toFile(body, state.references), entry)
      if (changes.length + conflicts.length > 0) {
        pulled.conflicts.push(`${file.path}: ${kind.folderField}`)
        return false
      }
    }
    if (file !== undefined) await rm(join(folder.root, file.path))
    delete state.lock[lockKey(kind, name)]
    return true
  }

  async function pullOne({ kind, name, id, body }: (typeof all)[number]): Promise<void> {
    const path = `${kind.folder}/${name}${kind.extension}`
    const file = folder.files.get(kind)?.find((one) => one.name === name)
    const entry = state.lock[lockKey(kind, name)]
    const instance = kind.toFile(body, state.references)
    const documents = kind === AGENTS ? await documentsIn(state.client, body) : new Map()
    const fields = withoutDefaults(shownSecrets(instance, name, file, pulled.secrets), kind)
    if (documents.size > 0) fields.documents = [...documents.keys()].sort()
    const stay = new Map<string, [string, string] | undefined>()
    if (file !== undefined && !replace) {
      const { changes, conflicts } = comparedFields(file, kind, instance, entry ?? { fields: {} })
      for (const { field } of changes) pulled.kept.push(`${path}: ${field}`)
      for (const { field } of conflicts) pulled.conflicts.push(`${path}:${file.lineOf([field])}: ${field}`)
      for (const { field } of [...changes, ...conflicts]) {
        stay.set(field, entry?.fields[field])
        if (field in file.fields) fields[field] = file.fields[field]
        else delete fields[field]
      }
      // Written out, although it is what would hold anyway: it may stay so.
      for (const [field, value] of Object.entries(file.fields)) {
        if (!(field in fields) && field in instance && isDeepStrictEqual(value, instance[field])) fields[field] = value
      }
    }
    const before = file === undefined ? undefined : await fileText(folder.root, path)
    const isSame = file !== undefined && sameFields(file.fields, fields)
    if (!isSame) {
      const source = before === undefined ? kind.textOf?.(body) : undefined
      await writeWhole(folder.root, path, source ?? managedFileText(fields, kind, before))
      pulled.written.push(path)
    }
    const locked = lockedFields({ fields }, kind, instance)
    for (const [field, known] of stay) {
      if (known === undefined) delete locked.fields[field]
      else locked.fields[field] = known
    }
    const headers = stay.has('tools') ? (entry?.headers ?? {}) : locked.headers
    const next: LockEntry = { id, fields: locked.fields, headers, documents: {} }
    if (kind === AGENTS) next.documents = { ...(await lockedDocuments({ root: folder.root, agent: name }, documents)) }
    state.lock[lockKey(kind, name)] = next
  }
}

const sameFields = (a: Fields, b: Fields): boolean => {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isDeepStrictEqual(a[name], b[name]))
}

const shownName = (kind: Kind, body: Fields): string => String(body[kind.noun === 'campaign' ? 'slug' : kind.nameField])

/** `front-desk/` of `front-desk/opening-hours`; empty: it is in no folder. */
const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1)

/** A free name in that folder. */
function placed(place: string, shown: string, taken: ReadonlySet<string>): string {
  const beside = [...taken].filter((name) => folderOf(name) === place).map((name) => name.slice(place.length))
  return `${place}${freeName(shown, new Set(beside))}`
}

function knownName({ lock }: InstanceState, kind: Kind, id: string): string | undefined {
  const key = Object.keys(lock).find((one) => one.startsWith(`${kind.folder}/`) && lock[one]?.id === id)
  return key?.slice(kind.folder.length + 1)
}

/** Header values as the file says them already, or as names of secrets to be set. */
function shownSecrets(instance: Fields, agent: string, file: ManagedFile | undefined, secrets: string[]): Fields {
  if (!Array.isArray(instance.tools) || instance.tools.length === 0) return instance
  const said = new Map<string, string>()
  withHeaders(file?.fields ?? {}, (value, of) => {
    said.set(of, value)
    return value
  })
  const tools = withHeaders(instance, (_, of) => {
    const known = said.get(of)
    if (known !== undefined) return known
    const name = secretName(agent, of)
    secrets.push(name)
    return `\${${name}}`
  })
  return { ...instance, tools }
}
