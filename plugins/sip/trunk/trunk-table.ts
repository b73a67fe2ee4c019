import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../runtime/log.ts'
import { LOCAL_TRUNK_ID, type Trunk, type TrunkDirectory } from '../../../runtime/telephony/trunk.ts'
import { parseHostPort } from '../message/grammar.ts'
import { formatHost } from '../message/serializer.ts'
import type { Timers } from '../transaction/timers.ts'
import { TokenBucket } from '../transport/gatekeeper.ts'

/** Names may move to other addresses, and a missed change notice must not last. */
const RELOAD_MS = 60_000
const LOAD_TIMEOUT_MS = 10_000
const DEFAULT_PORTS = { udp: 5060, tcp: 5060, tls: 5061 } as const

/** A trunk at work: its addresses resolved, its calls counted. Caps count for this process alone. */
export class ActiveTrunk {
  trunk: Trunk
  /** What the trunk's host stands for now. */
  addresses: readonly string[] = []
  #active = 0
  #ranges: BlockList
  #bucket: TokenBucket

  constructor(trunk: Trunk, nowMs: number) {
    this.trunk = trunk
    this.#ranges = rangesOf(trunk)
    this.#bucket = bucketOf(trunk, nowMs)
  }

  change(trunk: Trunk, nowMs: number): void {
    if (trunk.maxCallsPerSecond !== this.trunk.maxCallsPerSecond) this.#bucket = bucketOf(trunk, nowMs)
    this.trunk = trunk
    this.#ranges = rangesOf(trunk)
  }

  get isLocal(): boolean {
    return this.trunk.id === LOCAL_TRUNK_ID
  }

  get host(): string {
    return parseHostPort(this.trunk.host).host
  }

  get port(): number {
    return parseHostPort(this.trunk.host).port ?? DEFAULT_PORTS[this.trunk.transport]
  }

  /** Host and port as a URI names them. */
  get authority(): string {
    return this.port === DEFAULT_PORTS.udp ? formatHost(this.host) : `${formatHost(this.host)}:${this.port}`
  }

  get activeCalls(): number {
    return this.#active
  }

  /** May calls come from there? Where we register, the registrar sends them. */
  takesCallsFrom(address: string): boolean {
    return this.#inRanges(address) || (this.trunk.register && this.addresses.includes(address))
  }

  /** May anything of this trunk's calls come from there, or go there? */
  allows(address: string): boolean {
    return this.#inRanges(address) || this.addresses.includes(address)
  }

