import { createHash } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { fileText, writeWhole } from './folder.ts'

/** What was the same in a file and on the instance when they were compared last. Digests, no values. */
export interface LockEntry {
  id: string
  /** By field: the digest of the file's value, and of the instance's. */
  fields: Record<string, [file: string, instance: string]>
  /** By `tool header`: the digest of what the file says, such as `Bearer ${CRM_KEY}`. */
  headers: Record<string, string>
  /** By the name of the document. `sha256` is missing where its bytes were never here. */
  documents: Record<string, { id: string; sha256?: string }>
}

/** `agents/reception.md` → its entry. */
export type Lock = Record<string, LockEntry>

export const LOCK_FILE = 'patchbay.lock.json'
const VERSION = 1
const MAX_BYTES = 16 << 20

interface Stored {
  version: number
  workspaces: Record<string, Lock>
}

/** What is known of the files in that workspace; a folder may belong to several. */
export async function readLock(folder: string, workspaceId: string): Promise<Lock> {
  return (await stored(folder)).workspaces[workspaceId] ?? {}
}

export async function writeLock(folder: string, workspaceId: string, lock: Lock): Promise<void> {
  const all = await stored(folder)
  const workspaces = { ...all.workspaces, [workspaceId]: sorted(lock) as Lock }
  const text = `${JSON.stringify({ version: VERSION, workspaces: sorted(workspaces) }, null, 1)}\n`
  if ((await fileText(folder, LOCK_FILE)) !== text) await writeWhole(folder, LOCK_FILE, text)
}

async function stored(folder: string): Promise<Stored> {
  const text = await fileText(folder, LOCK_FILE)
  if (text === undefined) return { version: VERSION, workspaces: {} }
  try {
    if (text.length > MAX_BYTES) throw new Error('it is too large')
    const read = JSON.parse(text) as Stored
    if (read.version !== VERSION) throw new Error(`it has version ${read.version}, and this Patchbay reads ${VERSION}`)
    return { version: VERSION, workspaces: read.workspaces ?? {} }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const reason = `${LOCK_FILE} can't be read (${why}); take it from your version control, or delete it and pull again`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** Of any JSON value, whatever the order of its keys. */
export function valueDigest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)) ?? '')
    .digest('hex')
    .slice(0, 24)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  )
}
