import { boundary } from '../../runtime/lib/async/boundary.ts'

/** Server-sent events (WHATWG HTML, 9.2). */

/** Proxies and browsers give up a connection that is silent for long. */
const COMMENT_MS = 8_000
/** Streams end periodically, so that permissions are checked again; clients resume by themselves. */
export const MAX_STREAM_S = 900
/** Events that wait for a client. */
const MAX_WAITING = 1_000

export const STREAM_HEADERS = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-store'],
  // Proxies that gather answers would hold events back.
  ['x-accel-buffering', 'no'],
] as const

interface SentEvent {
  /** Where a client that comes back goes on. */
  id?: string
  event: string
  data: unknown
}

export const eventText = ({ id, event, data }: SentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** The bounded queue of one client; a too slow client is disconnected with a retry hint. */
export class EventQueue {
  #waiting: SentEvent[] = []
  #wake: (() => void) | undefined
  #closed = false

  get waiting(): number {
    return this.#waiting.length
  }

  push(event: SentEvent): void {
    if (this.#closed) return
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.push({ event: 'stream.slow', data: { detail: 'Reading too slowly; come back with Last-Event-ID' } })
      this.close()
      return
    }
    this.#waiting.push(event)
    this.#wake?.()
  }

  /** What waits is still sent. */
  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  /** Ends with the queue, with the signal, or after so many seconds, in that case once nothing waits. */
  async *read(seconds: number, signal: AbortSignal): AsyncGenerator<string> {
    const untilMs = performance.now() + seconds * 1_000
    yield ': open\n\n'
    for (;;) {
      const events = this.#waiting
      this.#waiting = []
      if (events.length > 0) yield events.map(eventText).join('')
      const leftMs = untilMs - performance.now()
      if (signal.aborted || ((this.#closed || leftMs <= 0) && this.#waiting.length === 0)) return
      if (this.#waiting.length === 0 && !(await this.#news(Math.min(COMMENT_MS, leftMs), signal)))
        yield ': still here\n\n'
    }
  }

  /** False when nothing came within that time. */
  #news(withinMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (came: boolean) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#wake = undefined
        resolve(came)
      }
      const wake = boundary('redis', () => done(true))
      const timer = setTimeout(
        boundary('redis', () => done(false)),
        withinMs,
      )
      this.#wake = wake
      signal.addEventListener('abort', wake)
      if (this.#closed || signal.aborted) wake()
    })
  }
}
