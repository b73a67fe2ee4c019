/** What the session is to be told next. */
type SequencerOrder<T> = { type: 'respond'; of: T } | { type: 'cancel'; responseId: string }

/** Refusals in a row after which a request is given up: the session is in a state that we don't know of. */
const MAX_REFUSALS = 3

interface Request<T> {
  readonly of: T
  isCancelled: boolean
}

/**
 * Sees to it that a session has one response at a time, and that each event belongs to the request it answers. A request that comes
 * while a response runs waits for its end, behind those that came before; a response that is cancelled before it began is cancelled
 * once it has. Pure.
 */
export class ResponseSequencer<T> {
  /** Asked for; its response has not begun. */
  #asked: Request<T> | undefined
  #running: { request: Request<T>; responseId: string } | undefined
  #waiting: Request<T>[] = []
  #refusals = 0

  /** Asks for a response. */
  request(of: T): SequencerOrder<T>[] {
    this.#waiting.push({ of, isCancelled: false })
    return this.#next()
  }

  /** Nobody wants the response of this request any more. */
  cancel(of: T): SequencerOrder<T>[] {
    this.#waiting = this.#waiting.filter((request) => request.of !== of)
    if (this.#asked?.of === of) this.#asked.isCancelled = true
    const running = this.#running
    if (running?.request.of !== of || running.request.isCancelled) return []
    running.request.isCancelled = true
    return [{ type: 'cancel', responseId: running.responseId }]
  }

  started(responseId: string): SequencerOrder<T>[] {
    const request = this.#asked
    // One that we did not ask for: nobody hears it.
    if (request === undefined) return [{ type: 'cancel', responseId }]
    this.#asked = undefined
    this.#refusals = 0
    this.#running = { request, responseId }
    return request.isCancelled ? [{ type: 'cancel', responseId }] : []
  }

  /** The request that a response answers; undefined where nobody wants it. */
  ownerOf(responseId: string): T | undefined {
    const { request, responseId: running } = this.#running ?? {}
    return running === responseId && request?.isCancelled === false ? request.of : undefined
  }

  done(responseId: string): SequencerOrder<T>[] {
    if (this.#running?.responseId === responseId) this.#running = undefined
    return this.#next()
  }

  /**
   * The session has another response: the request is put again once that is over.
   *
   * @returns `undefined` where it was refused too often
   */
  refused(): SequencerOrder<T>[] | undefined {
    const request = this.#asked
    this.#asked = undefined
    if (request === undefined || request.isCancelled) return this.#next()
    if (++this.#refusals >= MAX_REFUSALS) return undefined
    this.#waiting.unshift(request)
    return this.#running === undefined ? this.#next() : []
  }

  #next(): SequencerOrder<T>[] {
    if (this.#asked !== undefined || this.#running !== undefined) return []
    this.#asked = this.#waiting.shift()
    return this.#asked === undefined ? [] : [{ type: 'respond', of: this.#asked.of }]
  }
}
