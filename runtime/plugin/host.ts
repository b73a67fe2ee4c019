import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Conformance } from '../../packages/plugin/test.ts'
import { boundary } from '../lib/async/boundary.ts'
import { signalWithin } from '../lib/async/signal-within.ts'
import { PatchbayError } from '../lib/errors.ts'
import { type Catalogue, chosenProvider, defaultsOf, listedLanguage, makeCatalogue } from './catalogue.ts'
import type {
  CheckOptions,
  ListedVoice,
  Manifest,
  PluginFactories,
  PluginHost,
  PluginInstances,
  PluginKind,
  PluginOptions,
  Provides,
  SpeechOptions,
} from './contract.ts'
import type { Environment } from './grants/net-rule.ts'
import type { Grants } from './grants/permissions.ts'
import { isolate } from './isolated/open.ts'
import { type LoadedPlugin, type LoadPluginsOptions, readPlugins } from './load.ts'
import { makeHost } from './make-host.ts'
import { faultOfEnd, modelOf } from './model-ends.ts'
import { attribute, pluginScope } from './plugin-scope.ts'
import { type KeyValues, PluginKeys, type StoredKeys } from './stored-keys.ts'

export type { Catalogue } from './catalogue.ts'
export { type LoadedPlugin, type LoadPluginsOptions, ROOT } from './load.ts'

const CHECK_TIMEOUT_MS = 10_000

type FactoryKind = keyof PluginInstances

/** What one use chooses; what it leaves open is the manifest's default. */
type CreateOptions<K extends FactoryKind> = Omit<PluginOptions[K], 'settings'>

export interface CheckHow {
  readonly timeoutMs?: number
  /** Values to use in place of stored keys, such as keys that were just typed. */
  readonly tried?: KeyValues | undefined
  /** The key of a workspace's own account. */
  readonly own?: KeyValues | undefined
}

export interface PluginRegistry {
  /** Every folder found, broken ones included. */
  readonly plugins: readonly LoadedPlugin[]
  readonly catalogue: Catalogue
  /** The keys of the providers, which may change while the process runs. */
  readonly keys: PluginKeys
  /** The provider's name as people write it. */
  titleOf(provider: string): string
  /** The provider of a kind the process has one of. Throws `plugin` when none is installed. */
  chosen(kind: 'vectorstore' | 'objectstore'): string
  /**
   * Why the provider can't be used for want of its key or of a downloaded model, with the cure; undefined when it can. Without a
   * kind: when nothing it provides can.
   * @param own the key of a workspace's own account
   */
  missingKey(provider: string, kind?: PluginKind, own?: KeyValues): string | undefined
  /** Whether the provider works for a key, which is the operator's, and costs them. */
  needsKey(provider: string): boolean
  /** Whether a server of the operator's choice answers in the provider's place. */
  servedElsewhere(provider: string): boolean
  /**
   * Asks the provider whether it would serve. Resolves with the milliseconds its answer took; undefined when the plugin
   * has nothing to ask. Throws what `create` throws, and ProviderError.
   */
  check(provider: string, how?: CheckHow): Promise<number | undefined>
  /** What a plugin in a process of its own does of the suite of its author's tests. Throws what `check` throws. */
  conformance(provider: string, timeoutMs: number): Promise<Conformance[]>
  /** The voices of the operator's account, or of a workspace's own; undefined when the plugin lists none. Throws what `check` throws. */
  voices(provider: string, how?: Pick<CheckHow, 'timeoutMs' | 'own'>): Promise<readonly ListedVoice[] | undefined>
  /**
   * Reads which models are on this machine now. What it returns puts them in force: for what is made from then on.
   */
  readModels(): Promise<() => void>
  /** What each plugin may use, by its name. */
  readonly grants: ReadonlyMap<string, Grants>
  /**
   * For the guard: what plugins of these kinds may reach besides by their handles, through the client libraries they
   * bring. Only of those that are set up, by the installation or with a workspace's own key. Telephony and object stores reach
   * the outside by their handles alone.
   */
  ambientGrants(kinds: readonly FactoryKind[]): Grants[]
  /** Variables that plugins ask for or are granted: for the guard to hide, since handles give them out. */
  readonly variables: ReadonlySet<string>
  /**
   * Makes an instance: the plugin's mod.ts is imported on first use, then its factory called. The caller closes what
   * it gets. Throws `plugin` when the provider is unknown, broken, misconfigured, or its factory throws, and `timeout`
   * when it takes longer than `createTimeoutMs`; `permission_denied` passes through.
   */
  create<K extends FactoryKind>(
    kind: K,
    provider: string,
    ...options: Record<never, never> extends CreateOptions<K> ? [CreateOptions<K>?] : [CreateOptions<K>]
  ): Promise<PluginInstances[K]>
  /** The same for a workspace: by the keys of its own accounts where it has them. */
  withKeys(own: StoredKeys): Pick<PluginRegistry, 'create' | 'catalogue'>
}

