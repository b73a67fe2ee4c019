import { CallError } from './call-error.ts'
import type { ClientMessage, ServerMessage } from './protocol.ts'

const OPEN_TIMEOUT_MS = 10_000
/** Asked this often whether the server is there; silent this long, and the connection is dead though nobody says so. */
const PING_MS = 2_000
const SILENT_MS = 5_000
/** Where the sound stopped, too, less is waited for. */
const SUSPECTED_MS = 1_000
/** The server keeps a session this long for a client that lost its connection. */
const RESUME_MS = 20_000
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 2_000
/** The peer that is asked whether it is there. */
const ANSWER_TIMEOUT_MS = 3_000
/** Of that many tries one opens a connection whatever was answered: a page's policy may forbid to ask. */
const BLIND_EVERY = 3
/** A connection that is open says within this time that the session goes on, or where it lives. */
const RESUMED_MS = 5_000
/** Said while there is no connection. */
const MOST_WAITING = 32

export interface SessionSocketEvents {
  message(message: ServerMessage): void
  audio(bytes: ArrayBuffer): void
  /** The connection is lost; it is looked for. */
  lost(): void
  /** The session goes on. */
  resumed(): void
  /** Over for good, by no word of the server. */
  failed(reason: 'connection_failed' | 'connection_lost'): void
}

/** Not everywhere is a page. */
const page = globalThis as Partial<EventTarget>

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Whether anybody answers there, whatever they say. Firefox has a host wait whose WebSockets failed, longer each time, up to a
 * minute: it would be found again too late.
 */
async function isThere(url: URL): Promise<boolean> {
  const asked = new URL(url)
  asked.protocol = url.protocol === 'wss:' ? 'https:' : 'http:'
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    await fetch(asked, { method: 'HEAD', mode: 'no-cors', credentials: 'omit', signal })
    return true
  } catch {
    return false
  }
}

/** The WebSocket of a session, or one after the other: a lost connection is replaced while the server keeps the session. */
export class SessionSocket {
  readonly #events: SessionSocketEvents
  readonly #url: URL
  #socket: WebSocket | undefined
  #resumeToken: string | undefined
  #resumeUrl: URL
  #waiting: ClientMessage[] = []
  #pinging: ReturnType<typeof setInterval> | undefined
  #heardAtMs = 0
  #lookedAtMs = 0
  #retrying = false
  #over = false

  constructor(url: string, media: 'websocket' | 'webrtc', events: SessionSocketEvents) {
    this.#url = new URL(url)
    this.#url.searchParams.set('media', media)
    this.#resumeUrl = new URL(this.#url.pathname, this.#url)
    this.#events = events
    page.addEventListener?.('online', this.#online)
    this.#open(this.#url).catch(() => this.#fail('connection_failed'))
  }

  send(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN && !this.#retrying) this.#socket.send(JSON.stringify(message))
    // A client that reconnects gets an offer: messages about an earlier offer are out of date.
    else if (!this.#over && !message.type.startsWith('webrtc.') && this.#waiting.length < MOST_WAITING) {
      this.#waiting.push(message)
    }
  }

  /** Audio of a moment without a connection is nobody's. */
  sendAudio(bytes: ArrayBuffer): void {
    if (this.#socket?.readyState === WebSocket.OPEN && !this.#retrying) this.#socket.send(bytes)
  }

  /** The sound stopped: as a rule the network is another one, and this connection as dead. */
  suspect(): void {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN || this.#retrying) return
    const askedAtMs = performance.now()
    socket.send(JSON.stringify({ type: 'ping' } satisfies ClientMessage))
    setTimeout(() => {
      if (this.#heardAtMs >= askedAtMs) return
      // Of a page that stood still the answer may be there unread.
      if (performance.now() - askedAtMs > 2 * SUSPECTED_MS) this.suspect()
      else this.#drop(socket)
    }, SUSPECTED_MS)
  }

  close(message?: ClientMessage): void {
    if (message !== undefined) this.send(message)
    this.#finish()
  }

  /** A network came up: no need to wait for the old connection's silence. */
  readonly #online = (): void => {
    if (this.#resumeToken !== undefined) this.#drop(this.#socket)
  }

  #open(url: URL): Promise<void> {
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    this.#heardAtMs = performance.now()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => socket.close(), OPEN_TIMEOUT_MS)
      socket.onopen = () => {
        clearTimeout(timer)
        this.#heardAtMs = performance.now()
        clearInterval(this.#pinging)
        this.#lookedAtMs = this.#heardAtMs
        this.#pinging = setInterval(() => this.#ping(socket), PING_MS)
        resolve()
      }
      socket.onmessage = ({ data }) => {
        if (socket !== this.#socket || this.#over) return
        this.#heardAtMs = performance.now()
        if (typeof data === 'string') this.#received(JSON.parse(data) as ServerMessage)
        else this.#events.audio(data as ArrayBuffer)
      }
      socket.onclose = () => {
        clearTimeout(timer)
        reject(new CallError('connection_failed', `${url.host} was not reached`))
        this.#drop(socket)
      }
    })
  }

  #ping(socket: WebSocket): void {
    const nowMs = performance.now()
    // While the page stood still it read nothing: that is no silence of the server's.
    const stoodMs = Math.max(0, nowMs - this.#lookedAtMs - PING_MS)
    this.#lookedAtMs = nowMs
    this.#heardAtMs = Math.min(nowMs, this.#heardAtMs + stoodMs)
    if (nowMs - this.#heardAtMs > SILENT_MS) this.#drop(socket)
    else if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'ping' } satisfies ClientMessage))
  }

