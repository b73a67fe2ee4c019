import { isInternalAddress } from '../../../runtime/lib/address.ts'
import { networkOf } from '../../../runtime/lib/address-range.ts'
import { inBackground } from '../../../runtime/lib/async/boundary.ts'
import { signalWithin } from '../../../runtime/lib/async/signal-within.ts'
import { plainAddress } from '../../../runtime/lib/client-address.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import { LOCAL_TRUNK_ID, type Trunk, type TrunkDirectory } from '../../../runtime/plugin-sdk/telephony/trunk.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { parseHostPort } from '../message/grammar.ts'
import { formatHost } from '../message/serializer.ts'
import type { Timers } from '../transaction/timers.ts'
import { TokenBucket } from '../transport/gatekeeper.ts'
import { AddressList } from './address-list.ts'
import { Rereading } from './rereading.ts'
import { keyOf, type Target, TargetsRefused } from './targets.ts'
import { FiguresOfTrunk } from './trunk-figures.ts'

/** Names may move to other addresses, and a missed change notice must not last. */
const RELOAD_MS = 60_000
const LOAD_TIMEOUT_MS = 10_000
/** How often the nodes tell each other of their calls. */
const SHARE_MS = 1_000
const SHARE_TIMEOUT_MS = 2_000
/** Addresses whose trunk is remembered. */
const MAX_OWNERS = 10_000
/** Trunks a call is tried over. */
const MAX_CHAIN = 4
/** A target that said nothing is asked again after this; OPTIONS find out sooner that it is back. */
const SILENT_MS = 60_000
/** New INVITEs at once that are looked at, of any trunk: a carrier that comes back offers what waits in one go. */
const LEAST_INVITES = 20
const DEFAULT_PORTS = { udp: 5060, tcp: 5060, tls: 5061 } as const

/** What a trunk said to REGISTER or OPTIONS. */
interface TrunkContact {
  /** 0: nothing. */
  readonly status: number
  readonly reason: string
  readonly atMs: number
}

/** A trunk at work: its addresses resolved, its calls counted. */
export class ActiveTrunk {
  trunk: Trunk
  /** Where its requests may be sent, most wanted first. */
  targets: readonly Target[] = []
  /** Pending during the first DNS lookup, while its targets are unknown. Never rejects. */
  locating: Promise<void> | undefined
  /** Those that were found silent, by key, and until when they are left alone. */
  readonly #silent = new Map<string, number>()
  readonly figures = new FiguresOfTrunk()
  /** What registering or asking (OPTIONS) last came to; undefined: not tried yet. */
  contact: TrunkContact | undefined
  /** Calls of other nodes. */
  elsewhere = 0
  #active = 0
  /** Why there is no way to its next hop; undefined: there is one. */
  unreachable: string | undefined
  #ranges: AddressList
  #internal: AddressList
  #media: AddressList
  #bucket: TokenBucket
  #invites: TokenBucket

  constructor(trunk: Trunk, nowMs: number) {
    this.trunk = trunk
    this.#ranges = new AddressList(trunk.allowedAddresses)
    this.#internal = new AddressList(trunk.internalAddresses)
    this.#media = new AddressList(trunk.settings.media_addresses)
    this.#bucket = bucketOf(trunk, nowMs)
    this.#invites = invitesOf(trunk, nowMs)
  }

  change(trunk: Trunk, nowMs: number): void {
    if (trunk.maxCallsPerSecond !== this.trunk.maxCallsPerSecond) {
      this.#bucket = bucketOf(trunk, nowMs)
      this.#invites = invitesOf(trunk, nowMs)
    }
    this.trunk = trunk
    this.#ranges = new AddressList(trunk.allowedAddresses)
    this.#internal = new AddressList(trunk.internalAddresses)
    this.#media = new AddressList(trunk.settings.media_addresses)
  }

  get isLocal(): boolean {
    return this.trunk.id === LOCAL_TRUNK_ID
  }

  /** Does it lead to softphones of ours? */
  get isExtension(): boolean {
    return this.trunk.host === '' && !this.isLocal
  }

