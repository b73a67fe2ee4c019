import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Logger } from '../../process/log.ts'
import type { Manifest, Permissions, PluginKind } from '../contract.ts'
import type { Environment } from '../grants/net-rule.ts'
import { mergePermissions, PERMISSIONS } from '../grants/permissions.ts'
import { loadPlugins } from '../host.ts'
import { installDeno } from '../isolated/deno.ts'
import type { ListedPlugin } from './catalog.ts'
import { keptGrants } from './effective-grants.ts'
import { readInstalled } from './installed.ts'
import { changeInstalled, digestOf, type InstalledEntry, installedFolder, pluginLock, versionFolder } from './lock.ts'
import { grantsOf, impossibleOf, type KeyOwners, missingGrants, type Wish, wishesIn } from './missing-grants.ts'
import { type SelfTest, selfTest } from './self-test.ts'
import { fetchPlugin, identityOf } from './source.ts'

/** The plugins of the checkout, which no other may be taken for. */
export interface OwnPlugins {
  names: ReadonlySet<string>
  titles: ReadonlySet<string>
  keyOwners: KeyOwners
}

export interface InstallOptions {
  dataDir: string
  own: OwnPlugins
  env: Environment
  log: Logger
  /** What the operator grants beforehand, by flags. */
  granted: (name: string) => Permissions
  /** Asks the operator which of these wishes the plugin is granted. */
  ask(name: string, version: string, wishes: readonly Wish[]): Promise<readonly Wish[]>
  /** Tells how far it is. */
  say(line: string): void
  /** Without it the plugin is only loaded. */
  test: boolean
  /** The entry of a catalog that it is installed by. */
  listed?: ListedPlugin | undefined
  /** It may take the place of an installed plugin that came from elsewhere. */
  replace: boolean
}

const refusalOf = (name: string, why: string): PatchbayError =>
  new PatchbayError('plugin', { params: { reason: `Plugin "${name}" is not installed: ${why}` } })

/**
 * Installs a third-party plugin, or a new version of it: asks for the grants it needs, has it do once what each of
 * its kinds is for, and only then enables it. Throws `plugin`; what was there before stays then.
 */
export async function installPlugin(source: string, options: InstallOptions): Promise<string> {
  const { listed } = options
  const fetched = await fetchPlugin(source, listed?.digest)
  const { manifest } = fetched
  try {
    if (listed !== undefined && listed.name !== manifest.name) {
      throw refusalOf(manifest.name, `the catalog "${listed.catalog}" lists it as "${listed.name}"`)
    }
    requireOwnName(manifest, options.own)
    const wishes = wishesIn(manifest, options.own.keyOwners)
    const [impossible] = impossibleOf(wishes)
    if (impossible !== undefined) {
      throw refusalOf(manifest.name, `it wants to ${impossible.sentence}, which no third-party plugin may`)
    }
    for (const sentence of fetched.provenance) options.say(sentence)
    const scripts = fetched.installScripts.join(', ')
    if (scripts !== '')
      options.say(`Its package.json has scripts that npm would run to install it (${scripts}); they are not run`)
    return await changeInstalled(options.dataDir, () =>
      install({ ...fetched, source: listed?.source ?? fetched.source }, wishes, options),
    )
  } finally {
    await fetched.remove()
  }
}

function requireOwnName({ name, title }: Manifest, { names, titles }: OwnPlugins): void {
  if (names.has(name)) throw refusalOf(name, 'Patchbay has a plugin of that name; ask its author for another one')
  if (title !== undefined && titles.has(title.toLowerCase())) {
    throw refusalOf(name, `it calls itself "${title}", which is the title of a plugin of Patchbay`)
  }
}

/** Operators tell plugins apart by their titles. */
async function requireOwnTitle(dataDir: string, { name, title }: Manifest): Promise<void> {
  const { folders } = await readInstalled(dataDir)
  const other = folders.find(
    (one) => one.name !== name && title !== undefined && one.manifest?.title?.toLowerCase() === title.toLowerCase(),
  )
  if (other !== undefined) throw refusalOf(name, `it calls itself "${title}", which is the title of "${other.name}"`)
}

