import { isIPv4 } from 'node:net'
import type { Clock } from '../../runtime/clock.ts'
import type { Pacer } from '../../runtime/media/pacer.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { TrunkDirectory } from '../../runtime/telephony/trunk.ts'
import type { InboundCall } from './call/inbound-call.ts'
import type { CallContext } from './dialog/context.ts'
import { UserAgent } from './dialog/user-agent.ts'
import { MediaPorts } from './media/media-ports.ts'
import type { Random } from './media/rtp-sender.ts'
import type { Uri } from './message/message.ts'
import type { SipSettings } from './settings.ts'
import { Challenger } from './transaction/challenger.ts'
import { systemTimers } from './transaction/timers.ts'
import { Transactions } from './transaction/transactions.ts'
import type { Flow } from './transport/flow.ts'
import { Gatekeeper } from './transport/gatekeeper.ts'
import { Transport } from './transport/transport.ts'
import { Registration } from './trunk/registration.ts'
import { targetsOf } from './trunk/targets.ts'
import { type ActiveTrunk, TrunkTable } from './trunk/trunk-table.ts'

export interface StackOptions {
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
  readonly ports: MediaPorts
  readonly context: CallContext
  readonly #options: StackOptions
  readonly #transactions: Transactions
  readonly #contacts = new Map<ActiveTrunk, { registration: Registration; as: string }>()
  readonly #leaving = new Map<ActiveTrunk, Promise<void>>()
  #closed = false
  #transport: Transport | undefined

  constructor(options: StackOptions) {
    const { host, clock, settings, random } = options
    const { log } = host
    this.#options = options
    this.trunks = new TrunkTable({
      ...{ clock, log, timers: systemTimers, directory: options.directory },
      locate: (active) =>
        targetsOf(active.nextHop.host, active.nextHop.port, active.trunk.transport, host.net, {
          random: () => random.bits(16) / 0x10000,
          ipv4Only: isIPv4(settings.address),
        }),
      changed: (added, removed) => this.#trunksChanged(added, removed),
      shared: () => this.#keepInTouch(),
    })
    this.gatekeeper = new Gatekeeper({
      ...{ clock, log },
      knows: (address) => this.trunks.knows(address),
      takesStrangers: () => this.trunks.takesStrangers,
    })
    const userAgent = new UserAgent({
      gatekeeper: this.gatekeeper,
      trunks: this.trunks,
      challenger: new Challenger(clock),
      context: () => this.context,
      invited: options.invited,
    })
    this.#transactions = new Transactions(systemTimers, options.token, userAgent)
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
      opened: (session) => userAgent.opened(session),
      closed: (session) => userAgent.closed(session),
    }
  }

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
      receive: (message, flow) => this.#transactions.receive(message, flow),
      closed: ({ protocol, address, port }) => {
        for (const { registration } of this.#contacts.values()) registration.lost(protocol, address, port)
      },
    })
    try {
      await transport.open()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      const { port } = settings
      host.log.warn(
        `Port ${port} is taken: no SIP calls; stop what uses it, or set PATCHBAY_SIP_PORT to another or to 0`,
      )
      return false
    }
    this.#transport = transport
    await this.trunks.open()
    host.log.info({ port: transport.port }, 'SIP listens')
    return true
  }

  close(): void {
    this.trunks.close()
    this.#closed = true
    for (const { registration } of this.#contacts.values()) void registration.stop()
    this.#contacts.clear()
    // What was just sent leaves first: a BYE, a REGISTER that takes itself back.
    setImmediate(() => {
      this.#transactions.close()
      this.#transport?.close()
    })
  }

  /** The port of UDP and TCP; undefined while nothing listens. */
  get port(): number | undefined {
    return this.#transport?.port
  }

  get rtpRange(): string {
    const { first, last } = this.#options.settings.rtpPorts
    return `${first}-${last}`
  }

  resolve(host: string): Promise<string[]> {
    return this.#options.host.net.resolve(host)
  }

  /** The way to a trunk. Throws Error with a sentence for the operator. */
  async flowTo(active: ActiveTrunk, target = active.candidates(this.context.clock.monotonicMs())[0]): Promise<Flow> {
    const { host } = active.nextHop
    if (this.#transport === undefined) throw new Error('SIP does not listen')
    if (target === undefined) throw new Error(`"${host}" has no address`)
    const { tlsCa, tlsKey, settings } = active.trunk
    const own =
      settings.tls_cert === null || tlsKey === undefined ? undefined : { cert: settings.tls_cert, key: tlsKey }
    return this.#transport.flowTo(target.protocol, target.address, target.port, { host, ca: tlsCa, own })
  }

  #flowFor({ host, port, params }: Uri, known: Flow, allows: (address: string) => boolean): Flow {
    const { protocol } = known
    const transport = this.#transport
    const asked = params.get('transport')?.toLowerCase() ?? protocol
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
      // Gone, or changed in what the trunk was told: a new cap is none of its business.
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
    void left.then(() => this.#keepInTouch())
  }

  /** Trunks without a contact get one, where they are ours to keep in touch with. */
  #keepInTouch(): void {
    if (this.#transport === undefined || this.#closed) return
    for (const active of this.trunks.all()) {
      const mayRegister = !active.trunk.register || this.trunks.isOurs(active)
      if (this.#contacts.has(active) && !mayRegister) this.#leave(active, true)
      if (active.trunk.host === '' || this.#contacts.has(active) || this.#leaving.has(active) || !mayRegister) continue
      const { name } = active.trunk
      const { log } = this.#options.host
      const registration = new Registration({
        ...{ active, timers: systemTimers, transactions: this.#transactions, token: this.#options.token },
        clock: this.#options.clock,
        flow: (target) => this.flowTo(active, target),
        state: (status, reason) => {
          if (status === 200) log.info({ trunk: name }, 'The trunk answers')
          else log.warn({ trunk: name, status, reason }, 'The trunk does not answer as it should')
        },
      })
      this.#contacts.set(active, { registration, as: contactKey(active) })
    }
  }
}

/** What a trunk was told of us: when it changes, it is told anew. */
function contactKey({ trunk }: ActiveTrunk): string {
  const { host, transport, register, username, password, tlsCa, tlsKey, settings } = trunk
  const { auth_username, from_domain, contact_user, contact_domain, outbound_proxy, tls_cert } = settings
  const named = { auth_username, from_domain, contact_user, contact_domain, outbound_proxy, tls_cert }
  return JSON.stringify([host, transport, register, username, password, tlsCa, tlsKey, named])
}
