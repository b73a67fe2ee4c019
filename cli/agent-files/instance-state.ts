import { InstanceClient, InstanceError } from '../instance/instance-client.ts'
import { documentsOf } from './documents.ts'
import { AGENTS, FILE_KINDS, type Kind, type References } from './kinds.ts'
import { type Lock, readLock } from './lock-file.ts'
import type { Fields } from './managed-file.ts'

/** What the instance has, and what was known of it. */
export interface InstanceState {
  client: InstanceClient
  workspaceId: string
  lock: Lock
  /** By kind and id. */
  bodies: Map<Kind, Map<string, Fields>>
  /** Kinds that the key may not read, with the reason. */
  closed: Map<Kind, string>
  references: References & { learn(name: string, id: string): void }
}

export async function readInstance(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<InstanceState> {
  const client = new InstanceClient(env.PATCHBAY_URL, env.PATCHBAY_API_KEY, 'read, agents and campaigns')
  const { body } = await client.get('/api-keys/current')
  const workspaceId = String((body as { workspace_id?: unknown }).workspace_id)
  const lock = await readLock(root, workspaceId)
  const bodies = new Map<Kind, Map<string, Fields>>()
  const closed = new Map<Kind, string>()
  for (const kind of FILE_KINDS) {
    try {
      const list = await client.all(kind.list)
      bodies.set(kind, new Map(list.map((one) => [kind.idOf(one), one])))
    } catch (error) {
      if (!(error instanceof InstanceError && error.code === 'insufficient_scope')) throw error
      bodies.set(kind, new Map())
      closed.set(kind, error.message)
    }
  }
  const names = new Map<string, string>()
  const ids = new Map<string, string>()
  const learn = (name: string, id: string): void => {
    names.set(id, name)
    ids.set(name, id)
  }
  for (const [path, { id }] of Object.entries(lock)) {
    const [folder, name = ''] = path.split('/')
    if (folder === AGENTS.folder && bodies.get(AGENTS)?.has(id)) learn(name, id)
  }
  const references = { nameOf: (id: string) => names.get(id), idOf: (name: string) => ids.get(name), learn }
  return { client, workspaceId, lock, bodies, closed, references }
}

/** An agent's documents by name; empty where it has none. */
export async function documentsIn(
  client: InstanceClient,
  body: Fields,
): Promise<Map<string, { id: string; size: number }>> {
  return Number(body.documents ?? 0) === 0 ? new Map() : documentsOf(client, String(body.agent_id))
}

/** How a resource is called in the lock: `agents/reception`. */
export const lockKey = (kind: Kind, name: string): string => `${kind.folder}/${name}`
