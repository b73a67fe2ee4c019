import { realpathSync } from 'node:fs'
import { devNull, getPriority } from 'node:os'
import { join } from 'node:path'
import { inBackground } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { PluginFactories } from '../contract.ts'
import { variableOf } from '../grants/net-rule.ts'
import { wishesOf, withoutDenied } from '../install/effective-grants.ts'
import { linkIn } from '../link-in.ts'
import { type LoadedPlugin, type LoadPluginsOptions, ROOT } from '../load.ts'
import { pluginScope } from '../plugin-scope.ts'
import { denoMissing, findDeno } from './deno.ts'
import { denoFlags } from './deno-flags.ts'
import { addressesOf, refusalOf } from './deno-permissions.ts'
import type { IsolatedOptions } from './process.ts'
import { watchFolder } from './watch-folder.ts'

/** Of a plugin's process: its JavaScript heap, and all it holds. */
const HEAP_MIB = 256
const MAX_MEMORY_BYTES = 512 * 2 ** 20
/** Of one that runs models, which lie in memory while they are in use. */
const MAX_MODEL_MEMORY_BYTES = 8 * 2 ** 30

/**
 * Models compute as long as they are let, so they give way to the calls' audio from the start. What relays audio to a provider
 * does next to nothing, and each wait for its turn is a wait of the caller.
 */
const MODEL_STEPS = 10
const LOWEST = 19
/** A role that was raised for its audio raises nothing else. */
const below = (steps: number): number => Math.min(LOWEST, Math.max(0, getPriority()) + steps)

type Program = Pick<IsolatedOptions, 'program' | 'args' | 'variables' | 'permissions' | 'maxMemoryBytes' | 'niceness'>

/** The factories of a plugin that is written with `@patchbay/plugin`. */
export async function isolate(
  plugin: LoadedPlugin,
  module: string,
  options: LoadPluginsOptions,
): Promise<PluginFactories> {
  const { name, env, grants, manifest, settings, isolation, modelsDir } = plugin
  const title = settings.title ?? manifest?.title ?? name
  const identity = { title, keyVariable: manifest?.key?.env }
  const given = Object.fromEntries([...grants.env].flatMap((key) => (env[key] ? [[key, env[key]]] : [])))
  if (isolation === 'none') {
    const [{ isolatedFactories }, { InRole }] = await Promise.all([import('./factories.ts'), import('./in-role.ts')])
    const { log, signal } = options
    const runner = new InRole({ plugin: name, module, env: given, granted: [...grants.env], log, signal })
    return only(
      isolatedFactories(() => runner, { name, grants }, identity),
      await runner.ready(),
    )
  }
  if (isolation === 'process' && plugin.isWatched !== true) await requireNoLinks(name, plugin.dir)
  const program = isolation === 'node' ? inNode(plugin) : inDeno(plugin, options.config.dataDir)
  // Speech classes and their native code are loaded once the guard is there.
  const [{ isolatedFactories }, { IsolatedProcess }] = await Promise.all([
    import('./factories.ts'),
    import('./process.ts'),
  ])
  const processes = new Map<string, InstanceType<typeof IsolatedProcess>>()
  const processOf = (key: string): InstanceType<typeof IsolatedProcess> => {
    const known = processes.get(key)
    if (known !== undefined) return known
    const made = new IsolatedProcess({
      ...program,
      plugin: name,
      module,
      env: given,
      granted: [...grants.env],
      modelsDir,
      ...(plugin.requireUnchanged === undefined ? {} : { requireUnchanged: plugin.requireUnchanged }),
      log: options.log,
      signal: options.signal,
    })
    processes.set(key, made)
    return made
  }
  // A fault of one model's native code shall not end what another hears or speaks.
  const keyOf = ({ model, voice }: { model?: string; voice?: string }): string =>
    isolation === 'node' ? (model ?? voice?.split(':')[0] ?? '') : ''
  if (plugin.isWatched === true) {
    const changed = (): void => {
      for (const running of processes.values()) running.retire()
      processes.clear()
      options.log.info({ plugin: name }, `Plugin "${name}" changed: sessions that begin now run the new code`)
      inBackground(
        'plugin',
        processOf('')
          .ready()
          .catch((error: Error) => options.log.error({ plugin: name }, error.message)),
      )
    }
    watchFolder(plugin.dir, changed, options.signal)
  }
  const made = await processOf('').ready()
  const all = isolatedFactories((use) => processOf(keyOf(use)), { name, grants }, identity)
  if (isolation === 'node') {
    const { check } = all
    processOf('').close()
    all.check = async (host, asked) => {
      await check?.(host, asked).finally(() => processOf('').close())
    }
  }
  return only(all, made)
}

