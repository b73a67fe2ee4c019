import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { PatchbayError } from '../lib/errors.ts'
import { readCatalogue } from '../models/catalogue.ts'
import { isEngineHere } from '../models/engine.ts'
import { modelLock, modelsFolder } from '../models/lock.ts'
import { offerModels } from '../models/offer.ts'
import type { Logger } from '../process/log.ts'
import { defaultsOf } from './catalogue.ts'
import type { Manifest, Permissions } from './contract.ts'
import { type Environment, variableOf } from './grants/net-rule.ts'
import {
  compileGrants,
  type GrantFlags,
  type Grants,
  grantsOfFlags,
  mergePermissions,
  NO_GRANTS,
} from './grants/permissions.ts'
import { effectiveGrants, wishesOf, withoutDenied } from './install/effective-grants.ts'
import { readInstalled } from './install/installed.ts'
import { replaceLivekit } from './install/replace-livekit.ts'
import {
  faultOfOptions,
  type Isolation,
  type PluginFolder,
  type PluginSettings,
  readFolder,
  readManifests,
  readPluginSettings,
} from './manifest.ts'

/** The checkout: what relative paths in grants start from. */
export const ROOT = join(import.meta.dirname, '../..')

export interface LoadedPlugin extends PluginFolder {
  readonly settings: PluginSettings
  readonly isolation: Isolation
  /** The environment as its handles give it out. */
  readonly env: Environment
  /** Where its downloaded models are, where it runs models. */
  readonly modelsDir?: string | undefined
  /** What the operator wrote for it, in files and flags. */
  readonly granted: Permissions
  readonly grants: Grants
}

export interface LoadPluginsOptions {
  /** Default: `plugins/` of the checkout. */
  dir?: string
  /** The operator's grants and options. Default: `config/plugins.json` of the checkout. */
  settingsFile?: string
  /** Grants of flags and environment settings; the data folder, where Deno and installed plugins are. */
  config: GrantFlags & { readonly dataDir?: string; readonly devPlugins?: readonly string[] | undefined }
  /** Where `${VARIABLE}` and `host.env` read from. */
  env: Environment
  log: Logger
  /** Handed to every plugin; aborts when the process stops. */
  signal: AbortSignal
  createTimeoutMs?: number
  /** Default: the process's clock. Models end by it. */
  nowMs?: () => number
  /** Loads this one plugin and no other. */
  only?: { name: string; dir: string; settings: PluginSettings }
}

/** Every plugin with its grants and options, as the operator set them. Runs no plugin code. */
export async function readPlugins(options: LoadPluginsOptions, env: Environment): Promise<LoadedPlugin[]> {
  const { folders, settings } = await findPlugins(options)
  const flags = grantsOfFlags(options.config)
  const instances = Object.entries(settings).flatMap(([name, own]) => instanceOf(name, own, folders))
  const all = await Promise.all([...folders, ...instances].map((folder) => withModels(folder, options.config.dataDir)))
  const names = new Set(all.map(({ name }) => name))
  for (const name of new Set([...Object.keys(settings), ...flags.keys()])) {
    if (names.has(name)) continue
    const cure = 'a grant is plugin:what, as in --allow-net=openai:localhost:11434'
    options.log.warn({ plugin: name }, `Grants name the plugin "${name}", which is not installed; ${cure}`)
  }
  const { dataDir } = options.config
  return all.map((folder) => {
    const own = settings[folder.name] ?? {}
    const isolation = isolationOf(folder, own, settings[own.plugin ?? '']?.isolation)
    const plugin = loadPlugin(folder, own, isolation, flags, env)
    if (dataDir === undefined || plugin.manifest?.models === undefined) return plugin
    return { ...plugin, modelsDir: modelsFolder(resolve(dataDir), basename(folder.dir)) }
  })
}

/** What a plugin that runs models can do with those that are on this machine. */
async function withModels(folder: PluginFolder, dataDir: string | undefined): Promise<PluginFolder> {
  const { manifest, dir } = folder
  if (manifest?.models === undefined) return folder
  const plugin = basename(dir)
  try {
    const [catalogue, { models }] = await Promise.all([
      readCatalogue(dir, manifest.models),
      dataDir === undefined ? { models: {} } : modelLock.read(dataDir),
    ])
    const own = Object.keys(models).filter((key) => key.startsWith(`${plugin}/`))
    const present = {
      models: new Set(own.map((key) => key.slice(plugin.length + 1))),
      engine:
        manifest.engine === undefined || (dataDir !== undefined && isEngineHere(dataDir, plugin, manifest.engine)),
    }
    return { ...folder, ...offerModels(manifest, catalogue, present) }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const reason = `Plugin "${folder.name}" can't be used: ${why}`
    return { ...folder, manifest: undefined, fault: new PatchbayError('plugin', { params: { reason }, cause }) }
  }
}

const NOTHING_INSTALLED: Awaited<ReturnType<typeof readInstalled>> = { folders: [], settings: {} }

