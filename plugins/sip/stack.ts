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
  readonly #registrations = new Map<ActiveTrunk, Registration>()
  #transport: Transport | undefined

  constructor(options: StackOptions) {
    const { host, clock, settings, random } = options
    const { log } = host
    this.#options = options
    this.trunks = new TrunkTable({
      ...{ clock, log, timers: systemTimers, directory: options.directory },
      resolve: (name) => host.net.resolve(name),
      changed: (added, removed) => this.#trunksChanged(added, removed),
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
    this.ports = new MediaPorts(settings.rtpPorts, random.bits(16) / 0x10000, (port) =>
      host.net.udp({ port, address: settings.address }),
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
    for (const registration of this.#registrations.values()) registration.stop()
    this.#registrations.clear()
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
  async flowTo(active: ActiveTrunk): Promise<Flow> {
    const [address] = active.addresses
    if (this.#transport === undefined) throw new Error('SIP does not listen')
    if (address === undefined) throw new Error(`"${active.host}" has no address`)
    const { transport, tlsCa } = active.trunk
    return this.#transport.flowTo(transport, address, active.port, { host: active.host, ca: tlsCa })
  }

  #flowFor({ host, port, params }: Uri, known: Flow, allows: (address: string) => boolean): Flow {
    const { protocol } = known
    const transport = this.#transport
    const asked = params.get('transport')?.toLowerCase() ?? protocol
    if (transport === undefined || asked !== protocol || !allows(host)) return known
    const open = transport.openFlow(protocol, host, port ?? 5060)
    if (open !== undefined || known.isOpen) return open ?? known
    // The caller's connection is gone: the dialog says where else it can be reached. Over TLS we would not know who that is.
    return protocol === 'tcp' ? transport.streamFlow(protocol, host, port ?? 5060, { host, ca: undefined }) : known
  }

  #trunksChanged(added: readonly ActiveTrunk[], removed: readonly ActiveTrunk[]): void {
    this.gatekeeper.forget()
    for (const active of removed) {
      this.#registrations.get(active)?.stop()
      this.#registrations.delete(active)
    }
    for (const active of added) {
      if (active.trunk.host === '') continue
      const { name } = active.trunk
      const registration = new Registration({
        ...{ active, timers: systemTimers, transactions: this.#transactions, token: this.#options.token },
        flow: () => this.flowTo(active),
        state: (status, reason) => {
          const { log } = this.#options.host
          if (status === 200) log.info({ trunk: name }, 'The trunk answers')
          else log.warn({ trunk: name, status, reason }, 'The trunk does not answer as it should')
        },
      })
      this.#registrations.set(active, registration)
    }
  }
}
