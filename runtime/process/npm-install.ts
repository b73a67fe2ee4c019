import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { asProcess } from './own-act.ts'

const TIMEOUT_MS = 300_000

/** The digest of each package's tarball as npm writes it (`sha512-…`), by its name and version: `tool@1.2.3`. */
type PackageDigests = Readonly<Record<string, string>>

/**
 * Installs a package of npm into a folder of its own, outside of the checkout: in the versions that `digests` names, with no
 * package besides. None of its scripts run. Throws an Error with npm's first line, or with what has another digest; then the
 * folder holds none of it.
 */
export async function npmInstall(
  folder: string,
  name: string,
  digests: PackageDigests,
  signal?: AbortSignal,
): Promise<void> {
  const versions = Object.fromEntries(Object.keys(digests).map(splitSpec))
  const { [name]: version, ...overrides } = versions
  if (version === undefined) throw new Error(`there is no digest of ${name} for this system`)
  await mkdir(folder, { recursive: true })
  // Its own dependencies may be ranges: without the overrides the newest would come.
  const manifest = { private: true, dependencies: { [name]: version }, overrides }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts']
  const options = { timeout: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) }
  try {
    await asProcess(() => promisify(execFile)('npm', args, options))
    const stray = strangers(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8'), digests)
    if (stray.length > 0)
      throw new Error(`${stray.join(', ')} came with another digest than the one this version knows`)
  } catch (cause) {
    await rm(join(folder, 'node_modules'), { recursive: true, force: true })
    throw new Error(cause instanceof Error ? cause.message.split('\n')[0] : String(cause), { cause })
  }
}

function splitSpec(spec: string): [name: string, version: string] {
  const at = spec.lastIndexOf('@')
  return [spec.slice(0, at), spec.slice(at + 1)]
}

/** What npm installed that is not known by its digest. npm checks the tarballs against the digests it writes there. */
function strangers(lock: string, digests: PackageDigests): string[] {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version?: string; integrity?: string }> }
  return Object.entries(packages)
    .map(([path, { version, integrity }]) => ({ spec: `${path.split('node_modules/').at(-1)}@${version}`, integrity }))
    .filter(({ spec, integrity }) => integrity === undefined || digests[spec] !== integrity)
    .map(({ spec }) => spec)
}
