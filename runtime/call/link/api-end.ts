import { createHash, timingSafeEqual } from 'node:crypto'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { StoredKeys } from '../../plugin/stored-keys.ts'
import type { Logger } from '../../process/log.ts'
import type { Socket, SocketHandlers, UpgradeRequest, WebSocketRoute } from '../../process/web-socket.ts'
import type { CallEvent, CallEventBody } from '../log/events.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import { AudioBatch } from './batch.ts'
import { encodeMessage, encodeOpen, encodeWarm } from './fit.ts'
import {
  type AskMethod,
  LINK_PROTOCOL,
  type NodeMessage,
  type OpenSession,
  type SoundSpan,
  type WorkerMessage,
  type WorkerState,
} from './messages.ts'
import { decodeAudio, decodeWorkerMessage, MAX_MESSAGE_BYTES, sessionIn, typeIn } from './protocol.ts'
import { WrongTokens } from './wrong-tokens.ts'

/** The api node's end of the link: voice workers dial in, sessions are opened on them, their messages come back. */

/** A worker beats once a second; this long without a beat and it counts as lost. */
const HEARTBEAT_TIMEOUT_MS = 3_000
const CHECK_INTERVAL_MS = 500
/** Why a session is lost. */
const GONE = 'its link is gone'
/** A worker that hung may not have received the last messages sent to it. */
const SILENT = 'no heartbeat'
const TOO_LARGE = 'too large for the link to a voice worker'
/** A round so late says that this process stood still. */
const STALLED_MS = 2 * CHECK_INTERVAL_MS
/**
 * Audio is dropped while this much waits to be sent. Calls that a worker takes over from a dead one come with what their
 * callers said last, all at once: forty phone calls with twenty seconds each.
 */
const AUDIO_BACKPRESSURE_BYTES = 8 << 20
/** How long events from before a session's end are still accepted after it. */
const CLOSE_WAIT_MS = 2_000
/** So much waits to be sent that no further call is offered. */
const OFFER_BACKPRESSURE_BYTES = 8 << 20
/** A worker that lets this much pile up is lost. */
const MAX_BACKPRESSURE_BYTES = 16 << 20

/** What a session hears from its worker. After `lost` nothing follows, after `ended` or a close only `late`. */
export interface LinkEvents {
  message(message: SessionMessage): void
  /** What the worker tells while it closes the session. */
  late(event: CallEventBody, sound?: SoundSpan): void
  /** Answers what the worker asks; a PatchbayError becomes the answer's `error`. */
  ask(method: AskMethod, params: unknown): Promise<unknown>
  /** Audio in the leg's format; `bytes` is valid during the call only. */
  audio(bytes: Uint8Array, timestamp: number): void
  /** The worker or the way to it is gone, and why. */
  lost(reason: string): void
}

/** Messages of a worker that belong to one session. `ask` and `closed` are for the link itself. */
export type SessionMessage = Exclude<Extract<WorkerMessage, { session: number }>, { type: 'ask' | 'closed' }>

/** One session on one worker. Nothing throws; after `close`, `lost` or `ended` nothing is sent. */
export interface LinkSession {
  audio(bytes: Uint8Array, timestamp: number): void
  /** What the caller, the carrier or a supervisor did. */
  event(event: CallEvent): void
  played(id: number): void
  /** Ends the session, unless it is over. Resolves when all its events have arrived, or after a short timeout. */
  close(reason: string): Promise<void>
}

/** A voice worker as an api node sees it. */
export interface LinkedWorker {
  readonly workerId: string
  readonly capacity: number
  readonly activeSessions: number
  readonly state: WorkerState
  readonly metricsUrl: string
  /** Which calls it serves; empty: those without a pool. */
  readonly pool: string
  /** A session of this agent is likely to follow for this call. */
  warm(callId: string, agent: AgentSpec): void
  /** Asks it to take nothing new and to end once its calls are over. */
  drain(): void
  /** Asks it to read its settings anew; one of an older version is not asked. */
  reload(): void
  /** Sends it the stored keys of providers as they are now; one of an older version gets none. */
  sendKeys(): void
  /** Offers the session; `accepted` or `rejected` arrives as a message. */
  open(session: Omit<OpenSession, 'session'>, events: LinkEvents): LinkSession
}

interface LinkHub {
  readonly route: WebSocketRoute
  /** The worker of that id, while its link is up. */
  worker(workerId: string): LinkedWorker | undefined
  workers(): LinkedWorker[]
  /** Closes every link. */
  close(): void
}

