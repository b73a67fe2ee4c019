/** The transports of SIP (RFC 3261, section 18): a flow is the way to one peer. */

export const PROTOCOLS = ['udp', 'tcp', 'tls'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface Flow {
  readonly protocol: Protocol
  /** The peer's IP address and port, as its packets show them. */
  readonly address: string
  readonly port: number
  /** Ours, as the peer should see it: what Via and Contact name. */
  readonly local: { readonly host: string; readonly port: number }
  /** Never throws. `failed` is called when it is known that the message did not leave. */
  send(bytes: Uint8Array, failed?: () => void): void
}

/** Do messages arrive, once and in order, without us repeating them? */
export function isReliable(flow: Flow): boolean {
  return flow.protocol !== 'udp'
}
