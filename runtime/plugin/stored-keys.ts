import type { LoadedPlugin } from './load.ts'

/** The values of a provider's variables. */
export type KeyValues = Readonly<Record<string, string>>

/** Keys that were stored: per provider the value of each variable. */
export type StoredKeys = Readonly<Record<string, KeyValues>>

/** Who set a variable of a provider. The environment wins. */
export type KeySource = 'environment' | 'stored'

/** The keys of a registry's plugins: those of the environment, and those that were stored while the process runs. */
export class PluginKeys {
  /** With environments that take stored keys; handles give out what these hold now. */
  readonly plugins: LoadedPlugin[]
  readonly #taking = new Map<string, Taking>()
  readonly #watchers = new Set<(providers: readonly string[]) => void>()
  #stored: StoredKeys = {}
  #ofWorkspaces: ReadonlyMap<string, StoredKeys> = new Map()

  constructor(plugins: readonly LoadedPlugin[]) {
    this.plugins = plugins.map((plugin) => {
      const variables = takenBy(plugin)
      if (variables.length === 0) return plugin
      const env = { ...plugin.env }
      const isOfSessions = SESSION_KINDS.some((kind) => plugin.manifest?.provides[kind] !== undefined)
      this.#taking.set(plugin.name, { variables, given: plugin.env, env, isOfSessions })
      return { ...plugin, env }
    })
  }

  /** The variables that may be stored, the key first; empty where a provider takes none. */
  variablesOf(provider: string): readonly string[] {
    return this.#taking.get(provider)?.variables ?? []
  }

  /** The variables that a workspace may store for its own account, the key first; empty where that can't be. */
  ownVariablesOf(provider: string): readonly string[] {
    return this.#taking.get(provider)?.isOfSessions === true ? this.variablesOf(provider) : []
  }

  /** The keys of the workspace's own accounts: in all that it does they go before those of the installation. */
  of(workspaceId: string | undefined): StoredKeys {
    return this.#ofWorkspaces.get(workspaceId ?? '') ?? NONE
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
  tried(provider: string, values: KeyValues): LoadedPlugin['env'] | undefined {
    const taking = this.#taking.get(provider)
    if (taking === undefined) return undefined
    const { variables, given, env } = taking
    const own = variables.flatMap((name) => (given[name] || !values[name] ? [] : [[name, values[name]] as const]))
    return { ...env, ...Object.fromEntries(own) }
  }

  /** The environment of a provider with the key of a workspace's own account, and nothing of another account. */
  owned(provider: string, values: KeyValues): LoadedPlugin['env'] | undefined {
    const taking = this.#taking.get(provider)
    if (taking === undefined) return undefined
    return { ...taking.env, ...Object.fromEntries(taking.variables.map((name) => [name, values[name]])) }
  }

  /** Replaces the keys of all workspaces' own accounts, by the workspace's id. */
  useOfWorkspaces(stored: ReadonlyMap<string, StoredKeys>): void {
    this.#ofWorkspaces = stored
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

/** A provider that takes stored keys. */
interface Taking {
  readonly variables: readonly string[]
  readonly given: LoadedPlugin['env']
  readonly env: MutableEnv
  /** Its instances are made anew for each session. */
  readonly isOfSessions: boolean
}

const NONE: StoredKeys = {}

/** Kinds whose instances are made anew for each call. */
const SESSION_KINDS = ['llm', 'realtime', 'stt', 'tts'] as const
/** These, and those that read their key with each request. */
const TAKING_KINDS = [...SESSION_KINDS, 'telephony'] as const

/** A plugin in a process of its own gets its environment when that starts. */
function takenBy({ manifest, isolation, isInstalled }: LoadedPlugin): readonly string[] {
  if (manifest?.key === undefined || isolation !== 'none' || isInstalled === true) return []
  if (!TAKING_KINDS.some((kind) => manifest.provides[kind] !== undefined)) return []
  return [manifest.key.env, ...(manifest.key.with ?? [])]
}
