import type { Logger } from './log.ts'

/** What a reload found. Both name variables. */
export interface Reloaded {
  /** In force from now on. */
  readonly changed: readonly string[]
  /** They changed, too, and wait for a restart. */
  readonly needsRestart: readonly string[]
}

/** Reads what the new configuration names; what it returns puts it in force, and can't fail. */
type Prepare<Config> = (config: Config) => Promise<() => void>

/** The settings that a running process takes anew. All or nothing: what can't be read leaves everything as it is. */
export class Reloads<Config> {
  readonly #read: () => Reloaded & { readonly config: Config }
  readonly #log: Logger
  readonly #prepares = new Set<Prepare<Config>>()
  #last: Promise<unknown> = Promise.resolve()

  /** @param read the configuration as it is now; throws `configuration` with the fault */
  constructor(read: () => Reloaded & { readonly config: Config }, log: Logger) {
    this.#read = read
    this.#log = log
  }

  /** Has something be part of each reload; the returned function ends that. */
  watch(prepare: Prepare<Config>): () => void {
    this.#prepares.add(prepare)
    return () => this.#prepares.delete(prepare)
  }

  /** Reloads, one at a time. Rejects with `configuration` where something can't be used; the log has it, too. */
  reload(reason: string): Promise<Reloaded> {
    const reloading = this.#last.then(() => this.#reload(reason))
    this.#last = reloading.catch((err: unknown) => {
      this.#log.error({ err, reason }, 'The configuration was not reloaded: everything stays as it was')
    })
    return reloading
  }

  async #reload(reason: string): Promise<Reloaded> {
    const { config, changed, needsRestart } = this.#read()
    const applies = await Promise.all([...this.#prepares].map((prepare) => prepare(config)))
    for (const apply of applies) apply()
    this.#log.info({ reason, changed }, 'Configuration reloaded, prices and calling rules read anew')
    if (needsRestart.length > 0) this.#log.warn({ variables: needsRestart }, 'Changed settings wait for a restart')
    return { changed, needsRestart }
  }
}
