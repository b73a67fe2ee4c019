import { planDocuments } from './documents.ts'
import type { Folder } from './folder.ts'
import { documentsIn, type InstanceState, lockKey } from './instance-state.ts'
import { AGENTS, FILE_KINDS, type Kind } from './kinds.ts'
import type { ManagedFile } from './managed-file.ts'
import { comparedFields, type ResourcePlan } from './plan.ts'
import { withSecrets } from './with-secrets.ts'

export interface Plan {
  resources: ResourcePlan[]
  /** In the lock and on the instance, and in no file any more. */
  gone: { kind: Kind; name: string; id: string }[]
  /** Why it can't be applied. */
  faults: string[]
}

/** What the files and the instance differ in. Reads, and changes nothing. */
export async function makePlan(
  folder: Folder,
  state: InstanceState,
  { env, allSecrets }: { env: Readonly<Record<string, string | undefined>>; allSecrets: boolean },
): Promise<Plan> {
  const plan: Plan = { resources: [], gone: [], faults: [] }
  for (const kind of FILE_KINDS) {
    const files = folder.files.get(kind) ?? []
    const why = state.closed.get(kind)
    if (why !== undefined && files.length > 0) plan.faults.push(`${kind.folder}: ${why}`)
    if (why !== undefined) continue
    for (const file of files) await planFile(file, kind)
    const named = new Set(files.map(({ name }) => lockKey(kind, name)))
    for (const [key, { id }] of Object.entries(state.lock)) {
      if (!key.startsWith(`${kind.folder}/`) || named.has(key) || !state.bodies.get(kind)?.has(id)) continue
      plan.gone.push({ kind, name: key.slice(kind.folder.length + 1), id })
    }
  }
  const agents = new Set((folder.files.get(AGENTS) ?? []).map(({ name }) => name))
  for (const { kind, file } of plan.resources) {
    const known = {
      nameOf: () => undefined,
      idOf: (name: string) => (agents.has(name) ? name : state.references.idOf(name)),
    }
    for (const name of kind.toApi(file.fields, known, '').missing)
      plan.faults.push(`${file.path}: there is no file agents/${name}.md`)
  }
  return plan

  async function planFile(file: ManagedFile, kind: Kind): Promise<void> {
    const fault = (message: string): void => {
      plan.faults.push(`${file.path}: ${message}`)
    }
    const entry = state.lock[lockKey(kind, file.name)]
    const body = entry === undefined ? undefined : state.bodies.get(kind)?.get(entry.id)
    if (entry !== undefined && body === undefined) {
      return fault(`the ${kind.noun} was deleted on the instance; delete the file, or rename it to create it anew`)
    }
    const shown = file.fields[kind.nameField]
    if (shown === undefined || (kind.body !== undefined && file.fields[kind.body] === '')) {
      return fault(`needs ${shown === undefined ? `\`${kind.nameField}\`` : 'a prompt below the second ---'}`)
    }
    if (body === undefined || entry === undefined) {
      const { folderField = kind.nameField } = kind
      const twin = [...(state.bodies.get(kind)?.values() ?? [])].find((one) => {
        const there = kind.toFile(one, state.references)
        return one[kind.nameField] === shown && there[folderField] === (file.fields[folderField] ?? null)
      })
      if (twin !== undefined) return fault(`${kind.noun} "${shown}" is there already; pull first, or name it otherwise`)
    }
    const instance = body === undefined ? {} : kind.toFile(body, state.references)
    const compared =
      body === undefined || entry === undefined
        ? { changes: [], drifts: [], conflicts: [] }
        : comparedFields(file, kind, instance, entry)
    const tools = kind === AGENTS ? compared.changes.find(({ field }) => field === 'tools') : undefined
    // A secret is needed where it is sent.
    if (kind === AGENTS && (entry === undefined || tools !== undefined || allSecrets)) {
      const given = { env, instance, headers: entry?.headers ?? {}, all: allSecrets }
      for (const message of withSecrets(file.fields, given).missing) fault(message)
      if (allSecrets && entry !== undefined && tools === undefined && hasTools(file)) {
        compared.changes.push({ field: 'tools', file: file.fields.tools, instance: instance.tools })
      }
    }
    const planned: ResourcePlan = { kind, file, id: entry?.id, ...compared }
    if (kind === AGENTS && Array.isArray(file.fields.documents)) {
      const present = body === undefined ? new Map() : await documentsIn(state.client, body)
      const wanted = file.fields.documents.map(String)
      planned.documents = await planDocuments(
        { root: folder.root, agent: file.name, wanted },
        present,
        entry?.documents ?? {},
      )
      for (const message of planned.documents.faults) fault(message)
    }
    plan.resources.push(planned)
  }
}

const hasTools = ({ fields }: ManagedFile): boolean => Array.isArray(fields.tools) && fields.tools.length > 0
