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

/** What kubelet sets in every pod of the namespace for a Service, unless the pod says `enableServiceLinks: false`. */
export function serviceLinks({ metadata, spec }: Manifest, address = '10.96.0.7'): Record<string, string> {
  const name = metadata.name.toUpperCase().replaceAll('-', '_')
  const links: Record<string, string> = { [`${name}_SERVICE_HOST`]: address }
  for (const [index, { name: portName, port, protocol = 'TCP' }] of spec.ports.entries()) {
    const url = `${protocol.toLowerCase()}://${address}:${port}`
    if (index === 0) Object.assign(links, { [`${name}_SERVICE_PORT`]: `${port}`, [`${name}_PORT`]: url })
    if (portName !== undefined) links[`${name}_SERVICE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`] = `${port}`
    const prefix = `${name}_PORT_${port}_${protocol}`
    Object.assign(links, {
      [prefix]: url,
      [`${prefix}_PROTO`]: protocol.toLowerCase(),
      [`${prefix}_PORT`]: `${port}`,
      [`${prefix}_ADDR`]: address,
    })
  }
  return links
}