  #received(message: ServerMessage): void {
    switch (message.type) {
      case 'session.started':
        this.#resumeToken = message.resume_token
        break
      case 'session.resumed':
        this.#resumeToken = message.resume_token
        this.#retrying = false
        this.#events.resumed()
        for (const waiting of this.#waiting.splice(0)) this.send(waiting)
        return
      case 'session.moved':
        this.#resumeUrl = new URL(new URL(message.url).pathname, message.url)
        return
      case 'session.ended':
        this.#finish()
        break
      case 'pong':
        return
    }
    this.#events.message(message)
  }

  /** This connection is of no use any more. */
  #drop(socket: WebSocket | undefined): void {
    if (this.#over || socket === undefined || socket !== this.#socket) return
    clearInterval(this.#pinging)
    this.#socket = undefined
    socket.close()
    if (this.#retrying) return
    if (this.#resumeToken === undefined) this.#fail('connection_lost')
    else void this.#resume()
  }

  async #resume(): Promise<void> {
    this.#retrying = true
    this.#events.lost()
    const endMs = performance.now() + RESUME_MS
    let retryMs = FIRST_RETRY_MS
    for (let tries = 0; this.#retrying && !this.#over; tries++) {
      if (performance.now() > endMs) return this.#fail('connection_lost')
      const url = new URL(this.#resumeUrl)
      url.searchParams.set('resume', this.#resumeToken ?? '')
      if (tries % BLIND_EVERY === 0 || (await isThere(this.#resumeUrl))) await this.#open(url).catch(() => undefined)
      const socket = this.#socket
      if (socket !== undefined && (await this.#isResumed(socket))) return
      await wait(retryMs)
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)
    }
  }

  /** Whether the session goes on over an open connection, which is left where it says nothing for too long. */
  async #isResumed(socket: WebSocket): Promise<boolean> {
    const timer = setTimeout(() => this.#drop(socket), RESUMED_MS)
    while (this.#retrying && !this.#over && socket === this.#socket) await wait(FIRST_RETRY_MS)
    clearTimeout(timer)
    return !this.#retrying
  }

  #fail(reason: 'connection_failed' | 'connection_lost'): void {
    if (this.#over) return
    this.#finish()
    this.#events.failed(reason)
  }

  #finish(): void {
    this.#over = true
    clearInterval(this.#pinging)
    page.removeEventListener?.('online', this.#online)
    this.#socket?.close(1000)
  }
}