interface LinkHubOptions {
  nodeId: string
  /** What a worker has to show as `Authorization: Bearer …`. */
  /** Workers show one of these. */
  tokens: readonly string[]
  clock: Clock
  log: Logger
  /** The keys of providers that workers need and an operator stored. */
  keys?(): StoredKeys
  /** The keys that a session of this agent needs besides: those of its workspace. */
  keysFor?(agent: AgentSpec): StoredKeys
  /** Audio was not sent: a worker reads too slowly. */
  dropped?(bytes: number): void
  /** A worker came, changed its state or capacity, or beat. */
  changed(worker: LinkedWorker): void
  /** A worker's link is gone; `leaving` when the worker itself closed it for good. */
  gone(worker: LinkedWorker, leaving: boolean): void
}

/** Close code by which a worker says that it stops. */
const LEAVING = 1001

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export function createLinkHub(options: LinkHubOptions): LinkHub {
  const links = new Map<string, WorkerLink>()
  const expected = options.tokens.map((token) => digest(`Bearer ${token}`))
  let checkedAtMs = options.clock.monotonicMs()
  const checker = setInterval(
    boundary('link', () => {
      const nowMs = options.clock.monotonicMs()
      // A node that stood still has not read its sockets yet: the beats that wait there are read before the next round.
      const stalled = nowMs - checkedAtMs > STALLED_MS
      checkedAtMs = nowMs
      if (stalled) return
      for (const link of links.values()) {
        if (nowMs - link.heardAtMs > HEARTBEAT_TIMEOUT_MS) link.fail(SILENT)
      }
    }),
    CHECK_INTERVAL_MS,
  )

  const hello = (link: WorkerLink): void => {
    links.get(link.workerId)?.fail('replaced by a new link of the same worker')
    links.set(link.workerId, link)
    options.log.info(
      { workerId: link.workerId, capacity: link.capacity, ...(link.pool && { pool: link.pool }) },
      'Voice worker linked',
    )
  }
  const gone = (link: WorkerLink, leaving: boolean): void => {
    if (links.get(link.workerId) !== link) return
    links.delete(link.workerId)
    const { workerId, activeSessions } = link
    const how = leaving ? 'Voice worker has left' : 'Voice worker is lost: its calls go to another one'
    options.log[leaving ? 'info' : 'warn']({ workerId, activeSessions, workers: links.size }, how)
    options.gone(link, leaving)
  }

  const wrongTokens = new WrongTokens(options.clock)
  return {
    route: {
      path: '/link',
      maxPayloadBytes: MAX_MESSAGE_BYTES,
      maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
      idleTimeoutS: 12,
      async upgrade(request: UpgradeRequest) {
        if (wrongTokens.isRefused(request.remoteAddress)) throw new PatchbayError('too_many_attempts')
        const shown = digest(request.header('authorization') ?? '')
        if (!expected.some((one) => timingSafeEqual(shown, one))) {
          wrongTokens.wrong(request.remoteAddress)
          throw new PatchbayError('invalid_token')
        }
        wrongTokens.right(request.remoteAddress)
        return (socket: Socket): SocketHandlers => new WorkerLink(socket, options, hello, gone)
      },
    },
    worker: (workerId) => links.get(workerId),
    workers: () => [...links.values()],
    close() {
      clearInterval(checker)
      for (const link of [...links.values()]) link.leave()
    },
  }
}

interface OpenedSession {
  callId: string
  events: LinkEvents
}

/** A session that is over, until all its worker's events have arrived. */
interface ClosingSession {
  events: LinkEvents
  told: PromiseWithResolvers<void>
  timer: NodeJS.Timeout
}

class WorkerLink implements LinkedWorker, SocketHandlers {
  workerId = ''
  capacity = 0
  activeSessions = 0
  state: WorkerState = 'draining'
  metricsUrl = ''
  pool = ''
  /** Its audio is as good a sign of life as its beats, which may wait behind much of it. */
  heardAtMs: number
  readonly #socket: Socket
  readonly #options: LinkHubOptions
  readonly #hello: (link: WorkerLink) => void
  readonly #gone: (link: WorkerLink, leaving: boolean) => void
  readonly #sessions = new Map<number, OpenedSession>()
  readonly #closing = new Map<number, ClosingSession>()
  readonly #batch: AudioBatch
  #nextSession = 1
  #reloads = false
  #takesKeys = false
  #open = true

