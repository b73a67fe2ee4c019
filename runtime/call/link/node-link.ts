import WebSocket from 'ws'
import { backoffMs } from '../../lib/async/backoff.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { AudioBatch } from './batch.ts'
import { encodeMessage } from './fit.ts'
import { LinkSessions, type SessionHost, type SessionLink } from './link-sessions.ts'
import { LINK_PROTOCOL, type WorkerMessage } from './messages.ts'
import { decodeAudio, decodeNodeMessage, MAX_MESSAGE_BYTES, sessionIn, typeIn } from './protocol.ts'
import { MAX_SENTENCE_CHARS } from './worker-port.ts'

const HEARTBEAT_MS = 1_000
const HANDSHAKE_TIMEOUT_MS = 5_000
/** An api node that answers no heartbeat this long is gone. */
const SILENCE_TIMEOUT_MS = 5_000
/** A heartbeat so late says that this process stood still. */
const STALLED_MS = 2 * HEARTBEAT_MS
const REDIAL = { firstMs: 100, mostMs: 3_000 }
/** A link that lasted this long is redialled at once; a shorter one counts as another failure. */
const HELD_MS = 10_000
/** Audio is dropped while this much waits to be sent. */
const AUDIO_BACKPRESSURE_BYTES = 1 << 20
/** An api node that lets this much pile up is lost. */
const MAX_BACKPRESSURE_BYTES = 16 << 20
const LEAVING = 1001

/** The connection to one api node: dialled, kept alive, and dialled again when it is lost. */
export class NodeLink implements SessionLink {
  takesOwed = false
  readonly #url: string
  readonly #worker: SessionHost
  readonly #sessions: LinkSessions
  readonly #batch: AudioBatch
  #socket: WebSocket | undefined
  #attempts = 0
  #heardAtMs = 0
  #beatAtMs = 0
  #left = false
  #redial: NodeJS.Timeout | undefined
  #holding: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined

  constructor(url: string, worker: SessionHost) {
    const parsed = new URL(url)
    if (parsed.pathname === '/') parsed.pathname = '/link'
    this.#url = parsed.href
    this.#worker = worker
    this.#sessions = new LinkSessions(worker, this)
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
    this.#sessions.port(session)?.ended('error', 'The conversation has a message that is too large for the link')
  }

  audio(session: number, timestamp: number, bytes: Uint8Array): void {
    if (this.connected) this.#batch.add(session, timestamp, bytes)
  }

  /** Hands back the sessions still running, waits until their conversations are released, and hangs up. */
  async leave(): Promise<void> {
    this.#left = true
    clearTimeout(this.#redial)
    await this.#sessions.leave()
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
    const { token, workerId, capacity, metricsUrl, pool = '', clock, log } = this.#worker.options
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
        const hello = { protocol: LINK_PROTOCOL, workerId, capacity, metricsUrl, pool, reloads: true, takesKeys: true }
        this.send({ type: 'hello', ...hello })
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
    this.#sessions.lost()
    if (this.#left) return
    this.#attempts++
    const { random } = this.#worker.options
    this.#redial = setTimeout(
      boundary('link', () => this.#dial()),
      backoffMs(this.#attempts, { ...REDIAL, random }),
    )
  }

  /** What the api node sent can't be read. */
  fail(reason: string): void {
    this.#worker.options.log.error({ url: this.#url, reason }, 'Malformed data from an api node')
    this.#socket?.terminate()
  }

  #receiveAudio(data: Uint8Array): void {
    const chunks = decodeAudio(data)
    if (chunks === undefined) {
      this.fail('audio')
      return
    }
    for (const { session, timestamp, bytes } of chunks) {
      this.#sessions.tell(session, (conversation) => conversation.audio(bytes, timestamp))
    }
  }

  #receive(json: string): void {
    const message = decodeNodeMessage(json)
    if (message === undefined) {
      this.#misread(json)
      return
    }
    if (message.type === 'welcome') {
      this.takesOwed = message.takesOwed === true
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
      inBackground('link', this.#sessions.open(message))
      return
    }
    if (message.type === 'warm') {
      this.#worker.options.warm?.(message.callId, message.agent, message.keys)
      return
    }
    if (message.type === 'drain') {
      this.#worker.options.drain?.()
      this.beat()
      return
    }
    if (message.type === 'reload') {
      this.#worker.options.reload?.()
      return
    }
    if (message.type === 'keys') {
      this.#worker.options.keys?.(message.keys)
      return
    }
    const port = this.#sessions.port(message.session)
    if (port === undefined) return
    switch (message.type) {
      case 'event':
        this.#sessions.tell(message.session, (conversation) => conversation.input(message.event))
        break
      case 'played':
        this.#sessions.tell(message.session, (conversation) => conversation.played(message.id))
        break
      case 'answer':
        port.answer(message.id, message.result, message.error)
        break
      case 'close':
        this.#sessions.end(message.session, message.reason)
        return
    }
  }

  /** A malformed message affects its session alone. A malformed hint is ignored. */
  #misread(json: string): void {
    const session = sessionIn(json)
    const type = typeIn(json)
    if (session === undefined) {
      if (type !== 'warm') this.fail(`a malformed message of type "${type ?? ''}"`)
      return
    }
    this.#worker.options.log.error({ url: this.#url, session, type }, 'Malformed message from an api node')
    const message = `The voice worker could not read the api node's message "${type ?? ''}"`.slice(
      0,
      MAX_SENTENCE_CHARS,
    )
    const port = this.#sessions.port(session)
    if (port !== undefined) port.ended('error', message)
    else if (type === 'open') this.send({ type: 'rejected', session, reason: 'failed', message })
  }
}