/** Deno lets a plugin read what a link in its folder leads to. */
async function requireNoLinks(name: string, dir: string): Promise<void> {
  const link = await linkIn(dir)
  if (link === undefined) return
  const reason = `Plugin "${name}" can't be run: its folder holds a link, "${link}", which may lead out of it; put the file itself there`
  throw new PatchbayError('plugin', { params: { reason } })
}

/** Those of the factories that the plugin has. */
function only(all: PluginFactories, made: readonly string[]): PluginFactories {
  return Object.fromEntries(Object.entries(all).filter(([kind]) => kind === 'conformance' || made.includes(kind)))
}

/** Deno, which keeps it to what it was granted. */
function inDeno(
  { name, dir, env, granted, grants, manifest, settings }: LoadedPlugin,
  dataDir: string | undefined,
): Program {
  const deno = findDeno(dataDir)
  if (deno === undefined) throw denoMissing(name)
  const wished = manifest === undefined ? {} : withoutDenied(wishesOf(manifest), settings.deny)
  const net = (wished.net ?? []).filter((entry) => grants.env.has(variableOf(entry) ?? ''))
  const flags = denoFlags({
    plugin: name,
    net: [...new Set([...(granted.net ?? []), ...net])],
    env,
    memoryMiB: HEAP_MIB,
  })
  const resolveName = (host: string) => pluginScope.run({ plugin: name, only: grants }, () => addressesOf(host))
  const readable = [dir, join(ROOT, 'packages/plugin')].map((path) => realpathSync(path))
  const imports = `--config=${join(import.meta.dirname, 'inside/deno.json')}`
  return {
    program: deno,
    args: ['run', ...flags, imports, join(import.meta.dirname, 'inside/deno-main.ts'), dir],
    variables: {
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
      // No folder, and none can be made: what is kept there, plugins could write without a grant and read of each other
      // (`caches`, `localStorage`).
      DENO_DIR: devNull,
      // Deno can't hold back ranges of IPv6 addresses, and a granted name may have one that leads to a private IPv4 address
      // (::ffff:10.0.0.5, 64:ff9b::a00:5): glibc doesn't ask the DNS for any (resolv.conf(5)).
      RES_OPTIONS: 'no-aaaa',
    },
    permissions: {
      refusalOf: (question) => refusalOf(question, grants, readable, resolveName),
    },
    maxMemoryBytes: MAX_MEMORY_BYTES,
    niceness: below(0),
  }
}

/** Node: native code can't be kept to grants, but its JavaScript writes no file and starts no program. */
function inNode({ dir, modelsDir }: LoadedPlugin): Program {
  const readable = [dir, ...['node_modules', 'runtime', 'packages', 'package.json'].map((path) => join(ROOT, path))]
  if (modelsDir !== undefined) readable.push(modelsDir)
  return {
    program: process.execPath,
    args: [
      ...['--permission', '--allow-addons', '--allow-worker', '--disable-warning=SecurityWarning'],
      ...readable.map((path) => `--allow-fs-read=${path}`),
      join(import.meta.dirname, 'inside/node-main.ts'),
    ],
    variables: {},
    maxMemoryBytes: MAX_MODEL_MEMORY_BYTES,
    niceness: below(MODEL_STEPS),
  }
}
