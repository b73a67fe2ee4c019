/** One message of a call's signalling, as it was sent or received, without what is secret in it. */
export interface WireMessage {
  readonly atMs: number
  readonly direction: 'in' | 'out'
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly local: { readonly address: string; readonly port: number }
  readonly remote: { readonly address: string; readonly port: number }
  readonly text: string
}

/** An incoming call that was turned away before it was anybody's. */
export interface RefusedCall {
  readonly atMs: number
  /** The workspace whose trunk or extension it came over; undefined: unknown. */
  readonly workspaceId: string | undefined
  readonly trunk: string | undefined
  readonly reason: string
  readonly detail: string
  /** As written in the message; the caller's part is unverified. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly address: string
  readonly sipCallId: string
  readonly status: number
}

/** Keeps what is to be looked at later. Neither method throws or waits. */
export interface SipTraceWriter {
  /** The messages of a call, or of its second leg: all that are known now. */
  keep(callId: string, messages: readonly WireMessage[]): void
  refused(call: RefusedCall): void
}
