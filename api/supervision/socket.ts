import { createHash, randomBytes } from 'node:crypto'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { parseBounded } from '../../runtime/lib/json-bounds.ts'
import { UNSTORABLE, unstorableText } from '../../runtime/lib/text.ts'
import { OPUS_CLOCK_HZ } from '../../runtime/media/codecs/opus-packet.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Socket, SocketHandlers, WebSocketRoute } from '../../runtime/process/web-socket.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import type { Join, Line, Switchboard } from '../../store/redis/switchboard.ts'
import type { RequesterStanding, StandingRights } from '../auth/standing-rights.ts'
import type { CallFeed } from '../events/call-feed.ts'
import { listenCloseCode, SUBPROTOCOL } from '../realtime/closing.ts'
import type { WebRtc } from '../realtime/webrtc/webrtc.ts'
import { isSupervisorMessage, isSupervisorSignal, type SupervisorMessage, type ToSupervisor } from './messages.ts'
import { SupervisorPeer } from './peer.ts'

/** A supervisor's socket: `GET /listen?token=…`, and `&media=webrtc` where their sound goes over a peer connection. */

export const LISTEN_TOKEN_TTL_S = 60
const MAX_PAYLOAD_BYTES = 64 * 1024
const MAX_BACKPRESSURE_BYTES = 512 * 1024
/** Sound that would wait behind so much is dropped. */
const MAX_BUFFERED_BYTES = 64 * 1024
/** The least the server knows; HEARTBEAT closes sooner. */
const IDLE_TIMEOUT_S = 8
/**
 * A supervisor whose network falls silent, with no close of its connection, is gone after so many beats: within five seconds
 * the caller must have the agent back, and the last of a line and of a tick are part of that. Beats are counted and no time is
 * measured: while this process stands still, the silence is its own.
 */
const HEARTBEAT_MS = 500
const SILENT_BEATS = 7
/** A node that has the call says so at once. */
const JOIN_BEATS = 8

const keyOf = (token: string) => `patchbay:listen-token:${createHash('sha256').update(token).digest('hex')}`

/** The call a token opens, and what its holder needs to go on listening. */
interface ListenGrant extends Omit<Join, 'line'> {
  standing: RequesterStanding
}

/** Makes a token that opens one socket, once, within a minute. */
export async function issueListenToken(redis: RedisClient, grant: ListenGrant): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await redis.set(keyOf(token), JSON.stringify(grant), { expiration: { type: 'EX', value: LISTEN_TOKEN_TTL_S } })
  return token
}

async function takeListenToken(redis: RedisClient, token: string): Promise<ListenGrant | undefined> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined
  const value = await redis.getDel(keyOf(token))
  return value === null ? undefined : (JSON.parse(value) as ListenGrant)
}

const MEDIA = ['websocket', 'webrtc']

interface SupervisorSocketOptions {
  redis: RedisClient
  standing: Pick<StandingRights, 'require' | 'watch'>
  switchboard: () => Switchboard
  calls: CallFeed
  webrtc: Pick<WebRtc, 'terms' | 'listening'>
  clock: Clock
  log: Logger
}

export function listenRoute(options: SupervisorSocketOptions): WebSocketRoute {
  return {
    path: '/listen',
    protocol: SUBPROTOCOL,
    maxPayloadBytes: MAX_PAYLOAD_BYTES,
    maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
    idleTimeoutS: IDLE_TIMEOUT_S,
    async upgrade({ query }) {
      const media = query.get('media') ?? 'websocket'
      if (!MEDIA.includes(media)) throw new PatchbayError('malformed_request')
      // Before the token is used up: it may still serve without, or at another node.
      if (media === 'webrtc' && options.webrtc.terms === null) throw new PatchbayError('unavailable')
      const grant = await takeListenToken(options.redis, query.get('token') ?? '')
      if (grant === undefined) throw new PatchbayError('invalid_token')
      const { standing, ...call } = grant
      await options.standing.require(standing)
      const join = { ...call, line: randomBytes(16).toString('hex') }
      return (socket) => new SupervisorSocket(socket, { join, standing }, options, media === 'webrtc')
    },
  }
}

class SupervisorSocket implements SocketHandlers {
  readonly #socket: Socket
  readonly #line: Promise<Line>
  readonly #stopEvents: Promise<() => void>
  /** Beats until it is given up that a node has the call; undefined: one has said so. */
  #joinBeats: number | undefined = JOIN_BEATS
  readonly #heartbeat: NodeJS.Timeout
  /** Undefined: the sound goes over the socket, too. */
  readonly #peer: SupervisorPeer | undefined
  /** Beats since anything came from them. */
  #silentBeats = 0
  #closed = false
  readonly #log: Logger
  readonly #unwatch: () => void
  /** Rejects when the right to the call has ended. */
  readonly #mayAct: () => Promise<void>
  /** The orders so far: each is given after the one before. */
  #orders: Promise<void> = Promise.resolve()