/** Reads and validates manifests and grants. Imports no plugin code: that is for `create`. */
export async function loadPlugins(options: LoadPluginsOptions): Promise<PluginRegistry> {
  const { log, createTimeoutMs = 10_000, nowMs = Date.now } = options
  // A copy: what handles give out stays the same when the guard hides variables from process.env.
  const env = { ...options.env }
  const keys = new PluginKeys(await readPlugins(options, env))
  const { plugins } = keys
  for (const { name, fault } of plugins) if (fault) log.error({ plugin: name }, fault.message)
  if (plugins.some(({ isolation, fault }) => isolation === 'process' && fault === undefined)) {
    const { prepareSpawner } = await import('../process/offload/spawner.ts')
    prepareSpawner()
  }
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]))
  const catalogue = makeCatalogue(plugins)
  const opened = new Map<string, Promise<{ factories: PluginFactories; host: PluginHost }>>()
  const missingKey = (name: string, kind?: PluginKind, own?: KeyValues): string | undefined => {
    const plugin = byName.get(name)
    if (plugin?.manifest === undefined) return undefined
    const { manifest, env, unready = {} } = plugin
    const kinds = kind === undefined ? (Object.keys(manifest.provides) as PluginKind[]) : [kind]
    const reasons = kinds.map((one) => unready[one])
    return (
      faultOfKey(manifest, (own && keys.owned(name, own)) ?? env) ??
      (reasons.includes(undefined) ? undefined : reasons[0])
    )
  }

  /** Providers that a workspace's own key was used of. */
  const ownUsed = new Set<string>()
  const ownEnv = (provider: string, own: KeyValues): Environment | undefined => {
    ownUsed.add(provider)
    return keys.owned(provider, own)
  }

  const hostOf = ({ name, dir, grants, env: own }: LoadedPlugin, given = own): PluginHost =>
    makeHost({ plugin: name, dir, grants, env: given, log, signal: options.signal })

  const openOnce = (plugin: LoadedPlugin): Promise<{ factories: PluginFactories; host: PluginHost }> => {
    const known = opened.get(plugin.name)
    if (known) return known
    const { name, dir } = plugin
    const host = hostOf(plugin)
    const isOurs = plugin.isolation === 'none' && plugin.isInstalled !== true
    const loading = isOurs ? importFactories(plugin) : isolate(plugin, moduleOf(dir), options)
    const promise = loading.then((factories) => ({ factories, host }))
    promise.catch(() => opened.delete(name))
    opened.set(name, promise)
    return promise
  }

  /** Has a plugin ask its provider something; undefined when it has nothing to ask. */
  async function ask<T>(
    provider: string,
    { timeoutMs = CHECK_TIMEOUT_MS, tried, own }: CheckHow,
    question: (factories: PluginFactories) => ((host: PluginHost, options: CheckOptions) => Promise<T>) | undefined,
  ): Promise<{ answer: T } | undefined> {
    const plugin = byName.get(provider)
    if (plugin?.fault) throw plugin.fault
    if (!plugin) throw unknownProvider('anything', provider, [...byName.keys()])
    const given = own ? ownEnv(provider, own) : tried && keys.tried(provider, tried)
    requireKey(given && plugin.manifest ? faultOfKey(plugin.manifest, given) : missingKey(provider))
    const { factories, host: usual } = await openOnce(plugin)
    const host = given === undefined ? usual : hostOf(plugin, given)
    const put = question(factories)
    if (put === undefined) return undefined
    const settings = plugin.settings.options ?? {}
    const giveUp = signalWithin(timeoutMs, options.signal)
    const asking = pluginScope.run({ plugin: provider }, () => put(host, { settings, signal: giveUp }))
    const told = asking.then((answer) => ({ answer }))
    return within(told, `Asking "${provider}"`, timeoutMs + 500, options.signal)
  }

  const servedElsewhere = (provider: string): boolean => {
    const plugin = byName.get(provider)
    const variable = plugin?.manifest?.key?.unless
    return variable !== undefined && Boolean(plugin?.env[variable])
  }
  const create = async <K extends FactoryKind>(
    kind: K,
    provider: string,
    chosen: object = {},
    own?: KeyValues,
  ): Promise<PluginInstances[K]> => {
    const plugin = byName.get(provider)
    const provides = plugin?.manifest?.provides[kind]
    if (plugin?.fault) throw plugin.fault
    if (!plugin || !provides) throw unknownProvider(kind, provider, [...catalogue[kind].keys()])
    requireKey(missingKey(provider, kind, own))
    if (!servedElsewhere(provider)) requireLiving(plugin, kind, provides, chosen)
    const given = own && ownEnv(provider, own)
    const making = openOnce(plugin).then(({ factories, host }) =>
      make(kind, plugin, provides, factories, given ? hostOf(plugin, given) : host, chosen),
    )
    return within(making, `Making ${kind} of plugin "${provider}"`, createTimeoutMs, options.signal)
  }
  const requireLiving = (plugin: LoadedPlugin, kind: PluginKind, provides: Provides, chosen: object = {}): void => {
    const { model } = chosen as { model?: string }
    const used = modelOf(kind, provides, plugin.settings.options, model)
    if (used !== undefined) requireKey(faultOfEnd(plugin.manifest?.title ?? plugin.name, provides, used, nowMs()))
  }

  return {
    plugins,
    catalogue,
    keys,
    titleOf: (provider) => byName.get(provider)?.manifest?.title ?? provider,
    chosen(kind) {
      const provider = chosenProvider(catalogue, kind, env)
      if (provider === undefined) throw unknownProvider(kind, 'default', [...catalogue[kind].keys()])
      return provider
    },
    missingKey,
    needsKey: (provider) => byName.get(provider)?.manifest?.key !== undefined,
    servedElsewhere,
    async check(provider, how = {}) {
      const startedMs = performance.now()
      const asked = await ask(provider, how, ({ check }) => check)
      return asked && performance.now() - startedMs
    },
    async conformance(provider, timeoutMs) {
      const provides = byName.get(provider)?.manifest?.provides ?? {}
      const byKind = Object.fromEntries(Object.entries(provides).map(([kind, one]) => [kind, defaultsOf(one)]))
      const asked = await ask(
        provider,
        { timeoutMs },
        ({ conformance }) => conformance && ((host, options) => conformance(host, { ...options, byKind })),
      )
      return asked?.answer ?? []
    },
    voices: async (provider, how = {}) => (await ask(provider, how, ({ voices }) => voices))?.answer,
    async readModels() {
      const read = await readPlugins(options, env)
      return () => {
        const fresh = read.filter(({ manifest }) => manifest?.models !== undefined)
        for (const plugin of fresh) {
          const at = plugins.findIndex(({ name }) => name === plugin.name)
          if (at === -1) continue
          plugins[at] = plugin
          byName.set(plugin.name, plugin)
          for (const [kind, provides] of Object.entries(plugin.manifest?.provides ?? {})) {
            catalogue[kind as PluginKind].set(plugin.name, provides)
          }
        }
        if (fresh.length > 0) keys.tell(fresh.map(({ name }) => name))
      }
    },
    grants: new Map(plugins.map(({ name, grants }) => [name, grants])),
    ambientGrants: (kinds) =>
      plugins
        .filter(({ name, manifest }) => {
          const isSetUp = missingKey(name) === undefined || ownUsed.has(name)
          return isSetUp && kinds.some((kind) => manifest?.provides[kind])
        })
        .map(({ grants }) => grants),
    variables: new Set(
      plugins.flatMap(({ manifest, grants }) => [...(manifest?.permissions.env ?? []), ...grants.env]),
    ),
    create: (kind, provider, ...[chosen]) => create(kind, provider, chosen),
    withKeys: (own) => ({
      catalogue,
      create: (kind, provider, ...[chosen]) => create(kind, provider, chosen, own[provider]),
    }),
  }
}

