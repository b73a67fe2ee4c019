import WebSocket from 'ws'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cutText } from '../../lib/text.ts'
import type { Logger } from '../../process/log.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import { AudioBatch } from './batch.ts'
import { encodeMessage } from './fit.ts'
import type { LinkedConversation, OpenConversation } from './linked-conversation.ts'
import { LINK_PROTOCOL, type NodeMessage, type WorkerMessage, type WorkerState } from './messages.ts'
import { decodeAudio, decodeNodeMessage, MAX_MESSAGE_BYTES, sessionIn, typeIn } from './protocol.ts'
import { LinkPort, MAX_SENTENCE_CHARS } from './worker-port.ts'

/** The voice worker's end of the link: dials every api node and runs the conversations it is offered. */

const HEARTBEAT_MS = 1_000
const HANDSHAKE_TIMEOUT_MS = 5_000
/** An api node that answers no heartbeat this long is gone. */
const SILENCE_TIMEOUT_MS = 5_000
/** A heartbeat so late says that this process stood still. */
const STALLED_MS = 2 * HEARTBEAT_MS
const OPEN_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 5_000
/** Announcements at once, as a part of the capacity for conversations, beside which they run; at least two. */
const ANNOUNCEMENTS_SHARE = 0.25
const MIN_RECONNECT_MS = 100
const MAX_RECONNECT_MS = 3_000
/** A link that lasted this long is redialled at once; a shorter one counts as another failure. */
const HELD_MS = 10_000
/** Audio is dropped while this much waits to be sent. */
const AUDIO_BACKPRESSURE_BYTES = 1 << 20
/** An api node that lets this much pile up is lost. */
const MAX_BACKPRESSURE_BYTES = 16 << 20
const LEAVING = 1001
/** Of what keeps a conversation from opening, this is the same for every worker. */
const FAULTS_OF_AGENTS: ReadonlySet<string> = new Set(['plugin', 'configuration', 'validation'])

export interface LinksOptions {
  /** The api nodes: `ws://` or `wss://` addresses; `/link` is added where the path is empty. */
  urls: readonly string[]
  token: string
  workerId: string
  /** Sessions at once, over all api nodes. */
  capacity: number
  metricsUrl: string
  openConversation: OpenConversation
  /** A session of this agent is likely to follow for this call. */
  warm?(callId: string, agent: AgentSpec): void
  /** An operator asks the worker to end once its calls are over. */
  drain?(): void
  /** `draining` and `overloaded` take no new session. */
  state(): WorkerState
  /** Audio was not sent: an api node reads too slowly, or its link is gone. */
  dropped?(bytes: number): void
  clock: Clock
  /** A number in [0, 1): spreads the reconnections of many workers. */
  random(): number
  log: Logger
  /** Aborts: everything is closed at once. */
  signal: AbortSignal
}

export interface Links {
  activeSessions(): number
  /** Api nodes linked now. */
  connectedNodes(): number
  /** Resolves once the first api node has welcomed the worker: from then on it is offered calls. */
  readonly welcomed: Promise<void>
  /**
   * Takes no new session and waits for the running ones; after `graceMs` hands those back to their api nodes, which
   * offer them to another worker. Then leaves every api node.
   */
  stop(graceMs: number): Promise<void>
}

/** Keeps a link to every api node until stopped; a lost link closes its sessions and is dialled again. */
export function connectLinks(options: LinksOptions): Links {
  const worker = new LinkedConversations(options)
  return {
    activeSessions: () => worker.active,
    connectedNodes: () => worker.links.filter((link) => link.connected).length,
    welcomed: worker.welcomed.promise,
    stop: (graceMs) => worker.stop(graceMs),
  }
}

class LinkedConversations {
  readonly options: LinksOptions
  readonly links: NodeLink[]
  readonly welcomed = Promise.withResolvers<void>()
  active = 0
  announcing = 0
  #stopping: Promise<void> | undefined
  #idle: (() => void) | undefined

  constructor(options: LinksOptions) {
    this.options = options
    this.links = options.urls.map((url) => new NodeLink(url, this))
    options.signal.addEventListener(
      'abort',
      boundary('link', () => inBackground('link', this.stop(0))),
      { once: true },
    )
    if (options.signal.aborted) inBackground('link', this.stop(0))
  }

  state(): WorkerState {
    return this.#stopping === undefined ? this.options.state() : 'draining'
  }

