import { WebSocket } from 'ws'
import { boundary } from '../../lib/async/boundary.ts'
import { joinSignals } from '../../lib/async/join-signals.ts'
import { explainFailure, ProviderError, type ProviderIdentity } from '../provider-error.ts'
import { closeNow, openSocket, type SocketAddress } from './socket.ts'

/** An idle connection is kept this long: providers close silent ones sooner or later, and each counts as one in use. */
const MAX_IDLE_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000

/** At most one idle connection, so that the next utterance need not wait for a handshake. */
export class SocketPool {
  readonly #provider: ProviderIdentity
  readonly #address: SocketAddress
  readonly #closing = new AbortController()
  #idle: Promise<WebSocket> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(provider: ProviderIdentity, address: SocketAddress) {
    this.#provider = provider
    this.#address = address
  }

  /** Opens the idle connection unless there is one. Its failure shows when it is taken. */
  prewarm(): void {
    if (this.#closing.signal.aborted || this.#idle !== undefined) return
    const opening = openSocket(this.#provider, this.#address, {
      timeoutMs: CONNECT_TIMEOUT_MS,
      signal: this.#closing.signal,
    })
    this.#keep(opening)
    opening.then(
      (socket) => {
        if (this.#closing.signal.aborted) closeNow(socket)
        else this.#watch(opening, socket)
      },
      () => {},
    )
  }

  /** An open idle connection. Throws as `openSocket` does. */
  async take(timeoutMs: number, signal: AbortSignal): Promise<WebSocket> {
    const idle = this.#idle
    this.#forget()
    if (idle !== undefined) {
      const socket = await this.#inTime(idle, timeoutMs)
      if (signal.aborted) {
        this.give(socket)
        signal.throwIfAborted()
      }
      if (socket.readyState === WebSocket.OPEN) return socket
      closeNow(socket)
    }
    const joined = joinSignals(this.#closing.signal, signal)
    return openSocket(this.#provider, this.#address, { timeoutMs, signal: joined })
  }

  /** Gives a healthy connection back, its listeners removed. */
  give(socket: WebSocket): void {
    if (this.#closing.signal.aborted || this.#idle !== undefined || socket.readyState !== WebSocket.OPEN) {
      closeNow(socket)
      return
    }
    const idle = Promise.resolve(socket)
    this.#keep(idle)
    this.#watch(idle, socket)
  }

  close(): void {
    this.#closing.abort()
    const idle = this.#idle
    this.#forget()
    idle?.then(closeNow, () => {})
  }

  /** The connection that is being opened, or a failure when it takes too long; then it is closed once it comes. */
  async #inTime(idle: Promise<WebSocket>, timeoutMs: number): Promise<WebSocket> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      boundary('provider', () => {
        idle.then(closeNow, () => {})
        late.reject(new ProviderError(explainFailure(this.#provider, { code: 'ETIMEDOUT' })))
      }),
      timeoutMs,
    )
    try {
      return await Promise.race([idle, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #keep(idle: Promise<WebSocket>): void {
    this.#idle = idle
    this.#timer = setTimeout(
      boundary('provider', () => {
        if (this.#idle !== idle) return
        this.#forget()
        idle.then(closeNow, () => {})
      }),
      MAX_IDLE_MS,
    )
    this.#timer.unref()
  }

  #watch(idle: Promise<WebSocket>, socket: WebSocket): void {
    socket.once(
      'close',
      boundary('provider', () => {
        if (this.#idle === idle) this.#forget()
      }),
    )
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#idle = undefined
  }
}
