import { signalWithin } from '../../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import type { Extension, ExtensionDirectory } from '../../../runtime/plugin-sdk/telephony/extension.ts'
import type { Trunk } from '../../../runtime/plugin-sdk/telephony/trunk.ts'
import { DEFAULT_TRUNK_SETTINGS } from '../../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { Rereading } from '../trunk/rereading.ts'
import { ActiveTrunk } from '../trunk/trunk-table.ts'

const LOAD_TIMEOUT_MS = 10_000
/** Calls of one extension at once, in both directions, on each node: a person with a phone or two. */
const MAX_CALLS = 10

export interface KnownExtension {
  extension: Extension
  /** Its calls, as those of a trunk that leads to it alone. */
  readonly active: ActiveTrunk
}

/** The extensions of all workspaces, kept up to date with the directory. */
export class ExtensionTable {
  readonly #directory: ExtensionDirectory | undefined
  readonly #clock: Clock
  readonly #log: Logger
  readonly #changed: () => void
  readonly #byId = new Map<string, KnownExtension>()
  readonly #byUsername = new Map<string, KnownExtension>()
  #unwatch: () => void = () => undefined

  /** @param changed called when the set changes */
  constructor(options: {
    directory: ExtensionDirectory | undefined
    clock: Clock
    log: Logger
    changed(): void
  }) {
    this.#directory = options.directory
    this.#clock = options.clock
    this.#log = options.log
    this.#changed = options.changed
  }

  /** Throws when the directory can't be read now; later failures are tried again with the next change. */
  async open(): Promise<void> {
    if (this.#directory === undefined) return
    const directory = this.#directory
    const rereading = new Rereading(() =>
      this.#load(directory).catch((err) =>
        this.#log.warn({ err }, 'The extensions could not be read; the known ones stay'),
      ),
    )
    this.#unwatch = directory.watch(() => rereading.again())
    await this.#load(directory)
  }

  close(): void {
    this.#unwatch()
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  withUsername(username: string | undefined): KnownExtension | undefined {
    return username === undefined ? undefined : this.#byUsername.get(username)
  }

  withName(workspaceId: string, name: string): KnownExtension | undefined {
    for (const known of this.#byId.values()) {
      const { extension } = known
      if (extension.workspaceId === workspaceId && extension.name.toLowerCase() === name.toLowerCase()) return known
    }
    return undefined
  }

  async #load(directory: ExtensionDirectory): Promise<void> {
    const extensions = await directory.list(signalWithin(LOAD_TIMEOUT_MS))
    const ids = new Set(extensions.map(({ id }) => id))
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#byId.delete(id)
    this.#byUsername.clear()
    for (const extension of extensions) {
      const known = this.#byId.get(extension.id) ?? {
        extension,
        active: new ActiveTrunk(trunkOf(extension), this.#clock.monotonicMs()),
      }
      known.extension = extension
      this.#byId.set(extension.id, known)
      this.#byUsername.set(extension.username, known)
    }
    this.#changed()
  }
}

function trunkOf({ id, workspaceId, name }: Extension): Trunk {
  return {
    ...{ id, workspaceId, name: `extension ${name}`, host: '', transport: 'udp', register: false },
    ...{ tlsCa: undefined, tlsKey: undefined, username: undefined, password: undefined },
    ...{ allowedAddresses: [], internalAddresses: [], countries: [], codecs: ['OPUS', 'G722', 'PCMU', 'PCMA'] },
    ...{ maxConcurrentCalls: MAX_CALLS, maxCallsPerSecond: MAX_CALLS },
    // Phones are behind routers: media come from wherever they come.
    settings: { ...DEFAULT_TRUNK_SETTINGS, comedia: true, media_encryption: 'optional' },
  }
}
