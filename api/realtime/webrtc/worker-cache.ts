import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
/** How the worker is built here. */
export const RECIPE = join(ROOT, 'scripts/mediasoup-worker')
export const MEDIASOUP = join(ROOT, 'node_modules/mediasoup')

/** Where programs built on this machine are kept, outside of any checkout. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'patchbay/mediasoup-worker')
}

/** The folder in it of a worker of the installed mediasoup, built by this recipe, for this machine. */
export function builtFolder(cache: string): string {
  const { version } = JSON.parse(readFileSync(join(MEDIASOUP, 'package.json'), 'utf8')) as { version: string }
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const recipe = createHash('sha256')
  for (const file of globSync('{Makefile,shim/**/*.h}', { cwd: RECIPE }).sort()) {
    recipe.update(readFileSync(join(RECIPE, file)))
  }
  const libc = header.glibcVersionRuntime === undefined ? process.platform : `glibc${header.glibcVersionRuntime}`
  return join(cache, `${version}-${process.arch}-${libc}-${recipe.digest('hex').slice(0, 12)}`)
}

/** Name of the program in that folder. */
export const WORKER_NAME = 'mediasoup-worker'
