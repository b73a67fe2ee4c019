import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Manifest } from '../contract.ts'
import { linkIn } from '../link-in.ts'
import { parseManifest } from '../manifest.ts'
import { replaceLivekit } from './replace-livekit.ts'

const run = promisify(execFile)
const FETCH_TIMEOUT_MS = 120_000
/** npm's own waits add up to more than that. */
const RETRIES = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
/** With the packages it depends on. */
const MAX_FILES = 20_000
const MAX_BYTES = 128 * 2 ** 20

/** What npm runs of a package that it installs. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare']

interface FetchedPlugin {
  manifest: Manifest
  folder: string
  /** Where it comes from: an absolute path, or a package of npm as it was asked for. */
  source: string
  /** Where it was fetched and what it depends on, a sentence each. */
  provenance: readonly string[]
  /** The names of the scripts with which it would install itself; none has run. */
  installScripts: readonly string[]
  remove(): Promise<void>
}

/**
 * Brings a plugin into a folder of its own: a folder, a file, a tarball, or a package of npm with its version, and the packages it
 * depends on. Nothing of it runs, no install script either. Throws `plugin` with what is wrong.
 * @param digest the one that the package's tarball has to have, as npm writes it
 */
export async function fetchPlugin(source: string, digest?: string): Promise<FetchedPlugin> {
  const place = await mkdtemp(join(tmpdir(), 'patchbay-plugin-'))
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true })
  try {
    const found = await stat(resolve(source)).catch(() => undefined)
    const { folder, packed } = await bring(source, place)
    if (digest !== undefined && packed?.digest !== digest) {
      throw new Error(`its digest is not the one that was expected, ${digest}, but ${packed?.digest}`)
    }
    const text = await readFile(join(folder, 'plugin.json'), 'utf8').catch(() => {
      throw new Error('it has no plugin.json')
    })
    const { name } = JSON.parse(text) as { name?: unknown }
    const manifest = parseManifest(String(name), text)
    const installScripts = await installScriptsIn(folder)
    const packages = await installPackages(folder)
    await replaceLivekit(folder)
    await checkSize(folder)
    return {
      manifest,
      folder,
      source: found === undefined ? source : resolve(source),
      provenance: [...(packed === undefined ? [] : [packed.sentence]), ...packages],
      installScripts,
      remove,
    }
  } catch (cause) {
    await remove()
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const reason = `"${source}" can't be installed: ${printable(why)}`
    throw new PatchbayError('plugin', { params: { reason }, cause })
  }
}

const isWhole = (source: string): boolean => isAbsolute(source) || source.startsWith('catalog:')

/** By which two sources are the same plugin: a package of npm is one in all its versions, an entry of a catalog likewise. */
export function identityOf(source: string): string {
  return isWhole(source) ? source : source.replace(/^npm:/, '').replace(/(?<=.)@[^/@]*$/, '')
}

/** What an update of it fetches: of a package the newest version, whichever was asked for before. */
export function updateSourceOf(source: string): string {
  return isWhole(source) ? source : `npm:${identityOf(source)}`
}

interface Packed {
  file: string
  sentence: string
  digest: string
}