/** The plugins of the checkout and those that were installed, with what the operator says of each. */
async function findPlugins(
  options: LoadPluginsOptions,
): Promise<{ folders: PluginFolder[]; settings: Readonly<Record<string, PluginSettings>> }> {
  const { only, dir, settingsFile, config } = options
  if (only !== undefined) {
    return { folders: [await readFolder(only.name, only.dir)], settings: { [only.name]: only.settings } }
  }
  const [folders, settings, installed, watched] = await Promise.all([
    readManifests(dir ?? join(ROOT, 'plugins')),
    readPluginSettings(settingsFile ?? join(ROOT, 'config/plugins.json')),
    config.dataDir === undefined ? NOTHING_INSTALLED : readInstalled(config.dataDir),
    Promise.all((config.devPlugins ?? []).map(readWatched)),
  ])
  const own = new Set([...folders, ...watched].map(({ name }) => name))
  const added = [...watched, ...installed.folders.filter(({ name }) => !own.has(name))]
  const merged = Object.fromEntries(
    added.map(({ name }) => {
      const { grant, ...rest } = settings[name] ?? {}
      const author = watched.find((one) => one.name === name)?.manifest
      // Its author grants it what it asks for.
      const base: PluginSettings = author ? { grant: wishesOf(author) } : (installed.settings[name] ?? {})
      return [name, { ...base, ...rest, grant: mergePermissions([base.grant ?? {}, grant ?? {}]) }]
    }),
  )
  return { folders: [...folders, ...added], settings: { ...settings, ...merged } }
}

/** The folder that an author works on. */
async function readWatched(dir: string): Promise<PluginFolder> {
  const text = await readFile(join(dir, 'plugin.json'), 'utf8').catch((cause) => {
    const reason = `"${dir}" is no folder of a plugin: it has no plugin.json`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  })
  const [, name = basename(dir)] = /"name"\s*:\s*"([a-z0-9-]+)"/.exec(text) ?? []
  await replaceLivekit(dir)
  return { ...(await readFolder(name, dir)), isInstalled: true, isWatched: true }
}

/** The folder of an entry that is another instance of a plugin; none for the settings of a plugin itself. */
function instanceOf(name: string, settings: PluginSettings, folders: readonly PluginFolder[]): PluginFolder[] {
  if (settings.plugin === undefined) return []
  const folder = folders.find((one) => one.name === settings.plugin)
  if (folder === undefined) {
    const reason = `Plugin "${name}" is an instance of "${settings.plugin}", which is not installed; correct config/plugins.json`
    return [{ name, dir: '', manifest: undefined, fault: new PatchbayError('plugin', { params: { reason } }) }]
  }
  if (folder.manifest === undefined) return [{ ...folder, name }]
  const title = settings.title ?? `${folder.manifest.title ?? folder.name} (${name.slice(name.indexOf(':') + 1)})`
  return [{ ...folder, name, manifest: { ...folder.manifest, name, title } }]
}

/** The environment as an instance sees it. */
function environmentOf(settings: PluginSettings, env: Environment): Environment {
  const own = Object.entries(settings.env ?? {}).map(([name, value]) => {
    const variable = variableOf(value)
    return [name, variable === undefined ? value : env[variable]] as const
  })
  return { ...env, ...Object.fromEntries(own) }
}

/**
 * Third-party code runs in a process of its own under any name, unless this entry says `none`. An instance of
 * a plugin of ours that the operator keeps in a process runs in one, too.
 *
 * @param ofPlugin what the entry of the plugin says that this one is an instance of
 */
function isolationOf(
  { isInstalled, manifest }: PluginFolder,
  own: PluginSettings,
  ofPlugin: PluginSettings['isolation'],
): Isolation {
  if (own.isolation !== undefined) return own.isolation
  if (isInstalled === true || ofPlugin === 'process') return 'process'
  return manifest?.process ?? 'none'
}

function loadPlugin(
  folder: PluginFolder,
  settings: PluginSettings,
  isolation: Isolation,
  flags: ReadonlyMap<string, Permissions>,
  processEnv: Environment,
): LoadedPlugin {
  const { name } = folder
  const env = environmentOf(settings, processEnv)
  const manifest = folder.manifest && withOpenLists(folder.manifest, env)
  const written = mergePermissions([settings.grant ?? {}, flags.get(name) ?? {}])
  const isThirdParty = folder.isInstalled === true && manifest !== undefined
  const granted = isThirdParty
    ? effectiveGrants(manifest, written, { denied: settings.deny ?? {}, env, baseDir: ROOT })
    : written
  if (!manifest) return { ...folder, settings, isolation, env, granted, grants: NO_GRANTS }
  const grants = compileGrants(granted, {
    env,
    baseDir: ROOT,
    requested: withoutDenied(wishesOf(manifest), settings.deny),
  })
  const loaded = { ...folder, settings, isolation, env, granted, grants }
  const broken = (reason: string): LoadedPlugin => ({
    ...loaded,
    manifest: undefined,
    fault: new PatchbayError('plugin', { params: { reason } }),
  })
  const wrong = faultOfOptions(manifest, settings.options ?? {})
  if (wrong !== undefined) {
    return broken(`Plugin "${name}" has options that don't fit: ${wrong}; correct them in config/plugins.json`)
  }
  return { ...loaded, manifest }
}

/** The manifest as it counts here: lists that are only examples are dropped, their first name kept as the default. */
function withOpenLists(manifest: Manifest, env: Environment): Manifest {
  const kinds = Object.entries(manifest.provides).map(([kind, provides]) => {
    const {
      open,
      models: _m,
      ends: _e,
      voices: _v,
      languages: _l,
      languagesOf: _o,
      defaultVoices: _d,
      ...rest
    } = provides
    if (!(open === true || (typeof open === 'string' && env[open]))) return [kind, provides]
    const { model, voice } = defaultsOf(provides)
    const defaultModel = provides.openDefaultModel ?? model
    const defaults = { ...(defaultModel && { defaultModel }), ...(voice && { defaultVoice: voice }) }
    return [kind, { ...rest, ...defaults }]
  })
  return { ...manifest, provides: Object.fromEntries(kinds) }
}
