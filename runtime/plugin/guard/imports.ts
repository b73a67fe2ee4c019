import { realpathSync } from 'node:fs'
import module from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Policy } from './policy.ts'

/** The checkout, links resolved. */
const ROOT = realpathSync(join(import.meta.dirname, '../../..')) + sep

/** What plugins are built from. All else of the checkout starts programs and threads, decides what is allowed, or is the core's affair. */
const OPEN = [
  /^node_modules\//,
  /^runtime\/(media|plugin-sdk)\//,
  /^runtime\/lib\/(?!async\/faults\.ts)/,
  /^runtime\/admission\/gate\.ts$/,
  /^runtime\/dialing\/dial-policy\.ts$/,
  /^runtime\/call\/(types\/|control\/relay\.ts$)/,
  // How numbers and times are said.
  /^runtime\/conversation\/collecting\/(languages\/|(numbers|read-time|tokens)\.ts$)/,
  /^runtime\/knowledge\/(?!engine\/search-thread\.ts)/,
  /^runtime\/plugin\/(contract\.ts|object-key\.ts|provider-)/,
  /^runtime\/process\/log\.ts$/,
]

/** A plugin may import a file of the checkout, its path from there, that is not its own. */
export const isOpenToPlugins = (path: string): boolean => OPEN.some((open) => open.test(path))

/**
 * What a plugin may import: its own folder, packages, Node's modules and the rooms of runtime/ that are made for it; no
 * other plugin and nothing by which the core acts for itself. Holds for import, import() and require, and for code that
 * comes from nowhere, such as a data: address.
 */
export function guardImports(policy: Policy, pluginFolders: Iterable<string>): void {
  const folders = Array.from(pluginFolders, (folder) => real(folder) + sep)
  const folderOf = (path: string): string | undefined => folders.find((folder) => path.startsWith(folder))

  /** Whether code at `from` (undefined: of nowhere) may import the file `path`. */
  const allows = (from: string | undefined, path: string): boolean => {
    const own = from === undefined ? undefined : folderOf(from)
    const isCore = own === undefined && from?.startsWith(ROOT) && !from.startsWith(`${ROOT}node_modules${sep}`)
    if (isCore) return true
    const target = folderOf(path)
    if (target !== undefined) return target === own
    return !path.startsWith(ROOT) || isOpenToPlugins(path.slice(ROOT.length))
  }

  /** Where the modules are that were let in, by their URL: most of them import several others. */
  const places = new Map<string, string>()
  module.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const path = pathOf(found.url)
      if (path === undefined) return found
      const { parentURL = '' } = context
      if (!allows(places.get(parentURL) ?? pathOf(parentURL), path)) {
        throw policy.refuse('run', `import ${path.startsWith(ROOT) ? path.slice(ROOT.length) : path}`)
      }
      places.set(found.url, path)
      return found
    },
  })
}

function pathOf(url: string): string | undefined {
  return url.startsWith('file:') ? real(fileURLToPath(url)) : undefined
}

function real(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