  constructor(
    socket: Socket,
    { join, standing }: { join: Join; standing: RequesterStanding },
    options: SupervisorSocketOptions,
    overPeer: boolean,
  ) {
    const { switchboard, calls, webrtc, clock, log } = options
    this.#socket = socket
    this.#mayAct = () => options.standing.require(standing)
    this.#log = log
    this.#unwatch = options.standing.watch(standing, (code) => this.#withdrawn(new PatchbayError(code)))
    this.#peer = overPeer
      ? new SupervisorPeer({
          ...{ media: webrtc.listening, clock, log },
          tell: (message) => this.#tell(message),
          said: (pcm) => this.#said(pcm),
          failed: () =>
            this.#end('error', 'connection_failed', 'No way was found for the sound; listen without WebRTC'),
        })
      : undefined
    this.#heartbeat = setInterval(
      boundary('websocket', () => {
        if (this.#joinBeats !== undefined && this.#joinBeats-- === 0) {
          this.#end('error', 'not_talking', 'The call talks with nobody')
        }
        if (this.#silentBeats++ >= SILENT_BEATS) socket.terminate()
        else socket.ping()
      }),
      HEARTBEAT_MS,
    )
    this.#line = switchboard().open(join.line, 'outer', {
      message: (message) => this.#told(message as ToSupervisor),
      sound: (pcm) => {
        if (this.#peer !== undefined) this.#peer.heard(pcm)
        else if (!this.#closed && socket.bufferedBytes() < MAX_BUFFERED_BYTES) socket.send(pcm)
      },
      lost: () => this.#end('error', 'node_lost', 'The node of the call is gone'),
    })
    this.#stopEvents = calls.listen(join.workspaceId, join.callId, (event) => {
      if (!this.#closed) socket.send(JSON.stringify({ type: 'event', event }))
    })
    Promise.all([this.#line, this.#stopEvents])
      .then(() => switchboard().join(join))
      .catch((err) => {
        log.warn({ err }, 'Could not connect a supervisor to a call')
        this.#end('error', 'unavailable', 'Listening is not possible now')
      })
  }

  pong(): void {
    this.#silentBeats = 0
  }

  message(data: string | Uint8Array): void {
    this.pong()
    if (this.#closed) return
    if (typeof data !== 'string') {
      if (this.#peer === undefined) this.#said(data)
      else this.#tell({ type: 'error', code: 'unexpected_audio', message: 'The sound goes over the peer connection' })
      return
    }
    const message = parsed(data)
    if (this.#peer !== undefined && isSupervisorSignal(message)) {
      this.#peer.signal(message)
      return
    }
    if (!isSupervisorMessage(message)) {
      this.#tell({ type: 'error', code: 'bad_message', message: 'Unknown or malformed message' })
      return
    }
    if (data.includes('\\u') && unstorableText(message) !== undefined) {
      this.#tell({ type: 'error', code: 'bad_message', message: `Text ${UNSTORABLE}` })
      return
    }
    this.#orders = this.#orders.then(() => this.#order(message))
  }

  close(): void {
    this.#closed = true
    this.#unwatch()
    clearInterval(this.#heartbeat)
    this.#peer?.close()
    this.#line
      .then((line) => {
        line.send({ type: 'leave' })
        line.close()
      })
      .catch(() => undefined)
    this.#stopEvents.then((stop) => stop()).catch(() => undefined)
  }

  /** Never rejects. The right is asked for each order: one that was withdrawn a moment ago does nothing to the call. */
  async #order(message: SupervisorMessage): Promise<void> {
    try {
      if (message.type !== 'leave') await this.#mayAct()
      if (!this.#closed) (await this.#line).send(message)
    } catch (err) {
      if (err instanceof PatchbayError && !err.retryable) return this.#withdrawn(err)
      this.#log.warn({ err }, "A supervisor's order could not be passed on")
      this.#tell({ type: 'error', code: 'unavailable', message: 'It could not be done; try again' })
    }
  }

  #withdrawn({ code, message }: PatchbayError): void {
    this.#end('error', code, message)
  }

  #said(pcm: Uint8Array): void {
    // The buffer returns to its owner after this.
    const own = Uint8Array.from(pcm)
    this.#line.then((line) => line.sound(own)).catch(() => undefined)
  }

  #told(message: ToSupervisor): void {
    this.#joinBeats = undefined
    if (this.#peer === undefined) this.#tell(message)
    else this.#toldWith(this.#peer, message)
    if (message.type === 'ended') this.#close('ended')
    if (message.type === 'error' && message.code === 'not_talking') this.#close('not_talking')
  }

  #toldWith(peer: SupervisorPeer, message: ToSupervisor): void {
    if (message.type === 'listening') {
      peer.begin(message.audio.sample_rate)
      this.#tell({ ...message, audio: { encoding: 'opus', sample_rate: OPUS_CLOCK_HZ, channels: 2 } })
      return
    }
    if (message.type === 'done' && message.of === 'take_over') peer.hasCall = true
    if (message.type === 'done' && message.of === 'give_back') peer.hasCall = false
    this.#tell(message)
  }

  #end(type: 'error', code: string, message: string): void {
    this.#tell({ type, code, message })
    this.#close(code)
  }

  #tell(message: ToSupervisor): void {
    if (!this.#closed) this.#socket.send(JSON.stringify(message))
  }

  #close(reason: string): void {
    if (!this.#closed) this.#socket.close(listenCloseCode(reason), reason)
  }
}

function parsed(text: string): unknown {
  try {
    return parseBounded(text)
  } catch {
    return undefined
  }
}