  get host(): string {
    return parseHostPort(this.trunk.host).host
  }

  get port(): number {
    return parseHostPort(this.trunk.host).port ?? DEFAULT_PORTS[this.trunk.transport]
  }

  /** What requests are sent to: the outbound proxy, where there is one. */
  get nextHop(): { host: string; port: number | undefined } {
    return parseHostPort(this.trunk.settings.outbound_proxy ?? this.trunk.host)
  }

  /** The proxy that requests are led over, as Route has it; undefined: none. */
  get route(): string | undefined {
    const { outbound_proxy: proxy } = this.trunk.settings
    if (proxy === null) return undefined
    const { host, port } = parseHostPort(proxy)
    const where = port === undefined ? formatHost(host) : `${formatHost(host)}:${port}`
    const transport = this.trunk.transport === 'udp' ? '' : `;transport=${this.trunk.transport}`
    return `<sip:${where}${transport};lr>`
  }

  get addresses(): string[] {
    return this.targets.map(({ address }) => plainAddress(address))
  }

  /** The targets to try, in order: those that answer, or all where none is known to. */
  candidates(nowMs: number): readonly Target[] {
    const alive = this.targets.filter((target) => !this.isSilent(target, nowMs))
    return alive.length > 0 ? alive : this.targets
  }

  isSilent(target: Target, nowMs: number): boolean {
    return (this.#silent.get(keyOf(target)) ?? 0) > nowMs
  }

  /** It did not answer, or asked to be left alone. */
  silent(target: Target, nowMs: number, forMs = SILENT_MS): void {
    this.#silent.set(keyOf(target), nowMs + forMs)
  }

  /** It answers. */
  answers(target: Target): void {
    this.#silent.delete(keyOf(target))
  }

  /** Does this host name belong to the trunk? Redirections stay within. */
  owns(host: string): boolean {
    return (!this.isExtension && host.toLowerCase() === this.host.toLowerCase()) || this.allows(host)
  }

  /** Host and port as a URI names them. */
  get authority(): string {
    return this.port === DEFAULT_PORTS.udp ? formatHost(this.host) : `${formatHost(this.host)}:${this.port}`
  }

  get activeCalls(): number {
    return this.#active
  }

  /** An INVITE of ours has its last answer. */
  counted(status: number): void {
    this.figures.counted(status)
  }

  /** May calls come from there? Where we register, the registrar sends them. */
  takesCallsFrom(address: string): boolean {
    return this.#inRanges(address) || (this.trunk.register && this.#isTarget(address))
  }

  /**
   * May media of its calls come from there, even if the SDP names another address? For phones at any address that is where the
   * signalling comes from: others could send packets to all ports, and be taken for it.
   * @param signalling where that of the call comes from
   */
  allowsMedia(address: string, signalling: string): boolean {
    const { comedia, media_from_anywhere: anywhere } = this.trunk.settings
    if (anywhere || plainAddress(address) === plainAddress(signalling)) return true
    if (comedia && networkOf(address) === networkOf(signalling)) return true
    return this.allows(address) || this.#media.has(address)
  }

  /**
   * May media of its calls be sent to an address that SDP names? To a machine of the operator's network only where signalling
   * comes from it, or where the trunk may reach it: otherwise the author of the SDP chooses where our packets go.
   */
  maySendMediaTo(address: string, signalling: string): boolean {
    if (!isInternalAddress(address) || this.isLocal) return true
    if (plainAddress(address) === plainAddress(signalling)) return true
    return this.#isTarget(address) || this.#internal.has(address)
  }

  /**
   * May anything of this trunk's calls come from there, or go there? A machine of the operator's network only where the trunk
   * may reach it.
   */
  allows(address: string): boolean {
    if (this.#isTarget(address)) return true
    return this.#inRanges(address) && (!isInternalAddress(address) || this.#internal.has(address))
  }

  /** Does it list this address, or is it one of its host's? */
  has(address: string): boolean {
    return this.#inRanges(address) || this.#isTarget(address)
  }

  #isTarget(address: string): boolean {
    return this.addresses.includes(plainAddress(address))
  }

  #inRanges(address: string): boolean {
    return this.#ranges.has(address)
  }

