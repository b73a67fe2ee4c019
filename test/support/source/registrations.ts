import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parseAst } from 'vite'

/** Reads product code for what enters the process without a boundary: handlers of events, timers and promises nobody waits for. */

const ROOT = join(import.meta.dirname, '../../..')
const ROOMS = ['api', 'cli', 'runtime', 'plugins', 'store', 'workers']

/** A node of the syntax tree (ESTree), with where it stands in the text. */
export interface SyntaxNode {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

/** A handler that no boundary guards. */
export interface Unguarded {
  file: string
  line: number
  /** The line itself. */
  text: string
  handler: SyntaxNode
  /** What it was made of elsewhere in the file. */
  made: SyntaxNode | undefined
}

const LISTENERS = new Set(['on', 'once', 'addListener', 'prependListener', 'prependOnceListener'])
const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'nextTick'])
const SERVERS = new Set(['createServer', 'createSecureServer'])

/** Every TypeScript file of the product by its path from the root. */
export async function productFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>([['main.ts', await readFile(join(ROOT, 'main.ts'), 'utf8')]])
  for (const room of ROOMS) {
    for (const entry of await readdir(join(ROOT, room), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.parentPath.includes('node_modules')) continue
      const path = join(entry.parentPath, entry.name)
      files.set(relative(ROOT, path), await readFile(path, 'utf8'))
    }
  }
  return files
}

/** The handlers in a file that are registered without a boundary. */
export function unguardedIn(file: string, text: string): Unguarded[] {
  const program = parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode
  const found: Unguarded[] = []
  const names = namesIn(program)
  walk(program, [], (node, above) => {
    const handler = handlerIn(node, names)
    if (handler === undefined || isGuarded(handler, above, names)) return
    const line = text.slice(0, handler.start).split('\n').length
    found.push({ file, line, text: text.split('\n')[line - 1]!.trim(), handler, made: madeOf(handler, above, names) })
  })
  return found
}

interface Names {
  /** What constants are made of, by the block or function they are known in. */
  constants: Map<SyntaxNode, Map<string, SyntaxNode | undefined>>
  /** What fields of classes are made of. */
  fields: Map<string, SyntaxNode | undefined>
  /** Timers that are promises. */
  promised: Set<string>
}

const isScope = ({ type }: SyntaxNode): boolean => /^(Program|BlockStatement|StaticBlock|SwitchStatement)$/.test(type)

function namesIn(program: SyntaxNode): Names {
  const names: Names = { constants: new Map(), fields: new Map(), promised: new Set() }
  walk(program, [], (node, above) => {
    const scope = above.findLast(isScope) ?? program
    const known = names.constants.get(scope) ?? new Map<string, SyntaxNode | undefined>()
    names.constants.set(scope, known)
    const name = nameOf(node.id)
    if (node.type === 'VariableDeclarator' && name) known.set(name, isNode(node.init) ? node.init : undefined)
    if (node.type === 'FunctionDeclaration' && name) known.set(name, undefined)
    if (node.type === 'PropertyDefinition' && nameOf(node.key)) {
      names.fields.set(nameOf(node.key)!, isNode(node.value) ? node.value : undefined)
    }
    if (node.type === 'ImportDeclaration' && /timers\/promises$/.test(String((node.source as SyntaxNode).value))) {
      for (const one of node.specifiers as SyntaxNode[]) names.promised.add(nameOf(one.local) ?? '')
    }
  })
  return names
}

/** What an identifier or a field of this object was made of, where that is known. */
export function madeOf(
  node: SyntaxNode,
  above: readonly SyntaxNode[],
  { constants, fields }: Names,
): SyntaxNode | undefined {
  if (node.type === 'MemberExpression') return fields.get(nameOf(node.property) ?? '')
  const name = nameOf(node)
  if (name === undefined) return undefined
  for (const scope of above.toReversed()) {
    if (((scope.params ?? []) as SyntaxNode[]).some((param) => nameOf(param) === name)) return undefined
    const known = constants.get(scope)
    if (known?.has(name)) return known.get(name)
  }
  return undefined
}

