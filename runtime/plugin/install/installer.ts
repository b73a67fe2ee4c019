import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Logger } from '../../process/log.ts'
import type { Permissions, PluginKind } from '../contract.ts'
import type { Environment } from '../grants/net-rule.ts'
import { mergePermissions } from '../grants/permissions.ts'
import { loadPlugins } from '../host.ts'
import { installDeno } from '../isolated/deno.ts'
import { digestOf, installedFolder, pluginLock } from './lock.ts'
import { allOf, impossibleOf, missingGrants } from './missing-grants.ts'
import { type SelfTest, selfTest } from './self-test.ts'
import { fetchPlugin } from './source.ts'

interface InstallOptions {
  dataDir: string
  /** Names that are taken: the plugins of the checkout. */
  taken: ReadonlySet<string>
  env: Environment
  log: Logger
  /** What the operator grants beforehand, by flags. */
  granted: (name: string) => Permissions
  /** Asks the operator whether the plugin may do what these sentences say. */
  ask(name: string, version: string, sentences: readonly string[]): Promise<boolean>
  /** Tells how far it is. */
  say(line: string): void
  /** Without it the plugin is only loaded. */
  test: boolean
}

/**
 * Installs a third-party plugin, or a new version of it: asks for the grants it needs, has it do once what each of
 * its kinds is for, and only then enables it. Throws `plugin`; what was there before stays then.
 */
export async function installPlugin(source: string, options: InstallOptions): Promise<string> {
  const { dataDir, taken, env, log, say } = options
  const fetched = await fetchPlugin(source)
  const { manifest } = fetched
  const { name, version } = manifest
  const refuse = (why: string): PatchbayError =>
    new PatchbayError('plugin', { params: { reason: `Plugin "${name}" is not installed: ${why}` } })
  const place = join(installedFolder(dataDir), name)
  const incoming = join(installedFolder(dataDir), `.incoming-${name}`)
  try {
    if (taken.has(name)) throw refuse('Patchbay has a plugin of that name; ask its author for another one')
    const impossible = impossibleOf(manifest)
    if (impossible.length > 0) throw refuse(`it wants to ${impossible.join(', to ')}, which no plugin of others may`)
    const lock = await pluginLock.read(dataDir)
    const before = lock.plugins[name]
    let grant = mergePermissions([before?.grant ?? {}, options.granted(name)])
    const wishes = missingGrants(manifest, grant)
    if (wishes.length > 0) {
      const sentences = wishes.map(({ sentence }) => sentence)
      if (!(await options.ask(name, version, sentences))) {
        throw refuse(
          `it was not granted to ${sentences.join(', to ')}; grant it with --grant=all or --allow-${wishes[0]?.permission}=${name}:${printable(wishes[0]?.entry ?? '')}`,
        )
      }
      grant = mergePermissions([grant, allOf(manifest)])
    }
    const scripts = fetched.installScripts.join(', ')
    if (scripts !== '')
      say(`Its package.json has scripts that npm would run to install it (${scripts}); they are not run`)
    say('Looking for Deno')
    await installDeno(dataDir)
    await rm(incoming, { recursive: true, force: true })
    await cp(fetched.folder, incoming, { recursive: true })
    const kinds = Object.keys(manifest.provides) as PluginKind[]
    const results = await tryOut(incoming, name, kinds, grant, { dataDir, env, log, test: options.test })
    for (const { kind, said, ok } of results) say(`${ok ? 'ok    ' : 'FAILED'}  ${kind}: ${said}`)
    if (results.some(({ ok }) => !ok)) throw refuse('it does not do what it says; --no-test installs it all the same')
    const digest = await digestOf(incoming)
    await rm(place, { recursive: true, force: true })
    await rename(incoming, place)
    await pluginLock.write(dataDir, { plugins: { ...lock.plugins, [name]: { version, source, digest, grant } } })
    return before === undefined
      ? `Installed ${name} ${version}. Restart Patchbay to use it.`
      : `Updated ${name} from ${before.version} to ${version}. Restart Patchbay to use it.`
  } finally {
    await rm(incoming, { recursive: true, force: true })
    await fetched.remove()
  }
}

/** Forgets an installed plugin. Throws `plugin` for one that isn't. */
export async function removePlugin(dataDir: string, name: string): Promise<string> {
  const { plugins } = await pluginLock.read(dataDir)
  const { [name]: entry, ...rest } = plugins
  if (entry === undefined) throw notInstalled(name, Object.keys(plugins))
  await pluginLock.write(dataDir, { plugins: rest })
  await rm(join(installedFolder(dataDir), name), { recursive: true, force: true })
  return `Removed ${name} ${entry.version}. Agents that name it fail from the next start on.`
}

export function notInstalled(name: string, installed: readonly string[]): PatchbayError {
  const reason = `Plugin "${name}" is not installed; installed are: ${installed.join(', ') || 'none'}`
  return new PatchbayError('plugin', { params: { reason } })
}

/** Loads a plugin from a folder as the roles will, and has it do what its kinds are for. */
async function tryOut(
  folder: string,
  name: string,
  kinds: readonly PluginKind[],
  grant: Permissions,
  options: Pick<InstallOptions, 'dataDir' | 'env' | 'log' | 'test'>,
): Promise<SelfTest[]> {
  const stop = new AbortController()
  try {
    const registry = await loadPlugins({
      only: { name, dir: folder, settings: { isolation: 'process', grant } },
      config: { dataDir: options.dataDir },
      env: options.env,
      log: options.log,
      signal: stop.signal,
      createTimeoutMs: 90_000,
    })
    const [plugin] = registry.plugins
    if (plugin?.fault) throw plugin.fault
    await registry.check(name, 60_000)
    return options.test ? await selfTest(registry, name, kinds) : []
  } finally {
    stop.abort()
  }
}
