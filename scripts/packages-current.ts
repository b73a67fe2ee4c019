/**
 * Says what npm is to be called with so that node_modules holds what package-lock.json says for this machine and this purpose: a line
 * for `npm`, or nothing where it is all there. `node scripts/packages-current.ts <run | start | all>`
 *
 *     run     what running needs
 *     start   the same, and where the console isn't built yet what it is built with
 *     all     what tests and benchmarks need, too
 *
 * npm writes node_modules/.package-lock.json last, so an interrupted installation counts as none.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isWebBuilt } from './web-built.ts'

interface LockedPackage {
  version?: string
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
export type Packages = Readonly<Record<string, LockedPackage>>

const SCOPES = ['run', 'start', 'all'] as const
export type Scope = (typeof SCOPES)[number]

const CONSOLE = 'web/console'
const TEST_LIBRARY = 'node_modules/tap'

/** The places of the packages that a scope needs on every machine: those that are optional aren't among them. */
export function neededBy(packages: Packages, scope: Scope): Set<string> {
  const needed = new Set<string>()
  const add = (from: string, name: string): void => {
    const path = placeOf(packages, from, name)
    if (path === undefined || needed.has(path)) return
    needed.add(path)
    addAll(path, packages[path])
  }
  const addAll = (from: string, { dependencies = {}, ...given }: LockedPackage = {}): void => {
    const peers = Object.keys(given.peerDependencies ?? {})
    const required = peers.filter((name) => given.peerDependenciesMeta?.[name]?.optional !== true)
    const optional = given.optionalDependencies ?? {}
    for (const name of [...Object.keys(dependencies), ...required]) if (!(name in optional)) add(from, name)
  }
  const { '': root, [CONSOLE]: web } = packages
  addAll('', root)
  if (scope !== 'run') addAll(CONSOLE, web)
  if (scope === 'all') addAll('', { dependencies: root?.devDependencies ?? {} })
  return needed
}

/** Where Node finds a package from another one's place. */
function placeOf(packages: Packages, from: string, name: string): string | undefined {
  const outer = (folder: string) => folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  for (let folder = from; folder !== ''; folder = outer(folder)) {
    const path = `${folder}/node_modules/${name}`
    if (packages[path] !== undefined) return path
  }
  return packages[`node_modules/${name}`] && `node_modules/${name}`
}

/** Arguments of npm; undefined: nothing is missing. */
export function npmArguments(locked: Packages, installed: Packages | undefined, scope: Scope): string[] | undefined {
  const isAsLocked = (path: string): boolean => installed?.[path]?.version === locked[path]?.version
  // npm leaves out those of other Nodes than the one it runs under.
  const [major] = process.versions.node.split('.')
  const server = `node_modules/@uwsjs/${process.platform}-${process.arch}-${major}`
  const needed = [...neededBy(locked, scope), ...(locked[server] === undefined ? [] : [server])]
  const isCurrent = Object.keys(installed ?? {}).every((path) => path === CONSOLE || isAsLocked(path))
  if (installed !== undefined && isCurrent && needed.every((path) => installed[path] !== undefined)) return undefined
  // What is there stays, so that nothing is fetched twice.
  const widest = installed?.[TEST_LIBRARY] === undefined ? scope : 'all'
  return [
    ...(installed === undefined ? ['ci'] : ['install', '--no-save']),
    ...(widest === 'all' ? [] : ['--omit=dev']),
    ...(widest === 'run' ? ['--workspaces=false'] : []),
  ]
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const read = (path: string) => (JSON.parse(readFileSync(join(root, path), 'utf8')) as { packages: Packages }).packages
  const asked = SCOPES.find((scope) => scope === process.argv[2]) ?? 'all'
  const INSTALLED = 'node_modules/.package-lock.json'
  const installed = existsSync(join(root, INSTALLED)) ? read(INSTALLED) : undefined
  const scope = asked === 'start' && isWebBuilt() ? 'run' : asked
  const args = npmArguments(read('package-lock.json'), installed, scope)
  if (args !== undefined) console.log(args.join(' '))
}