  /** Takes a place for the session; false: the worker is full. */
  taken(announcement: boolean): boolean {
    const { capacity } = this.options
    if (announcement) {
      if (this.announcing >= Math.max(2, Math.floor(capacity * ANNOUNCEMENTS_SHARE))) return false
      this.announcing++
    } else {
      if (this.active >= capacity) return false
      this.active++
    }
    return true
  }

  released(announcement: boolean): void {
    if (announcement) this.announcing--
    else this.active--
    if (this.active + this.announcing === 0) this.#idle?.()
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    // The state is read once `#stopping` is set.
    await Promise.resolve()
    for (const link of this.links) link.beat()
    if (this.active + this.announcing > 0 && graceMs > 0 && !this.options.signal.aborted) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
        this.#idle = resolve
        this.options.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      clearTimeout(timer)
    }
    await Promise.all(this.links.map((link) => link.leave()))
  }
}

interface RunningSession {
  port: LinkPort
  conversation: LinkedConversation | undefined
  /** Set once the session is over: what comes back from openConversation later is closed at once. */
  over: boolean
  announcement: boolean
}

class NodeLink {
  readonly #url: string
  readonly #worker: LinkedConversations
  readonly #sessions = new Map<number, RunningSession>()
  readonly #closing = new Set<Promise<void>>()
  /** Of sessions that are over and whose conversations close. */
  readonly #ports = new Set<LinkPort>()
  readonly #batch: AudioBatch
  #socket: WebSocket | undefined
  #attempts = 0
  #heardAtMs = 0
  #beatAtMs = 0
  #left = false
  #redial: NodeJS.Timeout | undefined
  #holding: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined

