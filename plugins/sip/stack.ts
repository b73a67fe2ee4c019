import { isIP, isIPv4 } from 'node:net'
import { networkOf } from '../../runtime/lib/address-range.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { TrunkDirectory } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { InboundCall } from './call/inbound-call.ts'
import type { CallContext } from './dialog/context.ts'
import { UserAgent } from './dialog/user-agent.ts'
import { MediaPorts } from './media/media-ports.ts'
import type { Random } from './media/rtp-sender.ts'
import type { Uri } from './message/message.ts'
import { ExtensionTable } from './registrar/extension-table.ts'
import { Registrar } from './registrar/registrar.ts'
import type { SipSettings } from './settings.ts'
import { writeHep } from './trace/hep.ts'
import { SignalLog } from './trace/signal-log.ts'
import { Challenger } from './transaction/challenger.ts'
import type { ServerTransaction } from './transaction/server-transaction.ts'
import { systemTimers } from './transaction/timers.ts'
import { type Share, Transactions } from './transaction/transactions.ts'
import type { Flow } from './transport/flow.ts'
import { Gatekeeper } from './transport/gatekeeper.ts'
import { Transport } from './transport/transport.ts'
import { Registration } from './trunk/registration.ts'
import { type Target, TargetsRefused, targetsOf } from './trunk/targets.ts'
import { type ActiveTrunk, TrunkTable } from './trunk/trunk-table.ts'

/** After the last word of a call its answer comes. */
const LAST_WORDS_MS = 1_000
const LOOKUP_MS = 60_000

interface StackOptions {
  host: PluginHost
  directory: TrunkDirectory
  settings: SipSettings
  clock: Clock
  pacer: Pacer
  random: Random
  token(): string
  invited(call: InboundCall, trunks: readonly ActiveTrunk[]): void
}

/**
 * The layers of SIP, joined: datagrams and streams → gatekeeper → parser → transactions → user agent → calls, and back
 * down again.
 */
export class SipStack {
  readonly gatekeeper: Gatekeeper
  readonly trunks: TrunkTable
  readonly extensions: ExtensionTable
  readonly registrar: Registrar
  readonly ports: MediaPorts
  readonly context: CallContext
  readonly #options: StackOptions
  readonly #signals: SignalLog
  readonly #transactions: Transactions
  readonly #userAgent: UserAgent
  readonly #contacts = new Map<ActiveTrunk, { registration: Registration; as: string }>()
  readonly #leaving = new Map<ActiveTrunk, Promise<void>>()
  #closed = false
  #transport: Transport | undefined

  constructor(options: StackOptions) {
    const { host, clock, settings, random } = options
    const { log } = host
    this.#options = options
    const { hep } = settings
    const nodeId = random.bits(32)
    this.#signals = new SignalLog(
      () => clock.nowMs(),
      hep && ((message, callId) => this.#capture(writeHep(message, callId, nodeId), hep)),
    )
    this.trunks = new TrunkTable({
      ...{ clock, log, timers: systemTimers, directory: options.directory },
      locate: (active) => this.#locate(active),
      changed: (added, removed) => this.#trunksChanged(added, removed),
      shared: () => this.#keepInTouch(),
    })
    this.extensions = new ExtensionTable({
      ...{ clock, log, directory: options.directory.extensions },
      changed: () => this.registrar.forget((id) => this.extensions.has(id)),
    })
    this.gatekeeper = new Gatekeeper({
      ...{ clock, log },
      trunkAt: (address) => this.trunks.at(address)?.trunk.id,
      takesStrangers: () => this.trunks.takesStrangers || !this.extensions.isEmpty,
    })
    const challenger = new Challenger(clock)
    const userAgent = new UserAgent({
      gatekeeper: this.gatekeeper,
      ...{ challenger, trunks: this.trunks, extensions: this.extensions },
      registrar: () => this.registrar,
      context: () => this.context,
      invited: options.invited,
    })
    this.#userAgent = userAgent
    this.#transactions = new Transactions(systemTimers, options.token, userAgent, ({ address }) =>
      this.#sharesOf(address),
    )
    this.registrar = new Registrar({
      ...{ challenger, clock, log, timers: systemTimers, token: options.token },
      ...{ table: this.extensions, gatekeeper: this.gatekeeper, transactions: this.#transactions },
      changed: (id, bindings) => {
        options.directory.extensions
          ?.registered(id, bindings)
          .catch((err) => log.warn({ err }, 'Could not announce a registration to other nodes'))
      },
    })
    this.ports = new MediaPorts(
      settings.rtpPorts,
      () => random.bits(16) / 0x10000,
      (port) => host.net.udp({ port, address: settings.address }),
    )
    this.context = {
      ...{ clock, random, log, timers: systemTimers, transactions: this.#transactions },
      pacer: options.pacer,
      token: options.token,
      flowFor: (nextHop, known, allows) => this.#flowFor(nextHop, known, allows),
      keepMessages: (callId, sipCallId, over) => this.#keep(callId, sipCallId, over),
      refused: (call) => options.directory.signalling?.refused(call),
      opened: (session) => userAgent.opened(session),
      closed: (session) => userAgent.closed(session),
    }
  }

  /** One trunk never has all transactions, nor has one workspace. */
  #sharesOf(address: string): Share[] {
    const trunk = this.trunks.at(address)?.trunk
    if (trunk === undefined) return [{ key: networkOf(address), most: 1 }]
    return [
      { key: `trunk ${trunk.id}`, most: 1 },
      { key: `workspace ${trunk.workspaceId}`, most: 3 },
    ]
  }

