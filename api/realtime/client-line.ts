import type { AgentState, LegEndReason } from '../../runtime/call/types/leg.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Socket, SocketHandlers } from '../../runtime/process/web-socket.ts'
import { PROTOCOL_VERSION, REPLACED, sessionCloseCode } from './closing.ts'
import { MessageGate } from './gate.ts'
import { type ClientMessage, readClientMessage, type ServerMessage } from './messages.ts'
import { ClientOutbox } from './outbox.ts'
import type { Resumable, Resumes } from './resumes.ts'

/** Minimum interval between reports of a recurring fault. */
const REPEAT_MS = 1_000
/** A session whose connection was lost waits this long for the next one. */
const RESUME_WAIT_MS = 20_000

const NORMAL = 1000
const GOING_AWAY = 1001
const NO_CODE = 1005

type SessionStarted = Extract<ServerMessage, { type: 'session.started' }>

/** What a line tells its leg. */
interface ClientLineEvents {
  message(message: Exclude<ClientMessage, { type: 'end' | 'ping' }>): void
  /** A binary message, within the limit of messages. */
  binary(bytes: Uint8Array): void
  /** The session is over: sent once, nothing follows. */
  ended(reason: LegEndReason): void
  /** The client is back over another connection. */
  resumed?(): void
}

interface ClientLineOptions {
  socket: Socket
  clock: Clock
  /** Audio kept for a client that reads too slowly, or is away. */
  maxAudioBytes: number
  /** Present: the session outlives its connection. */
  resumes?: Resumes | undefined
}

/**
 * The line to the client of a realtime session: messages both ways within their limits, over one connection after the other
 * where the client asked for that. What is said while it is away waits for it.
 */
export class ClientLine implements Resumable {
  readonly #clock: Clock
  readonly #outbox: ClientOutbox
  readonly #gate: MessageGate
  readonly #resumes: Resumes | undefined
  readonly #toldAtMs = new Map<string, number>()
  readonly #events: ClientLineEvents
  #socket: Socket | undefined
  #away: NodeJS.Timeout | undefined
  #over = false

  constructor(options: ClientLineOptions, events: ClientLineEvents) {
    const { socket, clock, maxAudioBytes, resumes } = options
    this.#socket = socket
    this.#clock = clock
    this.#resumes = resumes
    this.#events = events
    this.#outbox = new ClientOutbox(socket, maxAudioBytes)
    this.#gate = new MessageGate(clock.monotonicMs())
  }

  get isOver(): boolean {
    return this.#over
  }

  get gate(): MessageGate {
    return this.#gate
  }

  /** What the socket tells the line. */
  handlersOf(socket: Socket): SocketHandlers {
    return {
      message: (data) => {
        if (socket === this.#socket) this.#received(data)
      },
      drain: () => {
        if (socket === this.#socket && !this.#over && !this.#outbox.drain()) socket.terminate()
      },
      close: (code) => {
        if (socket === this.#socket) this.#closed(code)
      },
    }
  }

  /** The token of `session.started`; undefined where the session ends with its connection. */
  issueToken(): string | undefined {
    return this.#resumes?.issue(this)
  }

  resume(socket: Socket): SocketHandlers {
    const earlier = this.#socket
    clearTimeout(this.#away)
    this.#away = undefined
    this.#socket = socket
    earlier?.close(REPLACED.code, REPLACED.reason)
    const message: ServerMessage = { type: 'session.resumed', resume_token: this.#resumes?.issue(this) ?? '' }
    if (!this.#outbox.attach(socket, JSON.stringify(message))) socket.terminate()
    this.#events.resumed?.()
    return this.handlersOf(socket)
  }

  send(message: ServerMessage): void {
    this.put(JSON.stringify(message))
  }

  started(fields: Omit<SessionStarted, 'type' | 'protocol' | 'resume_within_s'>): void {
    const resumable = fields.resume_token === undefined ? {} : { resume_within_s: RESUME_WAIT_MS / 1000 }
    this.send({ type: 'session.started', protocol: PROTOCOL_VERSION, ...fields, ...resumable })
  }

  put(data: string | Uint8Array): void {
    if (!this.#over && !this.#outbox.send(data, this.#clock.monotonicMs())) this.#socket?.terminate()
  }

  agentState(state: AgentState): void {
    this.send({ type: 'agent.state', state })
  }

  transcript(entry: {
    role: 'user' | 'assistant'
    text: string
    final: boolean
    startMs: number
    endMs: number
  }): void {
    const { role, text, final, startMs, endMs } = entry
    this.send({ type: 'transcript', role, text, final, start_ms: Math.round(startMs), end_ms: Math.round(endMs) })
  }

  clearAudio(): void {
    this.#outbox.clearAudio()
  }

  /** Tells of a fault, but not more often than once a second. */
  tell(code: string, message: string): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - (this.#toldAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    this.#toldAtMs.set(code, nowMs)
    this.send({ type: 'error', code, message })
  }

  /** Says why, then closes. */
  close(reason: string): void {
    if (this.#over) return
    this.#finish()
    this.#outbox.flush()
    this.#socket?.send(JSON.stringify({ type: 'session.ended', reason } satisfies ServerMessage))
    this.#socket?.close(sessionCloseCode(reason), reason)
  }

  #received(data: string | Uint8Array): void {
    if (this.#over) return
    const verdict = this.#gate.message(this.#clock.monotonicMs())
    if (verdict !== 'pass') {
      this.tell('too_many_messages', 'Messages over 200 a second are dropped; going on like this ends the session')
      if (verdict === 'close') this.#end('policy_violation')
      return
    }
    if (typeof data !== 'string') {
      this.#events.binary(data)
      return
    }
    const message = readClientMessage(data)
    if ('code' in message) this.send({ type: 'error', code: message.code, message: message.message })
    else if (message.type === 'end') this.#end('caller_hangup')
    else if (message.type === 'ping') this.send({ type: 'pong' })
    else this.#events.message(message)
  }

  /** The socket is closed, by the client or because it is gone. */
  #closed(code: number): void {
    if (this.#over) return
    this.#socket = undefined
    const leaving = code === NORMAL || code === GOING_AWAY || code === NO_CODE
    if (leaving || this.#resumes === undefined) {
      this.#finish()
      this.#events.ended(leaving ? 'caller_hangup' : 'connection_lost')
      return
    }
    this.#outbox.detach()
    this.#away = setTimeout(
      boundary('websocket', () => {
        this.#finish()
        this.#events.ended('connection_lost')
      }),
      RESUME_WAIT_MS,
    )
  }

  #end(reason: LegEndReason): void {
    this.close(reason)
    this.#events.ended(reason)
  }

  #finish(): void {
    this.#over = true
    clearTimeout(this.#away)
    this.#resumes?.forget(this)
  }
}
