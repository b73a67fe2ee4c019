import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Manifest } from '../contract.ts'
import { linkIn } from '../link-in.ts'
import { parseManifest } from '../manifest.ts'

const run = promisify(execFile)
const FETCH_TIMEOUT_MS = 120_000
/** npm's own waits add up to more than that. */
const RETRIES = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
const MAX_FILES = 2_000
const MAX_BYTES = 64 * 2 ** 20

/** What npm runs of a package that it installs. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare']

interface FetchedPlugin {
  manifest: Manifest
  folder: string
  /** Where it comes from: an absolute path, or a package of npm as it was asked for. */
  source: string
  /** The names of the scripts with which it would install itself; none has run. */
  installScripts: readonly string[]
  remove(): Promise<void>
}

/**
 * Brings a plugin into a folder of its own: a folder, a tarball, or a package of npm with its version. Nothing of it
 * runs, no install script either. Throws `plugin` with what is wrong.
 */
export async function fetchPlugin(source: string): Promise<FetchedPlugin> {
  const place = await mkdtemp(join(tmpdir(), 'patchbay-plugin-'))
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true })
  try {
    const found = await stat(resolve(source)).catch(() => undefined)
    const folder = await bring(source, place)
    const text = await readFile(join(folder, 'plugin.json'), 'utf8').catch(() => {
      throw new Error('it has no plugin.json')
    })
    const { name } = JSON.parse(text) as { name?: unknown }
    const manifest = parseManifest(String(name), text)
    await checkSize(folder)
    return {
      manifest,
      folder,
      source: found === undefined ? source : resolve(source),
      installScripts: await installScriptsIn(folder),
      remove,
    }
  } catch (cause) {
    await remove()
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const reason = `"${source}" can't be installed: ${printable(why)}`
    throw new PatchbayError('plugin', { params: { reason }, cause })
  }
}

/** By which two sources are the same plugin: a package of npm is one in all its versions. */
export function identityOf(source: string): string {
  return isAbsolute(source) ? source : source.replace(/^npm:/, '').replace(/(?<=.)@[^/@]*$/, '')
}

async function bring(source: string, place: string): Promise<string> {
  const found = await stat(resolve(source)).catch(() => undefined)
  if (found?.isDirectory()) {
    const folder = join(place, 'plugin')
    const skipped = /(^|\/)(node_modules|\.git)$/
    await cp(resolve(source), folder, { recursive: true, filter: (path) => !skipped.test(path) })
    return folder
  }
  const tarball = found?.isFile() ? resolve(source) : await pack(source, place)
  await run('tar', ['-xzf', tarball, '-C', place, '--no-same-owner'], { timeout: FETCH_TIMEOUT_MS })
  const names = (await readdir(place, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const [only] = names
  if (only === undefined || names.length > 1) throw new Error('the tarball holds no one folder')
  return join(place, only.name)
}

async function pack(source: string, place: string): Promise<string> {
  const name = source.replace(/^npm:/, '')
  if (!/^(@[a-z0-9-]+\/)?[a-z0-9][a-z0-9._-]*(@[\w.^~-]+)?$/.test(name)) {
    throw new Error('it is no folder, no tarball and no name of a package')
  }
  const args = ['pack', name, '--pack-destination', place, '--ignore-scripts', '--json', ...RETRIES]
  await run('npm', args, { timeout: FETCH_TIMEOUT_MS }).catch((cause: Parameters<typeof whyOf>[0]) => {
    throw new Error(`npm could not fetch it: ${whyOf(cause)}`, { cause })
  })
  const [tarball] = (await readdir(place)).filter((file) => file.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm fetched no tarball')
  return join(place, tarball)
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
