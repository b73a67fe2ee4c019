import { createHash, randomBytes } from 'node:crypto'
import { PatchbayError } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Socket, SocketHandlers, WebSocketRoute } from '../../runtime/web-socket.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import type { Join, Line, Switchboard } from '../../store/redis/switchboard.ts'
import type { CallFeed } from '../events/call-feed.ts'
import { isSupervisorMessage, type ToSupervisor } from './messages.ts'

/** A supervisor's socket: `GET /listen?token=…`. */

export const LISTEN_TOKEN_TTL_S = 60
/** A node that has the call says so at once. */
const JOIN_TIMEOUT_MS = 3_000
const MAX_PAYLOAD_BYTES = 64 * 1024
const MAX_BACKPRESSURE_BYTES = 512 * 1024
/** Sound that would wait behind so much is dropped. */
const MAX_BUFFERED_BYTES = 64 * 1024
/** The least the server knows; HEARTBEAT closes sooner. */
const IDLE_TIMEOUT_S = 8
/**
 * A supervisor whose network falls silent, with no close of its connection, is gone after SILENCE_MS: within five seconds the
 * caller must have the agent back, and the last of a line and of a tick are part of that.
 */
const HEARTBEAT_MS = 500
const SILENCE_MS = 3_500

const keyOf = (token: string) => `patchbay:listen-token:${createHash('sha256').update(token).digest('hex')}`

/** Makes a token that opens one socket, once, within a minute. */
export async function issueListenToken(redis: RedisClient, grant: Omit<Join, 'line'>): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await redis.set(keyOf(token), JSON.stringify(grant), { expiration: { type: 'EX', value: LISTEN_TOKEN_TTL_S } })
  return token
}

async function takeListenToken(redis: RedisClient, token: string): Promise<Omit<Join, 'line'> | undefined> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined
  const value = await redis.getDel(keyOf(token))
  return value === null ? undefined : (JSON.parse(value) as Omit<Join, 'line'>)
}

export function listenRoute(options: {
  redis: RedisClient
  switchboard: () => Switchboard
  calls: CallFeed
  log: Logger
}): WebSocketRoute {
  return {
    path: '/listen',
    maxPayloadBytes: MAX_PAYLOAD_BYTES,
    maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
    idleTimeoutS: IDLE_TIMEOUT_S,
    async upgrade({ query }) {
      const grant = await takeListenToken(options.redis, query.get('token') ?? '')
      if (grant === undefined) throw new PatchbayError('invalid_token')
      return (socket) => new SupervisorSocket(socket, { ...grant, line: randomBytes(16).toString('hex') }, options)
    },
  }
}

class SupervisorSocket implements SocketHandlers {
  readonly #socket: Socket
  readonly #line: Promise<Line>
  readonly #stopEvents: Promise<() => void>
  readonly #joining: NodeJS.Timeout
  readonly #heartbeat: NodeJS.Timeout
  #heardAtMs = performance.now()
  #closed = false

  constructor(socket: Socket, join: Join, { switchboard, calls, log }: Parameters<typeof listenRoute>[0]) {
    this.#socket = socket
    this.#joining = setTimeout(() => this.#end('error', 'not_talking', 'The call talks with nobody'), JOIN_TIMEOUT_MS)
    this.#heartbeat = setInterval(() => {
      if (performance.now() - this.#heardAtMs > SILENCE_MS) socket.terminate()
      else socket.ping()
    }, HEARTBEAT_MS)
    this.#line = switchboard().open(join.line, 'outer', {
      message: (message) => this.#told(message as ToSupervisor),
      sound: (pcm) => {
        if (!this.#closed && socket.bufferedBytes() < MAX_BUFFERED_BYTES) socket.send(pcm)
      },
      lost: () => this.#end('error', 'node_lost', 'The node of the call is gone'),
    })
    this.#stopEvents = calls.listen(join.workspaceId, join.callId, (event) => {
      if (!this.#closed) socket.send(JSON.stringify({ type: 'event', event }))
    })
    Promise.all([this.#line, this.#stopEvents])
      .then(() => switchboard().join(join))
      .catch((err) => {
        log.warn({ err }, 'A supervisor could not be joined to a call')
        this.#end('error', 'unavailable', 'Listening is not possible now')
      })
  }

  pong(): void {
    this.#heardAtMs = performance.now()
  }

  message(data: string | Uint8Array): void {
    this.pong()
    if (this.#closed) return
    if (typeof data !== 'string') {
      // The library's buffer is its own again after this.
      const pcm = Uint8Array.from(data)
      void this.#line.then((line) => line.sound(pcm))
      return
    }
    const message = parsed(data)
    if (!isSupervisorMessage(message)) {
      this.#tell({ type: 'error', code: 'bad_message', message: 'Unknown or malformed message' })
      return
    }
    void this.#line.then((line) => line.send(message))
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    clearTimeout(this.#joining)
    this.#line
      .then((line) => {
        line.send({ type: 'leave' })
        line.close()
      })
      .catch(() => undefined)
    this.#stopEvents.then((stop) => stop()).catch(() => undefined)
  }

  #told(message: ToSupervisor): void {
    clearTimeout(this.#joining)
    this.#tell(message)
    if (message.type === 'ended' || (message.type === 'error' && message.code === 'not_talking')) this.#close()
  }

  #end(type: 'error', code: string, message: string): void {
    this.#tell({ type, code, message })
    this.#close()
  }

  #tell(message: ToSupervisor): void {
    if (!this.#closed) this.#socket.send(JSON.stringify(message))
  }

  #close(): void {
    if (!this.#closed) this.#socket.close(1000, '')
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