/** The handler that this node registers. */
function handlerIn(node: SyntaxNode, { promised }: Names): SyntaxNode | undefined {
  if (node.type === 'AssignmentExpression') {
    const { left, right } = node as unknown as { left: SyntaxNode; right: SyntaxNode }
    const name = left.type === 'MemberExpression' ? nameOf(left.property) : undefined
    return name !== undefined && /^on[a-z]+$/.test(name) && isFunction(right) ? right : undefined
  }
  if (node.type !== 'CallExpression') return undefined
  const { callee, arguments: given } = node as unknown as { callee: SyntaxNode; arguments: SyntaxNode[] }
  const isMember = callee.type === 'MemberExpression'
  const name = isMember ? nameOf(callee.property) : nameOf(callee)
  const [first, second] = given
  if (name === undefined || first === undefined) return undefined
  if (TIMERS.has(name)) {
    if (!isMember) return promised.has(name) ? undefined : first
    if (nameOf(callee.object) === 'process') return first
    // Of a timer that is passed in the maker has the boundary; of a socket the second is the handler.
    return second !== undefined && isFunction(second) ? second : undefined
  }
  if (SERVERS.has(name)) return given.at(-1)?.type === 'ObjectExpression' ? undefined : given.at(-1)
  if (!isMember || second === undefined) return undefined
  if (name === 'addEventListener') return second
  if (name === 'subscribe') return second.type === 'ObjectExpression' ? undefined : second
  if (!LISTENERS.has(name)) return undefined
  return isText(first) || isFunction(second) || nameOf(callee.object) === 'process' ? second : undefined
}

/** Behind a boundary, or with nothing in it that could throw. */
function isGuarded(handler: SyntaxNode, above: readonly SyntaxNode[], names: Names): boolean {
  if (isBoundary(handler) || isResolver(handler, above)) return true
  const made = madeOf(handler, above, names)
  if (made !== undefined && !isFunction(made)) return isBoundary(made)
  return isHarmless(made ?? handler, above)
}

/** A function that settles a promise, ends a socket, or does nothing. */
export function isHarmless(handler: SyntaxNode, above: readonly SyntaxNode[]): boolean {
  if (isResolver(handler, above)) return true
  if (!isFunction(handler)) return false
  const body = handler.body as SyntaxNode
  if (body.type !== 'BlockStatement') return doesNothing(body, [...above, handler])
  const statements = body.body as SyntaxNode[]
  if (statements.length === 0) return true
  const [only, ...rest] = statements
  return (
    rest.length === 0 &&
    only?.type === 'ExpressionStatement' &&
    doesNothing(only.expression as SyntaxNode, [...above, handler])
  )
}

/** What a library's own object does without calling back into the product. */
const ENDINGS = new Set(['destroy', 'terminate', 'kill', 'abort', 'removeEventListener', 'unref'])

function doesNothing(body: SyntaxNode, above: readonly SyntaxNode[]): boolean {
  if (body.type === 'ChainExpression') return doesNothing(body.expression as SyntaxNode, above)
  if (body.type === 'Literal' || nameOf(body) === 'undefined') return true
  if (body.type !== 'CallExpression') return false
  const callee = body.callee as SyntaxNode
  const isEnding = callee.type === 'MemberExpression' && ENDINGS.has(nameOf(callee.property) ?? '')
  return (isEnding && isHandle(callee.object as SyntaxNode)) || isResolver(callee, above)
}

/** A plain name or field: how sockets, programs and threads are held. */
const isHandle = (node: SyntaxNode): boolean =>
  node.type === 'Identifier' ||
  (node.type === 'MemberExpression' && isHandle(node.object as SyntaxNode)) ||
  node.type === 'ThisExpression'

/** `resolve` or `reject` of a promise that is being made. */
function isResolver(node: SyntaxNode, above: readonly SyntaxNode[]): boolean {
  if (node.type === 'MemberExpression') return ['resolve', 'reject'].includes(nameOf(node.property) ?? '')
  const name = nameOf(node)
  if (name === undefined) return false
  // Of `const { resolve, reject } = Promise.withResolvers()`.
  if (name === 'resolve' || name === 'reject') return true
  return above.some((one) => {
    if (one.type !== 'NewExpression' || nameOf(one.callee) !== 'Promise') return false
    const [executor] = one.arguments as SyntaxNode[]
    return isNode(executor) && ((executor.params ?? []) as SyntaxNode[]).some((param) => nameOf(param) === name)
  })
}

const isBoundary = (node: SyntaxNode): boolean => node.type === 'CallExpression' && nameOf(node.callee) === 'boundary'

const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null && 'type' in value
const isText = (node: SyntaxNode): boolean =>
  (node.type === 'Literal' && typeof node.value === 'string') || node.type === 'TemplateLiteral'
const isFunction = (node: unknown): node is SyntaxNode =>
  isNode(node) && (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression')

function nameOf(node: unknown): string | undefined {
  if (!isNode(node) || (node.type !== 'Identifier' && node.type !== 'PrivateIdentifier')) return undefined
  return String(node.name)
}

export function walk(
  node: SyntaxNode,
  above: readonly SyntaxNode[],
  visit: (node: SyntaxNode, above: readonly SyntaxNode[]) => void,
): void {
  visit(node, above)
  const inside = [...above, node]
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) walk(one, inside, visit)
    } else if (isNode(value)) walk(value, inside, visit)
  }
}
