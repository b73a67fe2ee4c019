/** The transports of SIP (RFC 3261, section 18): a flow is the way to one peer. */

const PROTOCOLS = ['udp', 'tcp', 'tls'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface Flow {
  readonly protocol: Protocol
  /** The peer's IP address and port, as its packets show them. */
  readonly address: string
  readonly port: number
  /** Ours, as the peer should see it: what Via and Contact name. */
  readonly local: { readonly host: string; readonly port: number }
  /** The same peer at another port; absent where there is a connection. */
  at?(port: number): Flow
  /**
   * A way for requests that one datagram must not hold (RFC 3261, section 18.1.1); undefined: the peer has none. Never rejects.
   * Absent: this one takes any size.
   */
  larger?(): Promise<Flow | undefined>
  /** Can something still be sent? Where there is a connection, and it is gone, nothing can. */
  readonly isOpen: boolean
  /** Never throws. `failed` is called when it is known that the message did not leave. */
  send(bytes: Uint8Array, failed?: () => void): void
}

/** What a request may have over UDP where the MTU of the path is not known (section 18.1.1). */
export const MAX_DATAGRAM_BYTES = 1_300

/** Do messages arrive, once and in order, without us repeating them? */
export function isReliable(flow: Flow): boolean {
  return flow.protocol !== 'udp'
}
