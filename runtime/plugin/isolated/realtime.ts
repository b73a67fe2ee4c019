import type { RealtimeConfig, RealtimeSession } from '../../../packages/plugin/realtime.ts'
import { realtimeCapabilitiesOf, realtimeEventOf, realtimeFaultOf } from '../../../packages/plugin/realtime-values.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import {
  closedFault,
  type RealtimeCodec,
  type RealtimeProvider,
  type RealtimeReader,
} from '../../plugin-sdk/realtime/realtime-provider.ts'
import { allowsHost } from '../grants/net-rule.ts'
import { type Grants, permissionDenied } from '../grants/permissions.ts'
import { pluginScope } from '../plugin-scope.ts'
import type { FaultOf } from './fault.ts'
import type { Description, RealtimeNews } from './messages.ts'
import type { IsolatedSession, SessionEvents } from './plugin-runner.ts'

/** From the start of a session until the plugin says where it is. */
const OPEN_TIMEOUT_MS = 3_000

interface Place {
  plugin: string
  grants: Grants
  faultOf: FaultOf
  /** Begins a session in the plugin's process. */
  open(config: RealtimeConfig, events: SessionEvents): Promise<IsolatedSession>
}

/**
 * A speech-to-speech model whose functions run in a process of their own. The socket is the role's, so it is held to what the plugin
 * was granted.
 */
export function isolatedRealtime(described: Description, place: Place): RealtimeProvider {
  return {
    // What came from the process is checked on this side, too.
    capabilities: realtimeCapabilitiesOf(described.capabilities),
    connecting: (connect) => pluginScope.run({ plugin: place.plugin, only: place.grants }, connect),
    async open(config) {
      const reading = new Reading(place.faultOf)
      const opened = Promise.withResolvers<unknown>()
      const late = signalWithin(OPEN_TIMEOUT_MS)
      const session = await place.open(config, {
        result: opened.resolve,
        event: (news) => reading.news(news as RealtimeNews),
        bytes: (bytes) => reading.bytes(bytes),
        done: () => reading.failed(new Error('it ended the session')),
        failed(error) {
          opened.reject(error)
          reading.failed(error)
        },
      })
      late.addEventListener('abort', () => opened.reject(new Error('it did not begin a session in time')), {
        once: true,
      })
      try {
        return codecOf(requireGranted((await opened.promise) as Address, place), session, reading)
      } catch (error) {
        session.cancel()
        throw place.faultOf(error)
      }
    },
  }
}

type Address = Pick<RealtimeSession, 'url' | 'headers' | 'hello'>

/** Throws where the operator did not grant the plugin that server. */
function requireGranted(address: Address, { plugin, grants }: Place): Address {
  const url = new URL(address.url)
  const { hostname, port, protocol } = url
  const isSecure = protocol === 'wss:'
  if (!isSecure && protocol !== 'ws:') throw permissionDenied(plugin, 'net', protocol)
  const number = port === '' ? (isSecure ? 443 : 80) : Number(port)
  if (!allowsHost(grants.net, hostname, number)) throw permissionDenied(plugin, 'net', `${hostname}:${number}`)
  return address
}

function codecOf({ url, headers, hello }: Address, session: IsolatedSession, reading: Reading): RealtimeCodec {
  return {
    url,
    headers: { ...headers },
    hello: hello.map(String),
    follow: (reader) => reading.follow(reader),
    tell: (event) => session.give({ type: 'tell', event }),
    receive: (raw) => session.give({ type: 'receive', raw }),
    closed(code, reason) {
      reading.closing(code, reason)
      session.give({ type: 'closed', code, reason })
    },
    end() {
      reading.end()
      session.cancel()
    },
  }
}

/** Hands what comes from the process to the reader. Throws what ends the session, and no other. */
class Reading {
  readonly #faultOf: FaultOf
  #reader: RealtimeReader | undefined
  /** What the next bytes are. */
  #next: Extract<RealtimeNews, { type: 'send' | 'sound' }> | undefined
  #closed: { code: number; reason: string } | undefined

  constructor(faultOf: FaultOf) {
    this.#faultOf = faultOf
  }

  follow(reader: RealtimeReader): void {
    this.#reader = reader
  }

  closing(code: number, reason: string): void {
    this.#closed = { code, reason }
  }

  end(): void {
    this.#reader = undefined
  }

  failed(error: unknown): void {
    this.#reader?.failed(this.#faultOf(error))
  }

  news(news: RealtimeNews): void {
    switch (news.type) {
      case 'send':
      case 'sound':
        this.#next = news
        break
      case 'happened':
        this.#reader?.happened(realtimeEventOf(news.event))
        break
      case 'malformed':
        this.#reader?.malformed()
        break
      case 'closed': {
        const { code, reason } = this.#closed ?? { code: 1006, reason: '' }
        this.#reader?.closed(news.fault === undefined ? closedFault(code, reason) : realtimeFaultOf(news.fault))
        break
      }
      default:
        throw new RangeError('it told what is no news of a session')
    }
  }

  bytes(bytes: Uint8Array): void {
    const news = this.#next
    this.#next = undefined
    if (news === undefined) throw new RangeError('it gave bytes that are nothing')
    if (news.type === 'send') this.#reader?.send(new TextDecoder().decode(bytes))
    else this.#reader?.happened(realtimeEventOf({ ...news, type: 'audio', bytes }))
  }
}