/** The sentence about a key that is not set. */
function faultOfKey({ name, title = name, key }: Manifest, env: Environment): string | undefined {
  if (key === undefined || (key.unless !== undefined && env[key.unless])) return undefined
  const missing = [key.env, ...(key.with ?? [])].find((variable) => !env[variable])
  if (missing === undefined) return undefined
  const other = key.unless === undefined ? '' : `, or ${key.unless} to use another server`
  const value = missing === key.env ? 'to your key' : 'too'
  return `${title} can't be used: ${missing} is not set; set it ${value}${other} and restart`
}

function requireKey(reason: string | undefined): void {
  if (reason !== undefined) throw new PatchbayError('plugin', { params: { reason } })
}

function unknownProvider(kind: string, provider: string, available: string[]): PatchbayError {
  const reason = `No plugin provides ${kind} "${provider}"; available: ${available.join(', ') || 'none'}`
  return new PatchbayError('plugin', { params: { reason } })
}

function moduleOf(dir: string): string {
  return join(dir, !existsSync(join(dir, 'mod.ts')) && existsSync(join(dir, 'mod.js')) ? 'mod.js' : 'mod.ts')
}

async function importFactories({ name, dir }: LoadedPlugin): Promise<PluginFactories> {
  const file = moduleOf(dir)
  try {
    const module: { default?: unknown } = await pluginScope.run(
      { plugin: name },
      () => import(pathToFileURL(file).href),
    )
    if (typeof module.default === 'object' && module.default !== null) return module.default
    throw new Error('its default export is not definePlugin({ … })')
  } catch (cause) {
    throw pluginFault(`Plugin "${name}" can't be loaded from ${file}`, cause)
  }
}