async function install(
  { manifest, folder, source }: Awaited<ReturnType<typeof fetchPlugin>>,
  wishes: readonly Wish[],
  options: InstallOptions,
): Promise<string> {
  const { dataDir, say } = options
  const { name, version } = manifest
  const lock = await pluginLock.read(dataDir)
  const known = lock.plugins[name]
  const isReplaced = known !== undefined && identityOf(known.source) !== identityOf(source)
  if (isReplaced && !options.replace) {
    const cure = 'remove that one first, or give --replace, which asks for every grant anew'
    throw refusalOf(name, `a plugin of that name was installed from "${printable(known.source)}"; ${cure}`)
  }
  await requireOwnTitle(dataDir, manifest)
  const before = isReplaced ? undefined : known
  const grant = await grantFor(manifest, wishes, before, options)
  say('Looking for Deno')
  await installDeno(dataDir)
  const incoming = join(installedFolder(dataDir), `.incoming-${name}`)
  try {
    await rm(incoming, { recursive: true, force: true })
    await cp(folder, incoming, { recursive: true })
    const kinds = Object.keys(manifest.provides) as PluginKind[]
    const results = await tryOut(incoming, name, kinds, grant, options)
    for (const { kind, said, ok } of results) say(`${ok ? 'ok    ' : 'FAILED'}  ${kind}: ${said}`)
    if (results.some(({ ok }) => !ok)) {
      throw refusalOf(name, 'it does not do what it says; --no-test installs it all the same')
    }
    const digest = await digestOf(incoming)
    const place = versionFolder(dataDir, name, digest)
    if (isVersionFolder(dataDir, place)) {
      await mkdir(dirname(place), { recursive: true })
      await rm(place, { recursive: true, force: true })
      await rename(incoming, place)
    }
    const previous =
      before === undefined || before.digest === digest
        ? before?.previous
        : { version: before.version, digest: before.digest, grant: before.grant }
    const entry: InstalledEntry = { version, source, digest, grant, ...(previous === undefined ? {} : { previous }) }
    await pluginLock.write(dataDir, { plugins: { ...lock.plugins, [name]: entry } })
    await removeOldVersions(dataDir, name, entry)
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
  if (before === undefined) return `Installed ${name} ${version}. Restart Patchbay to use it.`
  return `Updated ${name} from ${before.version} to ${version}. Restart Patchbay to use it.`
}

/** Not the folder that a plugin of an older installation has for itself. */
const isVersionFolder = (dataDir: string, folder: string): boolean => dirname(folder) !== installedFolder(dataDir)

/** What it was granted before and still asks for, and what is granted now. Throws `plugin` where something it needs is not granted. */
async function grantFor(
  manifest: Manifest,
  wishes: readonly Wish[],
  before: InstalledEntry | undefined,
  options: InstallOptions,
): Promise<Permissions> {
  const { name, version } = manifest
  const { kept, dropped } = keptGrants(manifest, before?.grant ?? {})
  for (const permission of PERMISSIONS) {
    for (const entry of dropped[permission] ?? []) {
      options.say(`It no longer asks for ${permission} access to ${printable(entry)}: that grant is dropped`)
    }
  }
  const granted = mergePermissions([kept, options.granted(name)])
  const missing = missingGrants(wishes, granted)
  if (missing.length === 0) return granted
  const given = mergePermissions([granted, grantsOf(await options.ask(name, version, missing))])
  const refused = missingGrants(wishes, given).filter(({ isOptional }) => !isOptional)
  const [first] = refused
  if (first !== undefined) {
    const sentences = refused.map(({ sentence }) => sentence).join(', to ')
    const flag = `--allow-${first.permission}=${name}:${printable(first.entry)}`
    throw refusalOf(name, `it was not granted to ${sentences}; grant it with --grant=all or ${flag}`)
  }
  return given
}

/** Keeps the version in use and the one before, and no other. */
async function removeOldVersions(dataDir: string, name: string, { digest, previous }: InstalledEntry): Promise<void> {
  const place = join(installedFolder(dataDir), name)
  const kept = new Set(
    [digest, previous?.digest].flatMap((one) => (one ? [basename(versionFolder(dataDir, name, one))] : [])),
  )
  if (kept.has(name)) return
  for (const entry of await readdir(place).catch(() => [])) {
    if (!kept.has(entry)) await rm(join(place, entry), { recursive: true, force: true })
  }
}

/** Forgets an installed plugin. Throws `plugin` for one that isn't. */
export function removePlugin(dataDir: string, name: string): Promise<string> {
  return changeInstalled(dataDir, async () => {
    const { plugins } = await pluginLock.read(dataDir)
    const { [name]: entry, ...rest } = plugins
    if (entry === undefined) throw notInstalled(name, Object.keys(plugins))
    await pluginLock.write(dataDir, { plugins: rest })
    await rm(join(installedFolder(dataDir), name), { recursive: true, force: true })
    return `Removed ${name} ${entry.version}. Agents that name it fail from the next start on.`
  })
}

/** Puts the version back that was there before the last update. Throws `plugin` where there is none. */
export function rollBackPlugin(dataDir: string, name: string): Promise<string> {
  return changeInstalled(dataDir, async () => {
    const { plugins } = await pluginLock.read(dataDir)
    const entry = plugins[name]
    if (entry === undefined) throw notInstalled(name, Object.keys(plugins))
    const { source, previous, ...current } = entry
    if (previous === undefined) {
      const reason = `Plugin "${name}" has no version to go back to: it was not updated since it was installed`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    await pluginLock.write(dataDir, { plugins: { ...plugins, [name]: { ...previous, source, previous: current } } })
    return `Went back from ${name} ${entry.version} to ${previous.version}. Restart Patchbay to use it.`
  })
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
    await registry.check(name, { timeoutMs: 60_000 })
    return options.test ? await selfTest(registry, name, kinds) : []
  } finally {
    stop.abort()
  }
}
