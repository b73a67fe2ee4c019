import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstanceClient } from '../instance/instance-client.ts'
import type { LockEntry } from './lock-file.ts'

/** The documents of an agent: named in its file, their bytes in `documents/<agent>/`. */

export interface DocumentPlan {
  /** Bytes that the instance does not have, and what they take the place of. */
  uploads: { name: string; replaces?: string }[]
  removals: { name: string; id: string }[]
  /** On the instance since the last time, and not in the file. */
  added: string[]
  faults: string[]
}

const MAX_BYTES = 64 << 20

export const documentPath = (agent: string, name: string): string => `documents/${agent}/${name}`

/** @param present by name, on the instance */
export async function planDocuments(
  { root, agent, wanted }: { root: string; agent: string; wanted: readonly string[] },
  present: ReadonlyMap<string, { id: string; size: number }>,
  known: LockEntry['documents'],
): Promise<DocumentPlan> {
  const plan: DocumentPlan = { uploads: [], removals: [], added: [], faults: [] }
  for (const name of wanted) {
    const path = documentPath(agent, name)
    if (/[/\\]|^\.\.?$/.test(name)) {
      plan.faults.push(`the document "${name}" must be a file's name, without folders`)
      continue
    }
    const local = await digestOfFile(join(root, path))
    const there = present.get(name)
    if (there === undefined) {
      if (local === undefined) plan.faults.push(`the document "${name}" is neither in ${path} nor on the instance`)
      else plan.uploads.push({ name })
      continue
    }
    const { id, sha256 } = known[name] ?? {}
    const isSame = id === there.id && sha256 !== undefined ? local?.sha256 === sha256 : local?.size === there.size
    if (local !== undefined && !isSame) plan.uploads.push({ name, replaces: there.id })
  }
  for (const [name, { id }] of present) {
    if (wanted.includes(name)) continue
    if (known[name]?.id === id) plan.removals.push({ name, id })
    else plan.added.push(name)
  }
  return plan
}

/** The documents of an agent on the instance. */
export async function documentsOf(
  client: InstanceClient,
  agentId: string,
): Promise<Map<string, { id: string; size: number }>> {
  const list = await client.all(`/agents/${agentId}/documents`)
  return new Map(
    list.map(({ filename, document_id, size }) => [String(filename), { id: String(document_id), size: Number(size) }]),
  )
}

/** Uploads first, so that an agent is never without what it knows; gives what the lock says of them. */
export async function applyDocuments(
  client: InstanceClient,
  { root, agent, agentId }: { root: string; agent: string; agentId: string },
  plan: DocumentPlan,
): Promise<void> {
  for (const { name, replaces } of plan.uploads) {
    const form = new FormData()
    form.append('files', new Blob([await readFile(join(root, documentPath(agent, name)))]), name)
    await client.post(`/agents/${agentId}/upload`, form)
    if (replaces !== undefined) await client.delete(`/agents/${agentId}/documents/${replaces}`)
  }
  for (const { id } of plan.removals) await client.delete(`/agents/${agentId}/documents/${id}`)
}

/** What the lock says of the documents that are on the instance. */
export async function lockedDocuments(
  { root, agent }: { root: string; agent: string },
  present: ReadonlyMap<string, { id: string; size: number }>,
): Promise<LockEntry['documents']> {
  const locked: LockEntry['documents'] = {}
  for (const [name, { id, size }] of present) {
    const local = await digestOfFile(join(root, documentPath(agent, name)))
    locked[name] = local?.size === size ? { id, sha256: local.sha256 } : { id }
  }
  return locked
}

async function digestOfFile(path: string): Promise<{ sha256: string; size: number } | undefined> {
  const status = await stat(path).catch(() => undefined)
  if (status === undefined || !status.isFile() || status.size > MAX_BYTES) return undefined
  const bytes = await readFile(path)
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
}
