import { PatchbayError } from '../../runtime/lib/errors.ts'
import { InstanceError } from '../instance/instance-client.ts'
import { applyDocuments, documentsOf, lockedDocuments } from './documents.ts'
import { type InstanceState, lockKey } from './instance-state.ts'
import { AGENTS } from './kinds.ts'
import { valueDigest, writeLock } from './lock-file.ts'
import type { Plan } from './make-plan.ts'
import type { Fields } from './managed-file.ts'
import { isCreated, isSame, lockedFields, type ResourcePlan } from './plan.ts'
import { withSecrets } from './with-secrets.ts'

interface Applying {
  root: string
  env: Readonly<Record<string, string | undefined>>
  allSecrets: boolean
  /** Delete what is in no file any more. */
  deletes: boolean
  /** The note of the version that calls get, of agents that publish by hand; undefined: they keep theirs. */
  publish: string | undefined
}

/** Brings the instance to what the files say, resource by resource; what is done is in the lock also when a later one fails. */
export async function applyPlan(plan: Plan, state: InstanceState, applying: Applying): Promise<void> {
  const created = new Set<ResourcePlan>()
  try {
    for (const resource of plan.resources.filter(isCreated)) {
      await create(resource, state, applying)
      created.add(resource)
    }
    // Those that name each other.
    for (const resource of created) {
      const incomplete =
        resource.kind.replaces !== true &&
        resource.kind.toApi(resource.file.fields, { ...state.references, idOf: () => undefined }, '').missing.length > 0
      if (incomplete) await change(resource, ['tools', 'agent'], state, applying)
    }
    for (const resource of plan.resources) {
      if (created.has(resource) || isSame(resource)) continue
      await change(
        resource,
        resource.changes.map(({ field }) => field),
        state,
        applying,
      )
    }
    if (applying.deletes) {
      for (const { kind, name, id } of plan.gone.toReversed()) {
        const body = state.bodies.get(kind)?.get(id)
        if (body !== undefined) await state.client.delete(kind.pathOf(body))
        delete state.lock[lockKey(kind, name)]
      }
    }
  } finally {
    await writeLock(applying.root, state.workspaceId, state.lock)
  }
}

async function create(
  { kind, file, documents }: ResourcePlan,
  state: InstanceState,
  applying: Applying,
): Promise<void> {
  const { documents: _, ...given } = file.fields
  const secret = withSecrets(given, { env: applying.env, instance: {}, headers: {}, all: true })
  const own = kind === AGENTS && 'tools' in given ? { ...given, tools: secret.tools } : given
  const { fields } = kind.toApi(own, state.references, file.text)
  const { body } = await explained(file, state.client.post(kind.list, fields))
  const made = body as Fields
  const id = kind.idOf(made)
  if (kind === AGENTS) state.references.learn(file.name, id)
  state.bodies.get(kind)?.set(id, made)
  const entry = { id, ...lockedFields(file, kind, kind.toFile(made, state.references)), documents: {} }
  state.lock[lockKey(kind, file.name)] = entry
  if (documents !== undefined) await sendDocuments({ kind, file, documents }, id, state, applying)
}

async function change(
  resource: ResourcePlan,
  names: readonly string[],
  state: InstanceState,
  applying: Applying,
): Promise<void> {
  const { kind, file } = resource
  const entry = state.lock[lockKey(kind, file.name)]
  const seen = entry === undefined ? undefined : state.bodies.get(kind)?.get(entry.id)
  if (entry === undefined || seen === undefined) return
  if (names.length > 0) {
    const { body, etag } = await state.client.get(kind.pathOf(seen))
    const instance = kind.toFile(body as Fields, state.references)
    const planned = kind.toFile(seen, state.references)
    const moved = names.find((name) => valueDigest(instance[name]) !== valueDigest(planned[name]))
    if (moved !== undefined) throw overtaken(file.path, moved)
    const given: Record<string, unknown> = {}
    for (const name of names) {
      if (name in file.fields) given[name] = file.fields[name]
      else if (name in kind.defaults && name in instance) given[name] = kind.defaults[name]
    }
    if (kind === AGENTS && 'tools' in given) {
      const options = { env: applying.env, instance, headers: entry.headers, all: applying.allSecrets }
      given.tools = withSecrets(given, options).tools
    }
    const { fields } = kind.toApi(kind.replaces ? file.fields : given, state.references, file.text)
    const send = kind.replaces ? state.client.put : state.client.patch
    const answer = await explained(file, send(kind.pathOf(seen), fields, etag)).catch((error: unknown) => {
      throw error instanceof InstanceError && error.status === 412 ? overtaken(file.path) : error
    })
    const changed = answer.body as Fields
    state.bodies.get(kind)?.set(entry.id, changed)
    const locked = lockedFields(file, kind, kind.toFile(changed, state.references))
    // What was changed on the instance alone is not known to the file yet.
    for (const { field } of [...resource.drifts, ...resource.conflicts]) {
      const before = entry.fields[field]
      if (before !== undefined) locked.fields[field] = before
    }
    Object.assign(entry, locked)
    if (kind === AGENTS && applying.publish !== undefined && changed.publishing === 'manual') {
      await state.client.post(`${kind.pathOf(changed)}/publish`, { note: applying.publish })
    }
  }
  if (resource.documents !== undefined)
    await sendDocuments({ ...resource, documents: resource.documents }, entry.id, state, applying)
}

async function sendDocuments(
  {
    file,
    documents,
    kind,
  }: Pick<ResourcePlan, 'kind' | 'file'> & { documents: NonNullable<ResourcePlan['documents']> },
  agentId: string,
  { client, lock }: InstanceState,
  { root }: Applying,
): Promise<void> {
  const agent = file.name
  await applyDocuments(client, { root, agent, agentId }, documents)
  const entry = lock[lockKey(kind, agent)]
  const known = new Set(file.fields.documents as string[])
  const present = new Map([...(await documentsOf(client, agentId))].filter(([name]) => known.has(name)))
  if (entry !== undefined) entry.documents = await lockedDocuments({ root, agent }, present)
}

function overtaken(path: string, field?: string): PatchbayError {
  const what = field === undefined ? 'it' : `\`${field}\``
  const reason = `${path}: somebody changed ${what} on the instance meanwhile, and nothing was overwritten; pull, look and apply again`
  return new PatchbayError('configuration', { params: { reason } })
}

/** What the instance refuses, with the lines of the file. */
async function explained<T>(file: ResourcePlan['file'], asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof InstanceError) || error.faults.length === 0) throw error
    const lines = error.faults.map(
      ({ path, message }) => `${file.path}:${file.lineOf(path)}: ${path.join('.')} ${message}`,
    )
    throw new PatchbayError('configuration', { params: { reason: lines.join('\n') }, cause: error })
  }
}
