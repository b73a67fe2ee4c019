import { readFile } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'

/** A Kubernetes object as YAML gives it. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape and asserts on it
  readonly [field: string]: any
}

export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    const value = document.toJS() as Manifest | null
    return value === null ? [] : [value]
  })
}

export async function readManifestFile(path: string): Promise<Manifest[]> {
  return readManifests(await readFile(path, 'utf8'))
}

interface Validated {
  validate(): void
}

/**
 * What is wrong with a manifest by the published schema of its kind. The schemas allow unknown fields; a field the schema's
 * validator never looked at is one, as a rule a misspelt one.
 */
export async function manifestFaults(manifest: Manifest): Promise<string[]> {
  const Kind = await kindOf(manifest)
  if (Kind === undefined) return [`${manifest.apiVersion} ${manifest.kind} is no known kind`]
  const read = new Set<string>()
  const faults: string[] = []
  try {
    const model = new Kind(manifest)
    model.validate.call(watched(model, '', read))
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
  }
  const unread = leavesOf(manifest).filter((path) => !read.has(path))
  return [...faults, ...unread.map((path) => `${path} is no field of ${manifest.kind}`)]
}

async function kindOf({ apiVersion, kind }: Manifest): Promise<(new (data: object) => Validated) | undefined> {
  const library = apiVersion.startsWith('keda.sh/') ? '@kubernetes-models/keda' : 'kubernetes-models'
  const module = await import(`${library}/${apiVersion}/${kind}`).catch(() => undefined)
  return module?.[kind]
}

/** Notes every path that is read. */
function watched<T extends object>(value: T, path: string, read: Set<string>): T {
  return new Proxy(value, {
    get(target, key, receiver) {
      const found = Reflect.get(target, key, receiver)
      if (typeof key !== 'string') return found
      const at = `${path}/${key}`
      read.add(at)
      return typeof found === 'object' && found !== null ? watched(found, at, read) : found
    },
  })
}

function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const fields = Object.entries(value)
  return fields.length === 0 ? [path] : fields.flatMap(([key, field]) => leavesOf(field, `${path}/${key}`))
}
