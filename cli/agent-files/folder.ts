import { lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { faultLine } from '../../runtime/lib/yaml/read-yaml.ts'
import { FILE_KINDS, type Kind } from './kinds.ts'
import { type ManagedFile, readManagedFile } from './managed-file.ts'

/** A file of an agent holds a prompt of up to 200,000 characters, in bytes of UTF-8, and its settings. */
const MAX_FILE_BYTES = 2 << 20
const MAX_FILES = 2_000
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u

export interface Folder {
  root: string
  files: Map<Kind, ManagedFile[]>
}

/** Every file of the folder, each checked. Throws PatchbayError `configuration` with a sentence a line for what is wrong. */
export async function readAgentFolder(root: string): Promise<Folder> {
  const faults: string[] = []
  const files = new Map<Kind, ManagedFile[]>()
  for (const kind of FILE_KINDS) {
    const found: ManagedFile[] = []
    for (const [name, path] of await listed(root, kind, faults)) {
      const text = await readText(root, path, faults)
      if (text === undefined) continue
      const wrong = (kind.faultsOf?.(text) ?? []).map((fault) => faultLine(path, fault))
      const file = wrong.length > 0 ? { faults: wrong } : readManagedFile(text, { path, name, kind })
      if ('faults' in file) faults.push(...file.faults)
      else found.push(file)
    }
    files.set(kind, found)
  }
  refuse(faults)
  return { root, files }
}

/** Throws PatchbayError `configuration` where something is wrong. */
export function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new PatchbayError('configuration', { params: { reason: faults.join('\n') } })
}

/** Writes a file wholly or not at all. */
export async function writeWhole(root: string, path: string, text: string): Promise<void> {
  const place = join(root, path)
  await mkdir(dirname(place), { recursive: true })
  await writeFile(`${place}.new`, text)
  await rename(`${place}.new`, place)
}

/** The text of a file that may not be there. */
export const fileText = (root: string, path: string): Promise<string | undefined> =>
  readFile(join(root, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

async function listed(root: string, kind: Kind, faults: string[]): Promise<[name: string, path: string][]> {
  const { folder, extension } = kind
  const all = await entriesOf(root, folder)
  const below = kind.folderField === undefined ? [] : all.filter((entry) => entry.isDirectory())
  const nested = below.map(async ({ name: within }) => {
    const entries = await entriesOf(root, `${folder}/${within}`)
    return entries.map(({ name }) => `${within}/${name}`)
  })
  const names = [...all.map(({ name }) => name), ...(await Promise.all(nested)).flat()]
    .filter((entry) => entry.endsWith(extension))
    .sort()
  if (names.length > MAX_FILES) faults.push(`${folder}: has more than ${MAX_FILES} files`)
  return names.slice(0, MAX_FILES).flatMap((entry): [string, string][] => {
    const name = entry.slice(0, -extension.length)
    const path = `${folder}/${entry}`
    if (name.split('/').every((part) => NAME.test(part))) return [[name, path]]
    faults.push(`${path}: its name may hold letters, digits, ".", "_" and "-"`)
    return []
  })
}

const entriesOf = (root: string, folder: string) =>
  readdir(join(root, folder), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

async function readText(root: string, path: string, faults: string[]): Promise<string | undefined> {
  const status = await lstat(join(root, path))
  if (!status.isFile()) faults.push(`${path}: is no ordinary file`)
  else if (status.size > MAX_FILE_BYTES) faults.push(`${path}: is larger than ${MAX_FILE_BYTES >> 10} KiB`)
  else return readFile(join(root, path), 'utf8')
  return undefined
}
