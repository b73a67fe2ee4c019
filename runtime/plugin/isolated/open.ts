import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PluginFactories } from '../contract.ts'
import { type LoadedPlugin, type LoadPluginsOptions, ROOT } from '../load.ts'
import { variableOf } from '../net-rule.ts'
import { denoMissing, findDeno } from './deno.ts'
import { denoFlags } from './deno-flags.ts'

/** Of a plugin's process: its JavaScript heap, and all it holds. */
const HEAP_MIB = 256
const MAX_MEMORY_BYTES = 512 * 2 ** 20

/** The factories of a plugin that runs in Deno, kept to what it was granted. */
export async function isolate(
  plugin: LoadedPlugin,
  module: string,
  options: LoadPluginsOptions,
): Promise<PluginFactories> {
  const { name, dir, env, granted, grants, manifest, settings } = plugin
  const deno = findDeno(options.config.dataDir)
  if (deno === undefined) throw denoMissing(name)
  const net = (manifest?.permissions.net ?? []).filter((entry) => grants.env.has(variableOf(entry) ?? ''))
  const sdk = join(ROOT, 'packages/plugin')
  const flags = denoFlags({
    plugin: name,
    net: [...new Set([...(granted.net ?? []), ...net])],
    read: [dir, sdk, ...grants.read],
    env,
    memoryMiB: HEAP_MIB,
  })
  // Speech classes and their native code are loaded once the guard is there.
  const [{ isolatedFactories }, { IsolatedProcess }] = await Promise.all([
    import('./factories.ts'),
    import('./process.ts'),
  ])
  const process = new IsolatedProcess({
    plugin: name,
    module,
    deno,
    flags: [...flags, `--import-map=${join(import.meta.dirname, 'import-map.json')}`],
    cacheDir: join(options.config.dataDir ?? tmpdir(), 'deno/cache'),
    env: Object.fromEntries([...grants.env].flatMap((variable) => (env[variable] ? [[variable, env[variable]]] : []))),
    granted: [...grants.env],
    maxMemoryBytes: MAX_MEMORY_BYTES,
    log: options.log,
    signal: options.signal,
  })
  const made = await process.ready()
  const title = settings.title ?? manifest?.title ?? name
  const all = isolatedFactories(process, name, { title, keyVariable: manifest?.key?.env })
  return Object.fromEntries(Object.entries(all).filter(([kind]) => made.includes(kind)))
}
