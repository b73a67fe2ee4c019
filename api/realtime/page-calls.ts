import type { PageCall, PageResult } from '../../runtime/call/types/leg.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { ClientMessage, ServerMessage } from './messages.ts'

/** Calls of one page that wait at once; an agent has no use for more. */
const MOST_WAITING = 16

interface Waiting {
  resolve(result: PageResult): void
  timer: NodeJS.Timeout
}

/** The functions of a caller's page, called over its session: each is answered once, in time or not at all. */
export class PageCalls {
  readonly #send: (message: ServerMessage) => void
  readonly #waiting = new Map<string, Waiting>()

  constructor(send: (message: ServerMessage) => void) {
    this.#send = send
  }

  call({ id, name, arguments: given, timeoutMs }: PageCall): Promise<PageResult> {
    if (this.#waiting.has(id) || this.#waiting.size >= MOST_WAITING) {
      return Promise.resolve({ error: 'it has too much to do already' })
    }
    return new Promise((resolve) => {
      const timer = setTimeout(
        boundary('websocket', () => this.#settle(id, { error: `it did not answer within ${timeoutMs} ms` })),
        timeoutMs,
      )
      this.#waiting.set(id, { resolve, timer })
      this.#send({ type: 'tool.call', call_id: id, name, arguments: given })
    })
  }

  /** False: no pending call has this id. */
  answered({ call_id: id, result, error }: Extract<ClientMessage, { type: 'tool.result' }>): boolean {
    // Results without a pending call are dropped.
    if (!this.#waiting.has(id)) return false
    if (error !== undefined) return this.#settle(id, { error })
    return this.#settle(id, { result: typeof result === 'string' ? result : JSON.stringify(result ?? null) })
  }

  /** The session is over. */
  close(): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { error: 'the caller has left' })
  }

  #settle(id: string, result: PageResult): boolean {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return false
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    waiting.resolve(result)
    return true
  }
}