  constructor(
    socket: Socket,
    options: LinkHubOptions,
    hello: (link: WorkerLink) => void,
    gone: (link: WorkerLink, leaving: boolean) => void,
  ) {
    this.#socket = socket
    this.#options = options
    this.#hello = hello
    this.#gone = gone
    this.heardAtMs = options.clock.monotonicMs()
    this.#batch = new AudioBatch(options.clock, (message) => {
      if (socket.bufferedBytes() < AUDIO_BACKPRESSURE_BYTES) socket.send(message)
      else options.dropped?.(message.byteLength)
    })
  }

  message(data: string | Uint8Array): void {
    if (!this.#open) return
    this.heardAtMs = this.#options.clock.monotonicMs()
    if (typeof data !== 'string') {
      this.#audio(data)
      return
    }
    const message = decodeWorkerMessage(data)
    if (message === undefined) {
      this.#misread(data)
      return
    }
    if (this.workerId === '' && message.type !== 'hello') {
      this.fail('no hello')
      return
    }
    switch (message.type) {
      case 'hello':
        if (this.workerId !== '') {
          this.fail('a second hello')
          return
        }
        if (message.protocol !== LINK_PROTOCOL) {
          this.fail(`link protocol ${message.protocol}`)
          return
        }
        this.workerId = message.workerId
        this.capacity = message.capacity
        this.metricsUrl = message.metricsUrl
        this.pool = message.pool ?? ''
        this.#reloads = message.reloads === true
        this.#takesKeys = message.takesKeys === true
        this.#hello(this)
        this.#send({ type: 'welcome', nodeId: this.#options.nodeId, takesOwed: true })
        this.sendKeys()
        break
      case 'heartbeat':
        if (message.state === 'draining' && this.state === 'ready') {
          const { workerId } = this
          this.#options.log.info(
            { workerId, activeSessions: message.activeSessions },
            'Voice worker drains: it gets no new call',
          )
        }
        this.state = message.state
        this.capacity = message.capacity
        this.activeSessions = message.activeSessions
        this.#options.changed(this)
        this.#send({ type: 'beat' })
        break
      case 'ask':
        inBackground('link', this.#answer(message))
        return
      case 'closed':
        this.#told(message.session)
        return
      default:
        this.#deliver(message)
        return
    }
  }

  close(code: number): void {
    this.#end(code === LEAVING, GONE)
  }

  /** Ends the link because the node stops. */
  leave(): void {
    if (this.#open) this.#options.log.info({ workerId: this.workerId }, 'The api node stops: voice worker link closed')
    this.#break('the api node stops')
  }

  /** Breaks the link: the peer is gone, silent or wrong. */
  fail(reason: string): void {
    if (this.#open) this.#options.log.warn({ workerId: this.workerId, reason }, 'Voice worker link closed')
    this.#break(reason)
  }

  #break(reason: string): void {
    if (!this.#open) return
    this.#end(false, reason)
    this.#socket.terminate()
  }

  warm(callId: string, agent: AgentSpec): void {
    if (!this.#open || this.#isBehind) return
    const json = encodeWarm({ type: 'warm', callId, agent, ...this.#keysFor(agent) })
    // It is a hint alone; the offer says what is wrong with the agent.
    if (json !== undefined) this.#sendText(json)
  }

  drain(): void {
    if (!this.#open) return
    // Known before the next beat says so.
    this.state = 'draining'
    this.#send({ type: 'drain' })
  }

  reload(): void {
    if (this.#open && this.#reloads) this.#send({ type: 'reload' })
  }

  sendKeys(): void {
    const keys = this.#options.keys?.()
    if (keys !== undefined && this.#open && this.#takesKeys) this.#send({ type: 'keys', keys: { ...keys } })
  }

  #keysFor(agent: AgentSpec): Pick<OpenSession, 'keys'> {
    const keys = this.#options.keysFor?.(agent) ?? {}
    return Object.keys(keys).length === 0 ? {} : { keys: { ...keys } }
  }

  open(open: Omit<OpenSession, 'session'>, events: LinkEvents): LinkSession {
    const session = this.#nextSession
    this.#nextSession = (session + 1) % 0x1_0000_0000
    this.#sessions.set(session, { callId: open.callId, events })
    const live = (): boolean => this.#sessions.has(session)
    if (this.#open) this.#offer({ type: 'open', session, ...open, ...this.#keysFor(open.agent) })
    else queueMicrotask(boundary('link', () => this.#lose(session, GONE)))
    return {
      audio: (bytes, timestamp) => {
        if (live()) this.#batch.add(session, timestamp, bytes)
      },
      event: (event) => {
        if (live()) this.#sendOf(session, { type: 'event', session, event })
      },
      played: (id) => {
        if (live()) this.#send({ type: 'played', session, id })
      },
      close: async (reason) => {
        if (live()) {
          this.#close(session)
          this.#send({ type: 'close', session, reason })
        }
        await this.#closing.get(session)?.told.promise
      },
    }
  }

  /** Whether so much waits to be sent that a large message would be one too many. */
  get #isBehind(): boolean {
    return this.#socket.bufferedBytes() > OFFER_BACKPRESSURE_BYTES
  }

  #offer(message: { type: 'open' } & OpenSession): void {
    const { session } = message
    const reject = (reason: 'full' | 'bad_agent', sentence: string): void => {
      queueMicrotask(boundary('link', () => this.#deliver({ type: 'rejected', session, reason, message: sentence })))
    }
    const encoded = this.#isBehind ? undefined : encodeOpen(message)
    if (encoded === undefined) reject('full', 'The voice worker has not read what it was offered before')
    else if ('fault' in encoded) reject('bad_agent', encoded.fault)
    else this.#sendText(encoded.json)
  }

  #send(message: NodeMessage): void {
    const json = encodeMessage(message)
    if (json !== undefined) this.#sendText(json)
  }

  /** What the worker could not take ends the session that it is about, and no other. */
  #sendOf(session: number, message: NodeMessage): void {
    const json = encodeMessage(message)
    if (json !== undefined) {
      this.#sendText(json)
      return
    }
    const callId = this.#sessions.get(session)?.callId
    this.#options.log.error(
      { workerId: this.workerId, callId, type: message.type },
      'A message is too large for the link',
    )
    this.#send({ type: 'close', session, reason: TOO_LARGE })
    this.#deliver({ type: 'ended', session, reason: 'error', error: `What happened in the call is ${TOO_LARGE}` })
  }

  #sendText(json: string): void {
    if (!this.#open) return
    // Audio of the session that waits in the batch comes before what is said about it.
    this.#batch.flush()
    if (!this.#socket.send(json)) this.fail('it reads too slowly')
  }

  /** What is wrong with one session concerns it alone: another worker goes on with it. */
  #misread(data: string): void {
    const session = sessionIn(data)
    if (session === undefined || this.workerId === '') {
      this.fail('malformed message')
      return
    }
    const callId = this.#sessions.get(session)?.callId
    if (callId === undefined) return
    const { workerId } = this
    this.#options.log.error(
      { workerId, callId, type: typeIn(data), characters: data.length },
      'Malformed message from a voice worker',
    )
    this.#send({ type: 'close', session, reason: 'malformed message' })
    this.#lose(session, 'it sent a malformed message')
  }

  #audio(data: Uint8Array): void {
    const chunks = this.workerId === '' ? undefined : decodeAudio(data)
    if (chunks === undefined) {
      this.fail('malformed audio frame')
      return
    }
    for (const { session, timestamp, bytes } of chunks) this.#sessions.get(session)?.events.audio(bytes, timestamp)
  }

  #deliver(message: SessionMessage): void {
    const opened = this.#sessions.get(message.session)
    if (opened === undefined) {
      if (message.type === 'event') this.#closing.get(message.session)?.events.late(message.event, message.sound)
      return
    }
    if (message.type === 'ended') this.#close(message.session)
    if (message.type === 'rejected') this.#sessions.delete(message.session)
    // Known before the next beat says so.
    if (message.type === 'rejected' && (message.reason === 'draining' || message.reason === 'overloaded')) {
      this.state = message.reason
    }
    opened.events.message(message)
  }

  async #answer({ session, id, method, params }: Extract<WorkerMessage, { type: 'ask' }>): Promise<void> {
    const opened = this.#sessions.get(session)
    if (opened === undefined) return
    try {
      const result = await opened.events.ask(method, params)
      const json = encodeMessage({ type: 'answer', session, id, result })
      if (json !== undefined) this.#sendText(json)
      else this.#send({ type: 'answer', session, id, error: `The answer is ${TOO_LARGE}` })
    } catch (err) {
      this.#options.log.warn({ err, callId: opened.callId, method }, 'A question of a voice worker failed')
      const error = err instanceof PatchbayError ? err.message : new PatchbayError('internal').message
      this.#send({ type: 'answer', session, id, error })
    }
  }

  /** From now on the session receives only events that happened before. */
  #close(session: number): void {
    const opened = this.#sessions.get(session)
    if (opened === undefined) return
    this.#sessions.delete(session)
    const timer = setTimeout(
      boundary('link', () => this.#told(session)),
      CLOSE_WAIT_MS,
    )
    this.#closing.set(session, { events: opened.events, told: Promise.withResolvers(), timer })
  }

  #told(session: number): void {
    const closing = this.#closing.get(session)
    if (closing === undefined) return
    this.#closing.delete(session)
    clearTimeout(closing.timer)
    closing.told.resolve()
  }

  #lose(session: number, reason: string): void {
    const opened = this.#sessions.get(session)
    if (this.#sessions.delete(session)) opened?.events.lost(reason)
  }

  #end(leaving: boolean, reason: string): void {
    if (!this.#open) return
    this.#open = false
    this.#batch.stop()
    this.#gone(this, leaving)
    for (const session of [...this.#sessions.keys()]) this.#lose(session, reason)
    for (const session of [...this.#closing.keys()]) this.#told(session)
  }
}