  /** Takes a place for one call, or says what is in the way. */
  enter(nowMs: number): 'trunk_busy' | 'trunk_rate' | undefined {
    if (this.#active + this.elsewhere >= this.trunk.maxConcurrentCalls) return 'trunk_busy'
    if (!this.#bucket.take(nowMs)) return 'trunk_rate'
    this.#active++
    return undefined
  }

  leave(): void {
    this.#active--
  }

  /** Is a new INVITE looked at? Twice as many as calls may begin, so that what is refused stays cheap. */
  admitsInvite(nowMs: number): boolean {
    return this.#invites.take(nowMs)
  }
}

function invitesOf({ maxCallsPerSecond }: Trunk, nowMs: number): TokenBucket {
  return new TokenBucket({ perSecond: 2 * maxCallsPerSecond, burst: LEAST_INVITES + 2 * maxCallsPerSecond }, nowMs)
}

function bucketOf(trunk: Trunk, nowMs: number): TokenBucket {
  return new TokenBucket({ perSecond: trunk.maxCallsPerSecond, burst: Math.max(1, trunk.maxCallsPerSecond) }, nowMs)
}

/** The trunks of all workspaces, kept up to date with the directory. */
export class TrunkTable {
  readonly #directory: TrunkDirectory
  readonly #locateTargets: (active: ActiveTrunk) => Promise<Target[]>
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #log: Logger
  readonly #changed: (added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]) => void
  readonly #trunks = new Map<string, ActiveTrunk>()
  /** What `at` found, until trunks change or are looked up. */
  readonly #owners = new Map<string, ActiveTrunk | undefined>()
  readonly #told: () => void
  /** What was looked up last for each. */
  readonly #lookups = new WeakMap<ActiveTrunk, { where: string; isOver: boolean }>()
  #ours: ReadonlySet<string> | undefined
  #cancelShare: () => void = () => undefined
  readonly #rereading = new Rereading(() =>
    this.#load().catch((err) => this.#log.warn({ err }, 'The trunks could not be read; the known ones stay')),
  )
  #closed = false
  #isRetired = false
  #isLeaving = false
  /** Of those that were ours when the node began to leave, the ones that another node has. */
  #taken: ReadonlySet<string> = new Set()
  #unwatch: () => void = () => undefined
  #cancel: () => void = () => undefined

  constructor(options: {
    directory: TrunkDirectory
    locate(active: ActiveTrunk): Promise<Target[]>
    clock: Clock
    timers: Timers
    log: Logger
    /** Called with trunks that are new, gone, or changed (gone and new at once). */
    changed(added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]): void
    /** Called when the set of trunks to register with may have changed, or hosts were resolved. */
    shared(): void
  }) {
    this.#directory = options.directory
    this.#locateTargets = options.locate
    this.#clock = options.clock
    this.#timers = options.timers
    this.#log = options.log
    this.#changed = options.changed
    this.#told = options.shared
  }

  /** Throws when the directory can't be read now; later failures are tried again. */
  async open(): Promise<void> {
    this.#unwatch = this.#directory.watch(() => this.#rereading.again())
    await this.#load()
    this.#schedule()
    await this.#share()
  }

  close(): void {
    this.#closed = true
    this.#unwatch()
    this.#cancelShare()
    this.#cancel()
  }

  /** Reads the directory now. Throws when that fails. */
  refresh(): Promise<void> {
    return this.#load()
  }

