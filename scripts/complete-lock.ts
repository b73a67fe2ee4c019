/**
 * Adds to package-lock.json the packages of other platforms that npm left out: `node scripts/complete-lock.ts`, after
 * every `npm install`. npm drops an optional package its registry can't serve (a mirror that carries some platforms
 * only), and then `npm ci` refuses the file everywhere. What is added has its exact version, and the digest its registry has;
 * exits 1, naming each, where the registry has none.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

interface LockEntry {
  version?: string
  /** What it is a copy of, where its folder is called otherwise. */
  name?: string
  integrity?: string
  link?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string | string[]
  engines?: Record<string, string>
  license?: string
  optional?: boolean
  dev?: boolean
  optionalDependencies?: Record<string, string>
}
export interface Lock {
  packages: Record<string, LockEntry>
}

const PLATFORM =
  /(aix|android|darwin|freebsd|linux|openharmony|sunos|win32|windows)-(arm64|arm|x64|ia32|ppc64|s390x|riscv64)(-musl|-gnu)?/

/** What is missing: the place each entry belongs to and the entry. */
export function missingEntries({ packages }: Lock): [path: string, entry: LockEntry][] {
  const missing: [string, LockEntry][] = []
  for (const [parentPath, parent] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
      if (isFound(packages, parentPath, name)) continue
      missing.push([`node_modules/${name}`, makeEntry(packages, parent, name, range)])
    }
  }
  return missing
}

/** Looks where Node would: beside the parent, then in every folder above. */
function isFound(packages: Lock['packages'], parentPath: string, name: string): boolean {
  for (let path = parentPath; ; path = path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')))) {
    if (packages[`${path}${path && '/'}node_modules/${name}`] !== undefined) return true
    if (path === '') return false
  }
}

function makeEntry(packages: Lock['packages'], parent: LockEntry, name: string, range: string): LockEntry {
  const [, os = '', cpu = '', flavour] = name.match(PLATFORM) ?? []
  const shape = (text: string): string => text.replace(PLATFORM, '')
  const siblingName = Object.keys(parent.optionalDependencies ?? {}).find(
    (other) => shape(other) === shape(name) && packages[`node_modules/${other}`] !== undefined,
  )
  const sibling = packages[`node_modules/${siblingName}`]
  return {
    version: range.replace(/^[\^~]/, ''),
    cpu: [cpu],
    ...(parent.dev && { dev: true }),
    ...(flavour === '-musl' && { libc: ['musl'] }),
    ...(sibling?.license && { license: sibling.license }),
    optional: true,
    os: [os],
    ...(sibling?.engines && { engines: sibling.engines }),
  }
}

/** The packages that would be taken whatever their bytes are: `[path, name@version]`. */
export function withoutDigest({ packages }: Lock): [path: string, spec: string][] {
  return Object.entries(packages)
    .filter(([path, entry]) => path.includes('node_modules/') && entry.link !== true && !isDigest(entry.integrity))
    .map(([path, { name, version }]) => [path, `${name ?? path.split('node_modules/').at(-1)}@${version}`])
}

const isDigest = (integrity: string | undefined): boolean => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')

/** What the registry says of a package's tarball; undefined where it has no such package. */
async function digestOf(spec: string): Promise<string | undefined> {
  const asked = promisify(execFile)('npm', ['view', spec, 'dist.integrity', '--json'])
  const { stdout } = await asked.catch(() => ({ stdout: 'null' }))
  const digest: unknown = JSON.parse(stdout || 'null')
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '..', 'package-lock.json')
  const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock
  const missing = missingEntries(lock)
  const entries = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) })
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')))
  const lacking: string[] = []
  for (const [place, spec] of withoutDigest(lock)) {
    const digest = await digestOf(spec)
    const entry = lock.packages[place]
    if (digest === undefined || entry === undefined) lacking.push(spec)
    else lock.packages[place] = { ...entry, integrity: digest }
  }
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
  process.stdout.write(`${missing.length} packages of other platforms added\n`)
  if (lacking.length > 0) {
    process.stderr.write(
      `This registry has no digest of ${lacking.join(', ')}; run it again with a registry that has them.\n`,
    )
    process.exitCode = 1
  }
}