async function make<K extends FactoryKind>(
  kind: K,
  plugin: LoadedPlugin,
  provides: Provides,
  factories: PluginFactories,
  host: PluginHost,
  chosen: object,
): Promise<PluginInstances[K]> {
  const factory = factories[kind] as ((host: PluginHost, options: SpeechOptions) => unknown) | undefined
  if (typeof factory !== 'function') {
    throw pluginFault(`Plugin "${plugin.name}" can't make ${kind}`, new Error(`mod.ts has no ${kind} factory`))
  }
  const { model, voice } = defaultsOf(provides)
  const options: SpeechOptions = {
    ...(model === undefined ? {} : { model }),
    ...(voice === undefined ? {} : { voice }),
    ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)),
    settings: plugin.settings.options ?? {},
  }
  if (options.language !== undefined) {
    options.language = listedLanguage(provides, options.voice ?? options.model, options.language) ?? options.language
  }
  try {
    const instance = await pluginScope.run({ plugin: plugin.name }, async () => factory(host, options))
    if (typeof instance !== 'object' || instance === null) throw new Error(`the factory returned ${String(instance)}`)
    return attribute(instance, plugin.name) as PluginInstances[K]
  } catch (cause) {
    throw pluginFault(`Plugin "${plugin.name}" can't make ${kind}`, cause)
  }
}

/** A refusal is rethrown: it names its cure. Other errors are prefixed with the attempted action. */
function pluginFault(action: string, cause: unknown): PatchbayError {
  if (cause instanceof PatchbayError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new PatchbayError('plugin', { params: { reason: `${action}: ${why}` }, cause })
}

/** The instance in time, or `timeout`, or `unavailable` once the process stops; one that comes too late is closed. */
async function within<T extends object>(
  making: Promise<T>,
  action: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<T> {
  let late = false
  const giveUp = Promise.withResolvers<never>()
  const stop = (error: PatchbayError): void => {
    late = true
    giveUp.reject(error)
  }
  const onAbort = boundary('plugin', (): void => stop(new PatchbayError('unavailable', { cause: signal.reason })))
  // Not AbortSignal.timeout: its timer would not keep the process alive for the answer.
  const timer = setTimeout(
    boundary('plugin', () => stop(new PatchbayError('timeout', { params: { action, timeoutMs } }))),
    timeoutMs,
  )
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  making.then((instance) => (late ? closeInstance(instance) : undefined)).catch(() => {})
  try {
    return await Promise.race([making, giveUp.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Closes an instance of any kind: LiveKit's LLMs have `aclose`, the others `close`. */
export async function closeInstance(instance: object): Promise<void> {
  const { aclose, close } = instance as { aclose?: () => Promise<void>; close?: () => Promise<void> }
  await (aclose ?? close)?.call(instance)
}
