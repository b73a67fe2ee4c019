import type { Logger } from 'pino'
import type { PatchbayError } from '../../lib/errors.ts'
import { allowsHost, allowsUnixSocket, type Environment, formatTarget, type NetRule } from '../grants/net-rule.ts'
import { type Grants, type Permission, permissionDenied, unionOf } from '../grants/permissions.ts'
import { pluginScope } from '../plugin-scope.ts'

const MAX_LOGGED = 1000
/** Addresses that granted names stood for lately: far more than a process talks to. */
const MAX_APPROVED = 10_000

export interface PolicyOptions {
  /** What the operator granted, as it is now: `[...registry.grants.values()]`. */
  grants: () => Iterable<Grants>
  /** Its PATH says which program a granted name means. */
  env: Environment
  log: Logger
  /** Counts refusals by permission and plugin (`unknown` when undetermined). */
  refusals?: { inc(labels: { permission: Permission; plugin: string }): void }
}

/** What the guarded functions ask. */
export class Policy {
  readonly #options: PolicyOptions
  #granted: Grants
  readonly #own: ReadonlySet<readonly NetRule[]>
  readonly #approved = new Set<string>()
  readonly #logged = new Set<string>()

  /** @param own what the process itself may reach, beside what plugins were granted; may grow and shrink */
  constructor(options: PolicyOptions, own: ReadonlySet<readonly NetRule[]>) {
    this.#options = options
    this.#granted = unionOf(options.grants())
    this.#own = own
  }

  /** Reads the grants anew. */
  regrant(): void {
    this.#granted = unionOf(this.#options.grants())
  }

  /** Sets of rules of which one has to allow it. */
  net(): readonly (readonly NetRule[])[] {
    const only = pluginScope.getStore()?.only
    return only ? [only.net] : [this.#granted.net, ...this.#own]
  }

  allowsHost(host: string, port: number | undefined): boolean {
    return this.net().some((rules) => allowsHost(rules, host, port))
  }

  allowsUnixSocket(path: string): boolean {
    return this.net().some((rules) => allowsUnixSocket(rules, path))
  }

  /** Whether an address may be sent to: it is granted, or a granted name stood for it lately. */
  allowsAddress(address: string, port: number): boolean {
    return this.#approved.has(formatTarget(address, port)) || this.allowsHost(address, port)
  }

  /** Notes that what is allowed led to this address. */
  approve(address: string, port: number): void {
    const target = formatTarget(address, port)
    // Moved to the end: what is in use stays.
    this.#approved.delete(target)
    this.#approved.add(target)
    if (this.#approved.size <= MAX_APPROVED) return
    for (const oldest of this.#approved) {
      this.#approved.delete(oldest)
      return
    }
  }

  run(): { grants: Grants; searchPath: string } {
    return { grants: pluginScope.getStore()?.only ?? this.#granted, searchPath: this.#options.env.PATH ?? '' }
  }

  /** Counts and logs a refusal and makes its error. */
  refuse(permission: Permission, target: string, why?: string): PatchbayError {
    const plugin = pluginScope.getStore()?.plugin
    const error = permissionDenied(plugin, permission, target, why)
    this.#options.refusals?.inc({ permission, plugin: plugin ?? 'unknown' })
    // Each refusal is counted, but logged once: a plugin that keeps trying must not fill the disk.
    if (this.#logged.size < MAX_LOGGED && !this.#logged.has(error.message)) {
      this.#logged.add(error.message)
      this.#options.log.warn({ plugin, permission, target }, error.message)
    }
    return error
  }
}
