import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PatchbayError } from '../../lib/errors.ts'
import { npmInstall } from '../../process/npm-install.ts'

/** Deno as npm has it: MIT, its binary in the package, for glibc on Linux and for macOS. */
const DENO_VERSION = '2.9.6'

const ROOT = join(import.meta.dirname, '../../..')

/** The npm package that holds Deno's binary for this machine; undefined where unavailable, such as on musl. */
function denoPackage(
  platform: string = process.platform,
  arch: string = process.arch,
  isGlibc: boolean = hasGlibc(),
): string | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined
  if (platform === 'darwin') return `@deno/darwin-${arch}`
  return platform === 'linux' && isGlibc ? `@deno/linux-${arch}-glibc` : undefined
}

/** The path of Deno's binary where it is installed: in the data folder, or beside the packages of the checkout. */
export function findDeno(dataDir: string | undefined): string | undefined {
  const name = denoPackage()
  if (name === undefined) return undefined
  const folders = [...(dataDir === undefined ? [] : [join(dataDir, 'deno')]), ROOT]
  return folders.map((folder) => join(folder, 'node_modules', name, 'deno')).find((path) => existsSync(path))
}

/** Why there is no Deno, with the cure. */
export function denoMissing(plugin: string): PatchbayError {
  const why =
    denoPackage() === undefined
      ? 'Deno, in which it would be kept to its grants, does not run on this system (it needs glibc on Linux, or macOS); use the Debian image, or set "isolation": "none" in config/plugins.json if you trust its code'
      : 'Deno, in which it is kept to its grants, is not installed; run: npm run patchbay plugins deno'
  return new PatchbayError('plugin', { params: { reason: `Plugin "${plugin}" can't be run: ${why}` } })
}

/** Installs Deno into the data folder from the npm registry, unless it is there. Returns its path. Throws `plugin`. */
export async function installDeno(dataDir: string): Promise<string> {
  const found = findDeno(dataDir)
  if (found !== undefined) return found
  const name = denoPackage()
  if (name === undefined) throw denoMissing('of others')
  try {
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string; integrity?: string } | undefined>
    }
    const { version, integrity } = packages[`node_modules/${name}`] ?? {}
    const digests = integrity !== undefined && version === DENO_VERSION ? { [`${name}@${version}`]: integrity } : {}
    await npmInstall(join(dataDir, 'deno'), name, digests)
  } catch (cause) {
    const reason = `Deno could not be installed: ${cause instanceof Error ? cause.message : cause}`
    throw new PatchbayError('plugin', { params: { reason }, cause })
  }
  const path = findDeno(dataDir)
  if (path === undefined) throw denoMissing('of others')
  return path
}

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime !== undefined
}