  constructor(url: string, worker: LinkedConversations) {
    const parsed = new URL(url)
    if (parsed.pathname === '/') parsed.pathname = '/link'
    this.#url = parsed.href
    this.#worker = worker
    this.#batch = new AudioBatch(worker.options.clock, (message) => {
      const socket = this.#socket
      if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < AUDIO_BACKPRESSURE_BYTES) {
        socket.send(message)
      } else worker.options.dropped?.(message.byteLength)
    })
    this.#dial()
  }

  get connected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  /** Tells the api node the worker's state now. */
  beat(): void {
    const { clock, capacity, log } = this.#worker.options
    if (!this.connected) return
    const nowMs = clock.monotonicMs()
    // A process that stalled has not read its sockets yet: its own silence is not the other's.
    const stalled = nowMs - this.#beatAtMs > STALLED_MS
    this.#beatAtMs = nowMs
    if (!stalled && nowMs - this.#heardAtMs > SILENCE_TIMEOUT_MS) {
      log.warn({ url: this.#url }, 'Api node is silent')
      this.#socket?.terminate()
      return
    }
    this.send({ type: 'heartbeat', state: this.#worker.state(), activeSessions: this.#worker.active, capacity })
  }

  send(message: WorkerMessage): void {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) return
    // Audio of the session that waits in the batch comes before what is said about it.
    this.#batch.flush()
    if (socket.bufferedAmount > MAX_BACKPRESSURE_BYTES) {
      socket.terminate()
      return
    }
    const json = encodeMessage(message)
    if (json === undefined) this.#unsendable(message)
    else socket.send(json)
  }

  /** What the api node could not take ends the session that it is about, and no other. */
  #unsendable(message: WorkerMessage): void {
    if (!('session' in message)) return
    const { session, type } = message
    this.#worker.options.log.error({ session, type }, 'A message is too large for the link')
    this.#sessions.get(session)?.port.ended('error', 'The conversation has a message that is too large for the link')
  }

  audio(session: number, timestamp: number, bytes: Uint8Array): void {
    if (this.connected) this.#batch.add(session, timestamp, bytes)
  }

  /** Hands back the sessions still running, waits until their conversations are released, and hangs up. */
  async leave(): Promise<void> {
    this.#left = true
    clearTimeout(this.#redial)
    for (const session of [...this.#sessions.keys()]) {
      this.send({ type: 'ended', session, reason: 'worker_drained' })
      this.#end(session, 'worker_drained')
    }
    await Promise.all(this.#closing)
    const socket = this.#socket
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve())
      setTimeout(() => socket.terminate(), 1_000).unref()
      if (socket.readyState === WebSocket.OPEN) socket.close(LEAVING, 'stopping')
      else socket.terminate()
    })
  }

  #dial(): void {
    const { token, workerId, capacity, metricsUrl, clock, log } = this.#worker.options
    const socket = new WebSocket(this.#url, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    })
    this.#socket = socket
    socket.binaryType = 'nodebuffer'
    socket.on(
      'open',
      boundary('link', () => {
        this.#heardAtMs = clock.monotonicMs()
        this.#beatAtMs = this.#heardAtMs
        this.send({ type: 'hello', protocol: LINK_PROTOCOL, workerId, capacity, metricsUrl })
        this.beat()
        this.#heartbeat = setInterval(
          boundary('link', () => this.beat()),
          HEARTBEAT_MS,
        )
      }),
    )
    socket.on(
      'message',
      boundary('link', (data: Buffer, isBinary) => {
        this.#heardAtMs = clock.monotonicMs()
        if (isBinary) this.#receiveAudio(data)
        else this.#receive(data.toString())
      }),
    )
    socket.on(
      'error',
      boundary('link', (err) => {
        // Said once: an api node that is down would fill the log.
        if (this.#attempts === 0) log.warn({ err, url: this.#url }, 'Link to an api node failed')
      }),
    )
    socket.on(
      'close',
      boundary('link', () => this.#lost(socket)),
    )
  }

  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return
    clearInterval(this.#heartbeat)
    clearTimeout(this.#holding)
    this.#batch.stop()
    for (const session of [...this.#sessions.keys()]) this.#end(session, 'link_lost')
    // Their numbers will belong to other sessions.
    for (const port of this.#ports) port.end()
    this.#ports.clear()
    if (this.#left) return
    const limitMs = Math.min(MIN_RECONNECT_MS * 2 ** Math.min(this.#attempts, 10), MAX_RECONNECT_MS)
    this.#attempts++
    this.#redial = setTimeout(
      boundary('link', () => this.#dial()),
      limitMs * (0.5 + this.#worker.options.random() / 2),
    )
  }

  #fail(reason: string): void {
    this.#worker.options.log.error({ url: this.#url, reason }, 'Malformed data from an api node')
    this.#socket?.terminate()
  }

  #receiveAudio(data: Uint8Array): void {
    const chunks = decodeAudio(data)
    if (chunks === undefined) {
      this.#fail('audio')
      return
    }
    for (const { session, timestamp, bytes } of chunks) {
      this.#tell(session, (conversation) => conversation.audio(bytes, timestamp))
    }
  }

  #receive(json: string): void {
    const message = decodeNodeMessage(json)
    if (message === undefined) {
      this.#misread(json)
      return
    }
    if (message.type === 'welcome') {
      this.#holding = setTimeout(
        boundary('link', () => {
          this.#attempts = 0
        }),
        HELD_MS,
      ).unref()
      this.#worker.welcomed.resolve()
      this.#worker.options.log.info({ url: this.#url, nodeId: message.nodeId }, 'Linked to an api node')
      return
    }
    if (message.type === 'beat') return
    if (message.type === 'open') {
      inBackground('link', this.#open(message))
      return
    }
    if (message.type === 'warm') {
      this.#worker.options.warm?.(message.callId, message.agent)
      return
    }
    if (message.type === 'drain') {
      this.#worker.options.drain?.()
      this.beat()
      return
    }
    const running = this.#sessions.get(message.session)
    if (running === undefined) return
    switch (message.type) {
      case 'event':
        this.#tell(message.session, (conversation) => conversation.input(message.event))
        break
      case 'played':
        this.#tell(message.session, (conversation) => conversation.played(message.id))
        break
      case 'answer':
        running.port.answer(message.id, message.result, message.error)
        break
      case 'close':
        this.#end(message.session, message.reason)
        return
    }
  }

  /** A malformed message affects its session alone. A malformed hint is ignored. */
  #misread(json: string): void {
    const session = sessionIn(json)
    const type = typeIn(json)
    if (session === undefined) {
      if (type !== 'warm') this.#fail(`a malformed message of type "${type ?? ''}"`)
      return
    }
    this.#worker.options.log.error({ url: this.#url, session, type }, 'Malformed message from an api node')
    const message = `The voice worker could not read the api node's message "${type ?? ''}"`.slice(
      0,
      MAX_SENTENCE_CHARS,
    )
    const running = this.#sessions.get(session)
    if (running !== undefined) running.port.ended('error', message)
    else if (type === 'open') this.send({ type: 'rejected', session, reason: 'failed', message })
  }

  /** Tells the api node that nothing more comes of the session, unless the link to it is another one by now. */
  #closed(session: number, port: LinkPort): void {
    if (this.#ports.delete(port)) this.send({ type: 'closed', session })
    port.end()
  }

  /** A conversation that throws ends itself alone. */
  #tell(session: number, act: (conversation: LinkedConversation) => void): void {
    const running = this.#sessions.get(session)
    if (running?.conversation === undefined) return
    try {
      act(running.conversation)
    } catch (err) {
      this.#worker.options.log.error({ err, session }, 'A conversation failed')
      running.port.ended('error', new PatchbayError('internal').message)
    }
  }

  async #open(open: Extract<NodeMessage, { type: 'open' }>): Promise<void> {
    const { session } = open
    const { openConversation, log } = this.#worker.options
    const reject = (reason: Extract<WorkerMessage, { type: 'rejected' }>['reason'], message: string): void =>
      this.send({ type: 'rejected', session, reason, message })
    const state = this.#worker.state()
    const announcement = open.announcement === true
    const takes = state === 'ready' || (state === 'overloaded' && (open.reserved === true || announcement))
    if (!takes) return reject(state, `The worker is ${state}`)
    if (this.#sessions.has(session)) return this.#fail(`session ${session} twice`)
    if (!this.#worker.taken(announcement)) return reject('full', 'The worker is full')

    const port = new LinkPort(session, this, () => this.#end(session, 'ended'))
    const running: RunningSession = { port, conversation: undefined, over: false, announcement }
    this.#sessions.set(session, running)
    let giveUp: NodeJS.Timeout | undefined
    const opening = (async () => openConversation(open, port))()
    try {
      const conversation = await Promise.race([
        opening,
        new Promise<never>((_, reject) => {
          giveUp = setTimeout(
            boundary('link', () => {
              const params = { action: 'Opening the conversation', timeoutMs: OPEN_TIMEOUT_MS }
              reject(new PatchbayError('timeout', { params }))
            }),
            OPEN_TIMEOUT_MS,
          )
        }),
      ])
      if (running.over) {
        this.#release(session, conversation, running, 'closed')
        return
      }
      running.conversation = conversation
      this.send({ type: 'accepted', session })
      port.start()
    } catch (err) {
      log.warn({ err, callId: open.callId }, 'A conversation could not be opened')
      const known = err instanceof PatchbayError
      if (known && err.code === 'timeout') {
        opening.then(
          (late) => late.close('timeout').catch(() => undefined),
          () => undefined,
        )
      }
      if (!running.over) {
        this.#sessions.delete(session)
        const bad = known && FAULTS_OF_AGENTS.has(err.code)
        const sentence = known ? err.message : new PatchbayError('internal').message
        reject(bad ? 'bad_agent' : 'failed', cutText(sentence, MAX_SENTENCE_CHARS))
      }
      this.#closed(session, port)
      this.#worker.released(announcement)
    } finally {
      clearTimeout(giveUp)
    }
  }

  /** The session is over on this side; its conversation is released in the background. */
  #end(session: number, reason: string): void {
    const running = this.#sessions.get(session)
    if (running === undefined) return
    this.#sessions.delete(session)
    running.over = true
    running.port.close()
    this.#ports.add(running.port)
    if (running.conversation !== undefined) this.#release(session, running.conversation, running, reason)
  }

  /** Closes the conversation, which tells what it used to the end, and says that this was all. */
  #release(
    session: number,
    conversation: LinkedConversation,
    { port, announcement }: RunningSession,
    reason: string,
  ): void {
    const closing = (async () => {
      let timer: NodeJS.Timeout | undefined
      try {
        await Promise.race([
          conversation.close(reason),
          new Promise<never>((_, reject) => {
            const params = { action: 'Closing the conversation', timeoutMs: CLOSE_TIMEOUT_MS }
            timer = setTimeout(() => reject(new PatchbayError('timeout', { params })), CLOSE_TIMEOUT_MS)
          }),
        ])
      } catch (err) {
        this.#worker.options.log.error({ err, session }, 'Could not close a conversation')
      } finally {
        clearTimeout(timer)
        this.#closed(session, port)
        this.#worker.released(announcement)
      }
    })()
    this.#closing.add(closing)
    inBackground(
      'link',
      closing.finally(() => this.#closing.delete(closing)),
    )
  }
}
