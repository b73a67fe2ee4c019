import type {
  Realtime,
  RealtimeCapabilities,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeServerEvent,
} from '../../../packages/plugin/realtime.ts'

/** A speech-to-speech model, wherever the plugin's functions run. */
export interface RealtimeProvider {
  readonly capabilities: RealtimeCapabilities
  /** Runs what opens the session's socket, held to what the plugin was granted. */
  connecting<T>(connect: () => T): T
  /** One session's messages. Throws ProviderError where the plugin can't be run. */
  open(config: RealtimeConfig): Promise<RealtimeCodec>
}

/** Both directions of one session's messages, in order. After `end` nothing follows. */
export interface RealtimeCodec {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly hello: readonly string[]
  /** Where everything that comes of `tell` and `receive` goes. */
  follow(reader: RealtimeReader): void
  tell(event: RealtimeClientEvent): void
  receive(raw: string): void
  /** The connection closed: what that means comes behind all that was received. */
  closed(code: number, reason: string): void
  end(): void
}

export interface RealtimeReader {
  /** To be sent to the provider. */
  send(message: string): void
  happened(event: RealtimeServerEvent): void
  /** A message of the provider was not understood. */
  malformed(): void
  closed(fault: RealtimeFault): void
  /** The plugin can't go on. */
  failed(error: unknown): void
}

/** Of a connection about which the provider says nothing more. */
export function closedFault(code: number, reason: string): RealtimeFault {
  return { message: `the connection closed with ${code}${reason === '' ? '' : `: ${reason}`}` }
}

/** Functions that run in the role's own process. */
export function inProcess({ capabilities, session: makeSession }: Realtime): RealtimeProvider {
  return {
    capabilities,
    // Code of this repository is held to its grants by the guard.
    connecting: (connect) => connect(),
    async open(config) {
      const session = makeSession(config)
      const { url, headers, hello } = session
      let to: RealtimeReader | undefined
      return {
        url,
        headers,
        hello,
        follow(reader) {
          to = reader
        },
        tell(event) {
          for (const message of session.serialise(event)) to?.send(message)
        },
        receive(raw) {
          let events: readonly RealtimeServerEvent[]
          try {
            events = session.parse(raw)
          } catch {
            to?.malformed()
            return
          }
          for (const event of events) to?.happened(event)
        },
        closed: (code, reason) => to?.closed(session.closed?.(code, reason) ?? closedFault(code, reason)),
        end() {
          to = undefined
        },
      }
    },
  }
}