  #inRanges(address: string): boolean {
    return isIP(address) !== 0 && this.#ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  /** Takes a place for one call, or says what is in the way. */
  enter(nowMs: number): 'trunk_busy' | 'trunk_rate' | undefined {
    if (this.#active >= this.trunk.maxConcurrentCalls) return 'trunk_busy'
    if (!this.#bucket.take(nowMs)) return 'trunk_rate'
    this.#active++
    return undefined
  }

  leave(): void {
    this.#active--
  }
}

function bucketOf(trunk: Trunk, nowMs: number): TokenBucket {
  return new TokenBucket({ perSecond: trunk.maxCallsPerSecond, burst: Math.max(1, trunk.maxCallsPerSecond) }, nowMs)
}

function rangesOf(trunk: Trunk): BlockList {
  const list = new BlockList()
  for (const entry of trunk.allowedAddresses) {
    const [base = '', bits] = entry.split('/')
    const family = isIPv6(base) ? 'ipv6' : 'ipv4'
    if (isIP(base) !== 0)
      list.addSubnet(base, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return list
}

/** The trunks of all workspaces, kept up to date with the directory. */
export class TrunkTable {
  readonly #directory: TrunkDirectory
  readonly #resolve: (host: string) => Promise<string[]>
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #log: Logger
  readonly #changed: (added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]) => void
  readonly #trunks = new Map<string, ActiveTrunk>()
  #loading: Promise<void> | undefined
  #again = false
  #unwatch: () => void = () => undefined
  #cancel: () => void = () => undefined

  constructor(options: {
    directory: TrunkDirectory
    resolve(host: string): Promise<string[]>
    clock: Clock
    timers: Timers
    log: Logger
    /** Told of trunks that are new, gone, or changed (gone and new at once). */
    changed(added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]): void
  }) {
    this.#directory = options.directory
    this.#resolve = options.resolve
    this.#clock = options.clock
    this.#timers = options.timers
    this.#log = options.log
    this.#changed = options.changed
  }

  /** Throws when the directory can't be read now; later failures are tried again. */
  async open(): Promise<void> {
    this.#unwatch = this.#directory.watch(() => this.reload())
    await this.#load()
    this.#schedule()
  }

  close(): void {
    this.#unwatch()
    this.#cancel()
  }

  /** Reads the directory now. Throws when that fails. */
  refresh(): Promise<void> {
    return this.#load()
  }

  reload(): void {
    if (this.#loading !== undefined) {
      this.#again = true
      return
    }
    this.#loading = this.#load()
      .catch((err) => this.#log.warn({ err }, 'The trunks could not be read; the known ones stay'))
      .finally(() => {
        this.#loading = undefined
        if (!this.#again) return
        this.#again = false
        this.reload()
      })
  }

  #schedule(): void {
    this.#cancel = this.#timers.after(RELOAD_MS, () => {
      this.reload()
      this.#schedule()
    })
  }

  async #load(): Promise<void> {
    const trunks = await this.#directory.list(AbortSignal.timeout(LOAD_TIMEOUT_MS))
    const nowMs = this.#clock.monotonicMs()
    const added: ActiveTrunk[] = []
    const removed: ActiveTrunk[] = []
    const ids = new Set(trunks.map(({ id }) => id))
    for (const [id, active] of this.#trunks) {
      if (ids.has(id)) continue
      this.#trunks.delete(id)
      removed.push(active)
    }
    for (const trunk of trunks) {
      const known = this.#trunks.get(trunk.id)
      if (known !== undefined && JSON.stringify(known.trunk) === JSON.stringify(trunk)) continue
      const active = known ?? new ActiveTrunk(trunk, nowMs)
      if (known !== undefined) {
        removed.push(known)
        known.change(trunk, nowMs)
      }
      this.#trunks.set(trunk.id, active)
      added.push(active)
    }
    await Promise.all([...this.#trunks.values()].map((active) => this.#locate(active)))
    if (added.length > 0 || removed.length > 0) this.#changed(added, removed)
  }

  async #locate(active: ActiveTrunk): Promise<void> {
    if (active.trunk.host === '') return
    try {
      active.addresses = await this.#resolve(active.host)
    } catch (err) {
      this.#log.warn({ err, trunk: active.trunk.name, host: active.host }, "The trunk's host has no address")
    }
  }

  all(): ActiveTrunk[] {
    return [...this.#trunks.values()]
  }

  byId(id: string): ActiveTrunk | undefined {
    return this.#trunks.get(id)
  }

  /** The trunk of that name, or the workspace's only one. */
  find(workspaceId: string, name: string | undefined): ActiveTrunk | undefined {
    const own = this.all().filter(({ trunk }) => trunk.workspaceId === workspaceId)
    return name === undefined ? (own.length === 1 ? own[0] : undefined) : own.find(({ trunk }) => trunk.name === name)
  }

  /** Those whose calls may come from this address. */
  from(address: string): ActiveTrunk[] {
    return this.all().filter((active) => active.takesCallsFrom(address))
  }

  knows(address: string): boolean {
    return this.all().some((active) => active.allows(address))
  }

  /** Those whose callers prove themselves by this username, from anywhere. */
  withUsername(username: string): ActiveTrunk[] {
    return this.all().filter((active) => active.trunk.username === username && takesStrangers(active))
  }

  get takesStrangers(): boolean {
    return this.all().some(takesStrangers)
  }
}

/** Without a list of addresses, the password is what lets a call in. */
function takesStrangers({ trunk }: ActiveTrunk): boolean {
  return trunk.allowedAddresses.length === 0 && !trunk.register && trunk.username !== undefined
}