  /** Asks a caller for a password, where that may show whose call it is. False: it may not. */
  challenge(transaction: ServerTransaction): boolean {
    return this.#userAgent.challenge(transaction)
  }

  /** Where a trunk's requests may be sent now. Every lookup is checked: a name may lead elsewhere than it did. */
  async #locate(active: ActiveTrunk): Promise<Target[]> {
    const { host, settings, random, directory } = this.#options
    const { host: hop, port } = active.nextHop
    const found = await targetsOf(hop, port, active.trunk.transport, host.net, {
      random: () => random.bits(16) / 0x10000,
      ipv4Only: isIPv4(settings.address),
    })
    const addresses = found.map(({ address }) => address)
    const admitted = directory.admit === undefined ? addresses : await directory.admit(active.trunk, hop, addresses)
    const targets = found.filter(({ address }) => admitted.includes(address))
    if (targets.length > 0) return targets
    throw new TargetsRefused(hop, [...new Set(addresses)])
  }

  /** What a call said in signalling that runs or just ended. */
  messages(sipCallId: string | undefined): readonly WireMessage[] {
    return sipCallId === undefined ? [] : this.#signals.messages(sipCallId)
  }

  /** What a call has said so far, and what it says in the second that follows. */
  #keep(callId: string, sipCallId: string, over: boolean): void {
    const book = this.#options.directory.signalling
    if (book === undefined) return
    const keep = (): void => book.keep(callId, this.#signals.messages(sipCallId))
    if (over) this.#signals.over(sipCallId)
    keep()
    systemTimers.after(LAST_WORDS_MS, keep)
  }

  #capture(bytes: Buffer, { host, port }: { host: string; port: number }): void {
    if (isIP(host) !== 0) this.#transport?.sendDatagram(bytes, port, host)
    else
      this.#collector(host).then(
        (address) => address && this.#transport?.sendDatagram(bytes, port, address),
        () => undefined,
      )
  }

  /** The collector's address: looked up once a minute. */
  #collector(host: string): Promise<string | undefined> {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#collectorAt === undefined || nowMs - this.#collectorAt.sinceMs > LOOKUP_MS) {
      const address = this.resolve(host).then(([first]) => first)
      address.catch((err) =>
        this.#options.host.log.warn({ err, host }, 'The collector of PATCHBAY_HEP_URL has no address'),
      )
      this.#collectorAt = { sinceMs: nowMs, address }
    }
    return this.#collectorAt.address
  }
  #collectorAt: { sinceMs: number; address: Promise<string | undefined> } | undefined

  /** Opens the ports and begins to keep in touch with the trunks. False when SIP is off or its port is taken. */
  async open(): Promise<boolean> {
    const { host, settings } = this.#options
    if (settings.port === 0) return false
    const transport = new Transport({
      ...{ host, port: settings.port, address: settings.address, publicAddress: settings.publicAddress },
      tls: settings.tls && {
        port: settings.tls.port,
        key: await host.read.bytes(settings.tls.key),
        cert: await host.read.bytes(settings.tls.cert),
      },
      gatekeeper: this.gatekeeper,
      trunkAt: (address) => this.trunks.at(address)?.trunk.id,
      timers: systemTimers,
      seen: (direction, bytes, flow) => this.#signals.note(direction, bytes, flow),
      receive: (message, flow) => this.#transactions.receive(message, flow),
      closed: ({ protocol, address, port }) => {
        for (const { registration } of this.#contacts.values()) registration.lost(protocol, address, port)
        this.registrar.lost(protocol, address, port)
      },
    })
    try {
      await transport.open()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      const { port, tls } = settings
      const taken = (error as { port?: number }).port ?? port
      const cure =
        taken === tls?.port && taken !== port
          ? "give another one in the plugin's option tls.port"
          : 'set PATCHBAY_SIP_PORT to another or to 0'
      host.log.warn(`Port ${taken} is taken: no SIP calls; stop what uses it, or ${cure}`)
      return false
    }
    this.#transport = transport
    await Promise.all([this.trunks.open(), this.extensions.open()])
    host.log.info({ port: transport.port }, 'SIP listens')
    return true
  }

  close(): void {
    this.trunks.close()
    this.extensions.close()
    this.registrar.close()
    this.#closed = true
    for (const { registration } of this.#contacts.values()) inBackground('sip', registration.stop())
    this.#contacts.clear()
    // What was just sent leaves first: a BYE, a REGISTER that takes itself back.
    setImmediate(
      boundary('sip', () => {
        this.#transactions.close()
        this.#transport?.close()
      }),
    )
  }

  /** The port of UDP and TCP; undefined while nothing listens. */
  get port(): number | undefined {
    return this.#transport?.port
  }

  get directory(): TrunkDirectory {
    return this.#options.directory
  }

  get rtpRange(): string {
    const { first, last } = this.#options.settings.rtpPorts
    return `${first}-${last}`
  }

  resolve(host: string): Promise<string[]> {
    return this.#options.host.net.resolve(host)
  }

  /** The way to a trunk. Throws Error with a sentence for the operator. */
  async flowTo(active: ActiveTrunk, chosen?: Target): Promise<Flow> {
    if (chosen?.flow?.isOpen === true) return chosen.flow
    if (chosen === undefined) await active.locating
    const target = chosen ?? active.candidates(this.context.clock.monotonicMs())[0]
    const { host } = active.nextHop
    if (this.#transport === undefined) throw new Error('SIP does not listen')
    if (target === undefined) throw new Error(active.unreachable ?? `"${host}" has no address`)
    const { tlsCa, tlsKey, settings } = active.trunk
    const own =
      settings.tls_cert === null || tlsKey === undefined ? undefined : { cert: settings.tls_cert, key: tlsKey }
    return this.#transport.flowTo(target.protocol, target.address, target.port, { host, ca: tlsCa, own })
  }

  #flowFor({ host, port, params }: Uri, known: Flow, allows: (address: string) => boolean): Flow {
    const { protocol } = known
    const transport = this.#transport
    const asked = params.get('transport')?.toLowerCase() ?? protocol
    // A request that was too large for UDP has opened a connection, which its answer then names.
    if (protocol === 'udp' && asked === 'tcp' && allows(host))
      return transport?.openFlow('tcp', host, port ?? 5060) ?? known
    if (transport === undefined || asked !== protocol || !allows(host)) return known
    const open = transport.openFlow(protocol, host, port ?? 5060)
    if (open !== undefined || known.isOpen) return open ?? known
    // The caller's connection is gone: the dialog says where else it can be reached. Over TLS we would not know who that is.
    return protocol === 'tcp'
      ? transport.streamFlow(protocol, host, port ?? 5060, { host, ca: undefined, own: undefined })
      : known
  }

  #trunksChanged(added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]): void {
    this.gatekeeper.forget()
    for (const active of removed) {
      // Gone, or changed in what was registered with the trunk: a new cap doesn't matter.
      if (!added.includes(active) || this.#contacts.get(active)?.as !== contactKey(active)) this.#leave(active)
    }
    this.#keepInTouch()
  }

  #leave(active: ActiveTrunk, keep = false): void {
    const contact = this.#contacts.get(active)
    if (contact === undefined) return
    this.#contacts.delete(active)
    // Before the old registration is taken back, no new one may be made: it would be taken back with it.
    const left = contact.registration.stop(keep).finally(() => this.#leaving.delete(active))
    this.#leaving.set(active, left)
    inBackground(
      'sip',
      left.then(() => this.#keepInTouch()),
    )
  }

  /** Trunks without a contact get one, where they are ours to keep in touch with. */
  #keepInTouch(): void {
    if (this.#transport === undefined || this.#closed) return
    for (const active of this.trunks.all()) {
      const mayRegister = !active.trunk.register || this.trunks.isOurs(active)
      if (this.#contacts.has(active) && !mayRegister) this.#leave(active, !this.trunks.isRetired)
      if (active.trunk.host === '' || active.locating !== undefined || !mayRegister) continue
      if (this.#contacts.has(active) || this.#leaving.has(active)) continue
      const { name } = active.trunk
      const { log } = this.#options.host
      const registration = new Registration({
        ...{ active, timers: systemTimers, transactions: this.#transactions, token: this.#options.token },
        clock: this.#options.clock,
        flow: (target) => this.flowTo(active, target),
        contacted: (attempt) => this.#options.directory.contacted?.(active.trunk, attempt),
        state: (status, reason) => {
          const { trunk } = active
          this.#options.directory.told?.({ type: status === 200 ? 'up' : 'down', trunk, status, reason })
          if (status === 200) log.info({ trunk: name }, 'The trunk answers')
          else log.warn({ trunk: name, status, reason }, 'The trunk does not answer as it should')
        },
      })
      this.#contacts.set(active, { registration, as: contactKey(active) })
    }
  }
}

/** The settings registered with a trunk: a change registers anew. */
function contactKey({ trunk }: ActiveTrunk): string {
  const { host, transport, register, username, password, tlsCa, tlsKey, settings } = trunk
  const { auth_username, from_domain, contact_user, contact_domain, outbound_proxy, tls_cert } = settings
  const named = { auth_username, from_domain, contact_user, contact_domain, outbound_proxy, tls_cert }
  return JSON.stringify([host, transport, register, username, password, tlsCa, tlsKey, named])
}