  #schedule(): void {
    this.#cancel = this.#timers.after(RELOAD_MS, () => {
      inBackground('sip', this.#rereading.again())
      this.#schedule()
    })
  }

  /** The node will take no calls soon. It keeps each registration until another node has it. */
  leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#cancelShare()
    inBackground('sip', this.#share())
  }

  /** The node takes no calls any more: registrations that no other node has are taken back. */
  retire(): void {
    this.#isLeaving = true
    this.#isRetired = true
    this.#cancelShare()
    inBackground('sip', this.#share())
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Is this trunk ours to register with? */
  isOurs({ trunk }: ActiveTrunk): boolean {
    if (this.#isRetired || this.#taken.has(trunk.id)) return false
    return this.#directory.share === undefined || this.#ours?.has(trunk.id) === true
  }

  /** Tells the other nodes of our calls, learns of theirs, and whose the registrations are. */
  async #share(): Promise<void> {
    const { share } = this.#directory
    if (share === undefined && this.#isRetired) this.#told()
    if (share === undefined || this.#closed) return
    const all = this.all()
    const wanted = all.filter(({ trunk }) => trunk.register && !this.#isLeaving).map(({ trunk }) => trunk.id)
    const active = new Map(all.map((one) => [one.trunk.id, one.activeCalls]))
    try {
      const { ours, elsewhere, taken } = await share.call(
        this.#directory,
        wanted,
        active,
        signalWithin(SHARE_TIMEOUT_MS),
      )
      if (this.#isLeaving) this.#taken = taken
      else this.#ours = ours
      for (const one of all) one.elsewhere = elsewhere.get(one.trunk.id) ?? 0
    } catch (err) {
      this.#log.warn({ err }, 'The nodes could not agree on the trunks; all stays as it was')
    }
    if (this.#closed) return
    this.#told()
    this.#cancelShare = this.#timers.after(SHARE_MS, () => inBackground('sip', this.#share()))
  }

  async #load(): Promise<void> {
    const trunks = await this.#directory.list(signalWithin(LOAD_TIMEOUT_MS))
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
    this.#owners.clear()
    // DNS of one trunk may be slow: other trunks and configuration changes don't wait for it.
    for (const active of this.#trunks.values()) if (active.trunk.host !== '') this.#locate(active)
    if (added.length > 0 || removed.length > 0) this.#changed(added, removed)
  }

  /** Looks a trunk's host up, once at a time. */
  #locate(active: ActiveTrunk): void {
    const where = JSON.stringify([active.nextHop, active.trunk.transport])
    const last = this.#lookups.get(active)
    if (last?.where === where && !last.isOver) return
    const lookup = { where, isOver: false }
    this.#lookups.set(active, lookup)
    const found = this.#locateTargets(active)
      .then(
        (targets) => {
          if (this.#lookups.get(active) !== lookup) return
          active.targets = targets
          active.unreachable = undefined
        },
        (err) => {
          const { host } = active.nextHop
          if (this.#lookups.get(active) === lookup) {
            active.unreachable = err instanceof Error ? err.message : String(err)
            // Those of before stand in for a DNS that does not answer, not for a refusal.
            if (err instanceof TargetsRefused) active.targets = []
          }
          this.#log.warn({ err, trunk: active.trunk.name, host }, "The trunk's host has no address to send to")
        },
      )
      .then(() => {
        lookup.isOver = true
        this.#owners.clear()
        if (active.locating !== found) return
        active.locating = undefined
        this.#told()
      })
    if (last?.where === where) return
    active.targets = []
    active.locating = found
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

  /** A trunk, and those that calls go out over when it fails, where they may. */
  withFallbacks(first: ActiveTrunk, may: (active: ActiveTrunk) => boolean): ActiveTrunk[] {
    const chain = [first]
    while (chain.length < MAX_CHAIN) {
      const { workspaceId, settings } = chain.at(-1)!.trunk
      const next = settings.fallback_trunk === null ? undefined : this.find(workspaceId, settings.fallback_trunk)
      if (next === undefined || next.trunk.host === '' || chain.includes(next)) break
      chain.push(next)
    }
    return chain.filter((active, at) => at === 0 || may(active))
  }

  /** Those whose calls may come from this address. */
  from(address: string): ActiveTrunk[] {
    return this.all().filter((active) => active.takesCallsFrom(address))
  }

  /** The trunk that has this address, in its list or as its host. Asked of every datagram. */
  at(address: string): ActiveTrunk | undefined {
    if (this.#owners.has(address)) return this.#owners.get(address)
    if (this.#owners.size >= MAX_OWNERS) this.#owners.clear()
    const owner = this.all().find((active) => active.has(address))
    this.#owners.set(address, owner)
    return owner
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
