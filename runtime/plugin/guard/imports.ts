import { realpathSync } from 'node:fs'
import module from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Policy } from './policy.ts'

/** The checkout, links resolved. */
const ROOT = realpathSync(join(import.meta.dirname, '../../..')) + sep
const PACKAGES = `${ROOT}node_modules${sep}`

/** Of runtime/, what plugins are built from. All else starts programs and threads, decides what is allowed, or is the core's affair. */
const OPEN = [
  /^(media|plugin-sdk)\//,
  /^lib\/(?!async\/faults\.ts)/,
  /^admission\/gate\.ts$/,
  /^dialing\/dial-policy\.ts$/,
  /^call\/(types\/|control\/relay\.ts$)/,
  /^knowledge\/(?!engine\/search-thread\.ts)/,
  /^plugin\/(contract\.ts|object-key\.ts|provider-)/,
  /^process\/log\.ts$/,
]

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
    const isCore = from !== undefined && own === undefined && from.startsWith(ROOT) && !from.startsWith(PACKAGES)
    if (isCore) return true
    const target = folderOf(path)
    if (target !== undefined) return target === own
    if (!path.startsWith(ROOT) || path.startsWith(PACKAGES)) return true
    const inRuntime = path.startsWith(`${ROOT}runtime${sep}`) ? path.slice(ROOT.length + 'runtime/'.length) : undefined
    return inRuntime !== undefined && OPEN.some((open) => open.test(inRuntime))
  }

  /** Where the modules are that were let in, by their URL: most of them import several others. */
  const places = new Map<string, string>()
  module.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const path = pathOf(found.url)
      if (path === undefined) return found
      const { parentURL } = context
      const from = parentURL === undefined ? undefined : (places.get(parentURL) ?? pathOf(parentURL))
      if (!allows(from, path)) {
        throw policy.refuse('run', `import ${path.startsWith(ROOT) ? path.slice(ROOT.length) : path}`)
      }
      places.set(found.url, path)
      return found
    },
  })
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith('file:') ? real(fileURLToPath(url)) : undefined
}

function real(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
