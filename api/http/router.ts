import { type AnyRoute, hasEffect } from '../route.ts'

/** A route with what start-up compiled for it. */
interface Routed<T> {
  readonly route: AnyRoute
  readonly compiled: T
}

export interface Match<T> {
  readonly entry: Routed<T>
  /** In the order of the path; still percent-encoded. */
  readonly params: readonly string[]
}

interface Node<T> {
  readonly fixed: Map<string, Node<T>>
  any: Node<T> | undefined
  readonly methods: Map<string, Routed<T>>
}

export interface Router<T> {
  /** The route, or the methods the path knows (`allow`), or undefined for an unknown path. HEAD counts as GET without an effect. */
  match(method: string, path: string): Match<T> | { allow: string } | undefined
}

const EMPTY: readonly string[] = []

/** Fixed segments win over parameters. An empty parameter matches nothing. */
export function createRouter<T>(entries: readonly Routed<T>[]): Router<T> {
  const root = emptyNode<T>()
  const fixed = new Map<string, Node<T>>()
  for (const entry of entries) {
    const { path, trailingSlash } = entry.route
    const bare = path.replace(/\/$/, '')
    for (const variant of trailingSlash ? [bare, `${bare}/`] : [path]) insert(root, fixed, variant, entry)
  }
  return {
    match(method, path) {
      const direct = fixed.get(path)
      const params: string[] = direct ? (EMPTY as string[]) : []
      const node = direct ?? find(root, path.slice(1).split('/'), 0, params)
      if (node === undefined) return undefined
      const entry = node.methods.get(method === 'HEAD' && readsOnly(node) ? 'GET' : method)
      return entry ? { entry, params } : { allow: allowed(node) }
    },
  }
}

/** HEAD has no effect, so a GET that has one knows none. */
function readsOnly<T>(node: Node<T>): boolean {
  const get = node.methods.get('GET')
  return get !== undefined && !hasEffect(get.route)
}

function emptyNode<T>(): Node<T> {
  return { fixed: new Map(), any: undefined, methods: new Map() }
}

function insert<T>(root: Node<T>, fixed: Map<string, Node<T>>, path: string, entry: Routed<T>): void {
  let node = root
  for (const segment of path.slice(1).split('/')) {
    if (segment.startsWith('{')) {
      node.any ??= emptyNode()
      node = node.any
    } else {
      const next = node.fixed.get(segment) ?? emptyNode()
      node.fixed.set(segment, next)
      node = next
    }
  }
  const { method } = entry.route
  if (node.methods.has(method)) throw new Error(`Two routes for ${method} ${path}`)
  node.methods.set(method, entry)
  if (!path.includes('{')) fixed.set(path, node)
}

function find<T>(node: Node<T>, segments: readonly string[], at: number, params: string[]): Node<T> | undefined {
  if (at === segments.length) return node.methods.size > 0 ? node : undefined
  const segment = segments[at] as string
  const next = node.fixed.get(segment)
  const found = next && find(next, segments, at + 1, params)
  if (found) return found
  if (node.any === undefined || segment === '') return undefined
  params.push(segment)
  const viaParam = find(node.any, segments, at + 1, params)
  if (viaParam === undefined) params.pop()
  return viaParam
}

function allowed<T>(node: Node<T>): string {
  const methods = [...node.methods.keys()]
  return (methods.includes('GET') && readsOnly(node) ? [...methods, 'HEAD'] : methods).sort().join(', ')
}
