import type { LineCodecName } from '../../media/codecs/line-codec.ts'
import type { ExtensionDirectory } from './extension.ts'
import type { TrunkSettings } from './trunk-settings.ts'
import type { SipTraceWriter } from './wire-message.ts'

/** How a workspace's calls reach a telephone network that has no interface of its own: a SIP trunk. */
export interface Trunk {
  readonly id: string
  readonly workspaceId: string
  /** What phone numbers call it by; unique in its workspace. */
  readonly name: string
  /** A name or address, with its port where it isn't the protocol's own: `sip.example.com`, `192.0.2.1:5080`. */
  readonly host: string
  readonly transport: 'udp' | 'tcp' | 'tls'
  /** PEM of those who vouch for the host over TLS; undefined: those this machine trusts anyhow. */
  readonly tlsCa: string | undefined
  /** Whether we register there, so that calls find us behind a NAT. */
  readonly register: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Addresses and ranges whose calls are taken: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. */
  readonly allowedAddresses: readonly string[]
  /** Addresses and ranges of the operator's own network that its signalling may be sent to. */
  readonly internalAddresses: readonly string[]
  /** Most wanted first. */
  readonly codecs: readonly LineCodecName[]
  readonly maxConcurrentCalls: number
  readonly maxCallsPerSecond: number
  /** ISO 3166-1 alpha-2 of the countries that may be called. */
  readonly countries: readonly string[]
  readonly settings: TrunkSettings
  /** PEM: the key of `settings.tls_cert`. */
  readonly tlsKey: string | undefined
}

/** The built-in trunk: softphones on this machine. Its calls may be for any number of the instance. */
export const LOCAL_TRUNK_ID = 'local'

/** The trunks of all workspaces, as a carrier sees them. */
export interface TrunkDirectory {
  /** Keeps the messages of calls and refused messages. Absent: they are not kept. */
  readonly signalling?: SipTraceWriter
  /** Softphones that register here, for a carrier that takes registrations. Absent: there are none. */
  readonly extensions?: ExtensionDirectory
  /** Those there are now. */
  list(signal: AbortSignal): Promise<readonly Trunk[]>
  /**
   * Calls back after each change, on any node; a local change resolves after `changed` has run. The returned
   * function ends it.
   */
  watch(changed: () => Promise<void>): () => void
  /**
   * Of the addresses a trunk's next hop resolved to, those requests may be sent to: none of
   * another workspace's carrier, none of the operator's network. Asked with each lookup. Absent: this process doesn't dial.
   */
  admit?(trunk: Trunk, hop: string, addresses: readonly string[]): Promise<readonly string[]>
  /** Called when a trunk fails, and when it is back. */
  told?(event: TrunkEvent): void
  /** Called with the result of every REGISTER and OPTIONS. */
  contacted?(trunk: Pick<Trunk, 'id'>, attempt: TrunkAttempt): void
  /**
   * Which of these trunks this node is to register with: one node at a time has each, for half a minute from the last asking.
   * `active` are this node's calls by trunk, shared with the others. Absent: this node is the only one.
   */
  share?(wanted: readonly string[], active: ReadonlyMap<string, number>, signal: AbortSignal): Promise<TrunkShare>
}

/** One REGISTER or OPTIONS, and what came of it. */
export interface TrunkAttempt {
  readonly method: 'REGISTER' | 'OPTIONS'
  /** Registered, or reachable: any answer to OPTIONS counts. */
  readonly ok: boolean
  /** What the trunk answered; 0: nothing. */
  readonly status: number
  readonly reason: string
  readonly atMs: number
}

/** Something an operator wants to know of a trunk. */
interface TrunkEvent {
  /** `down`: it answers REGISTER or OPTIONS no more, or refuses; `up`: it answers again. */
  readonly type: 'down' | 'up'
  readonly trunk: Pick<Trunk, 'id' | 'workspaceId' | 'name' | 'host' | 'register'>
  /** What it said last; 0: nothing. */
  readonly status: number
  readonly reason: string
}

/** What the nodes know of each other. */
export interface TrunkShare {
  /** Ids of the trunks that are this node's to register with. */
  readonly ours: ReadonlySet<string>
  /** Calls of all other nodes, by trunk id. */
  readonly elsewhere: ReadonlyMap<string, number>
  /** Ids of the trunks that another node registers with. */
  readonly taken: ReadonlySet<string>
}

export const NO_TRUNKS: TrunkDirectory = { list: async () => [], watch: () => () => undefined }
