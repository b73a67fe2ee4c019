import type { LoadedPlugin } from './load.ts'

/** Keys that an operator stored: per provider the value of each variable. */
export type StoredKeys = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Who set a variable of a provider. The environment wins. */
export type KeySource = 'environment' | 'stored'

/** The keys of a registry's plugins: those of the environment, and those that were stored while the process runs. */
export class PluginKeys {
  /** With environments that take stored keys; handles give out what these hold now. */
  readonly plugins: LoadedPlugin[]
  readonly #taking = new Map<string, { variables: readonly string[]; given: LoadedPlugin['env']; env: MutableEnv }>()
  readonly #watchers = new Set<(providers: readonly string[]) => void>()
  #stored: StoredKeys = {}

  constructor(plugins: readonly LoadedPlugin[]) {
    this.plugins = plugins.map((plugin) => {
      const variables = takenBy(plugin)
      if (variables.length === 0) return plugin
      const env = { ...plugin.env }
      this.#taking.set(plugin.name, { variables, given: plugin.env, env })
      return { ...plugin, env }
    })
  }

  /** The variables that may be stored, the key first; empty where a provider takes none. */
  variablesOf(provider: string): readonly string[] {
    return this.#taking.get(provider)?.variables ?? []
  }

  /** Undefined: nobody set it. */
  sourceOf(provider: string, variable: string): KeySource | undefined {
    if (this.#taking.get(provider)?.given[variable]) return 'environment'
    return this.#stored[provider]?.[variable] === undefined ? undefined : 'stored'
  }

  /** What is stored for providers of these names. */
  storedFor(providers: Iterable<string>): StoredKeys {
    const wanted = new Set(providers)
    return Object.fromEntries(Object.entries(this.#stored).filter(([provider]) => wanted.has(provider)))
  }

  /** The environment of a provider as it would be with these values; those of the environment itself win. */
  tried(provider: string, values: Readonly<Record<string, string>>): LoadedPlugin['env'] | undefined {
    const taking = this.#taking.get(provider)
    if (taking === undefined) return undefined
    const { variables, given, env } = taking
    const own = variables.flatMap((name) => (given[name] || !values[name] ? [] : [[name, values[name]] as const]))
    return { ...env, ...Object.fromEntries(own) }
  }

  /** Replaces all stored keys, and tells the watchers which providers this concerns. */
  use(stored: StoredKeys): void {
    const before = this.#stored
    this.#stored = stored
    const changed: string[] = []
    for (const [provider, { variables, given, env }] of this.#taking) {
      for (const name of variables) env[name] = given[name] || stored[provider]?.[name]
      if (variables.some((name) => stored[provider]?.[name] !== before[provider]?.[name])) changed.push(provider)
    }
    if (changed.length > 0) this.tell(changed)
  }

  /** Tells the watchers that what these providers need has come or gone. */
  tell(providers: readonly string[]): void {
    for (const watcher of this.#watchers) watcher(providers)
  }

  /** Calls back with the providers whose keys or models changed. */
  watch(changed: (providers: readonly string[]) => void): void {
    this.#watchers.add(changed)
  }
}

type MutableEnv = Record<string, string | undefined>

/** Kinds whose instances are made anew for each call, or read their key with each request. */
const TAKING_KINDS = ['llm', 'realtime', 'stt', 'tts', 'telephony'] as const

/** A plugin in a process of its own gets its environment when that starts. */
function takenBy({ manifest, isolation, isInstalled }: LoadedPlugin): readonly string[] {
  if (manifest?.key === undefined || isolation !== 'none' || isInstalled === true) return []
  if (!TAKING_KINDS.some((kind) => manifest.provides[kind] !== undefined)) return []
  return [manifest.key.env, ...(manifest.key.with ?? [])]
}