async function bring(source: string, place: string): Promise<{ folder: string; packed?: Packed | undefined }> {
  const found = await stat(resolve(source)).catch(() => undefined)
  const folder = join(place, 'plugin')
  if (found?.isDirectory()) {
    const skipped = /(^|\/)(node_modules|\.git)$/
    await cp(resolve(source), folder, { recursive: true, filter: (path) => !skipped.test(path) })
    return { folder }
  }
  if (found?.isFile() && source.endsWith('.ts')) return { folder: await bringFile(resolve(source), folder) }
  const packed = found?.isFile() ? undefined : await pack(source, place)
  const tarball = packed?.file ?? resolve(source)
  await run('tar', ['-xzf', tarball, '-C', place, '--no-same-owner'], { timeout: FETCH_TIMEOUT_MS })
  const names = (await readdir(place, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const [only] = names
  if (only === undefined || names.length > 1) throw new Error('the tarball holds no one folder')
  return { folder: join(place, only.name), packed }
}

/** A plugin that is one file has its manifest in a comment: `/* plugin.json { … } *\/`. */
async function bringFile(file: string, folder: string): Promise<string> {
  const code = await readFile(file, 'utf8')
  const [, manifest] = /\/\*\s*plugin\.json\s*(\{.*?\})\s*\*\//s.exec(code) ?? []
  if (manifest === undefined) throw new Error('it has no manifest in a comment, as in /* plugin.json { "name": … } */')
  await mkdir(folder)
  await writeFile(join(folder, 'plugin.json'), manifest)
  await writeFile(join(folder, 'mod.ts'), code)
  return folder
}

async function pack(source: string, place: string): Promise<Packed> {
  const name = source.replace(/^npm:/, '')
  if (!/^(@[a-z0-9-]+\/)?[a-z0-9][a-z0-9._-]*(@[\w.^~-]+)?$/.test(name)) {
    throw new Error('it is no folder, no tarball and no name of a package')
  }
  const args = ['pack', name, '--pack-destination', place, '--ignore-scripts', '--json', ...RETRIES]
  const { stdout } = await npm(args, place, 'fetch it')
  const [tarball] = (await readdir(place)).filter((file) => file.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm fetched no tarball')
  const [{ id = name, integrity = 'no digest' } = {}] = JSON.parse(stdout) as { id?: string; integrity?: string }[]
  return { file: join(place, tarball), sentence: `It is ${id} of npm, ${integrity}`, digest: integrity }
}

/** What Patchbay gives to plugins itself: it is never fetched. */
const GIVEN = '@patchbay/plugin'

/** Installs the packages of npm that it depends on into its own folder, by its own lock where it has one. None of their scripts run. */
async function installPackages(folder: string): Promise<string[]> {
  const file = join(folder, 'package.json')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined || (await stat(join(folder, 'node_modules')).catch(() => undefined)) !== undefined) return []
  const {
    dependencies = {},
    devDependencies: _,
    ...rest
  } = JSON.parse(text) as {
    dependencies?: Record<string, string>
    devDependencies?: unknown
  }
  const { [GIVEN]: _given, ...wanted } = dependencies
  if (Object.keys(wanted).length === 0) return []
  await writeFile(file, JSON.stringify({ ...rest, dependencies: wanted }, null, 2))
  const args = ['install', '--ignore-scripts', '--no-bin-links', '--omit=dev', '--legacy-peer-deps', '--omit=optional']
  await npm([...args, '--no-audit', '--no-fund', ...RETRIES], folder, 'install the packages it depends on')
  const lock = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  const all = Object.entries(lock.packages).map(
    ([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`,
  )
  return [`Packages of npm that it brings (${all.length}): ${all.sort().join(', ')}`]
}

async function npm(args: readonly string[], cwd: string, what: string): Promise<{ stdout: string }> {
  return run('npm', args, { cwd, timeout: FETCH_TIMEOUT_MS }).catch((cause: Parameters<typeof whyOf>[0]) => {
    throw new Error(`npm could not ${what}: ${whyOf(cause)}`, { cause })
  })
}

/** What npm says of its failure, in one line. */
function whyOf({ message, stdout = '', killed }: Error & { stdout?: string; killed?: boolean }): string {
  if (killed) return `it took longer than ${FETCH_TIMEOUT_MS / 1000} s`
  try {
    const { error } = JSON.parse(stdout) as { error?: { summary?: unknown } }
    if (typeof error?.summary === 'string' && error.summary !== '') return error.summary.split('\n')[0] ?? ''
  } catch {
    // It did not come so far.
  }
  return message.split('\n')[0] ?? ''
}

/** Of its package.json, where it has one that says so. */
async function installScriptsIn(folder: string): Promise<string[]> {
  try {
    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts?: object }
    return INSTALL_SCRIPTS.filter((name) => name in (scripts ?? {}))
  } catch {
    return []
  }
}

async function checkSize(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  if (entries.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`)
  const link = await linkIn(folder)
  if (link !== undefined) throw new Error(`it has a link, "${link}"`)
  let bytes = 0
  for (const entry of entries) if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  if (bytes > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 2 ** 20} MiB`)
}
