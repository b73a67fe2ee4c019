import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { ObjectStore, StoredObject } from '../contract.ts'
import { requireObjectKey } from '../object-key.ts'
import type { FaultOf } from './fault.ts'
import type { ObjectAct } from './messages.ts'
import { PIECE_BYTES } from './object-exchange.ts'
import type { IsolatedSession, SessionEvents } from './plugin-runner.ts'

/** How long one step may take: an answer, or a piece of an object. */
const STEP_TIMEOUT_MS = 60_000

/** Begins one use in the plugin's process. */
type Open = (act: ObjectAct, events: SessionEvents) => Promise<IsolatedSession>

/** An object store in a plugin's process. */
export function isolatedObjects(open: Open, faultOf: FaultOf): ObjectStore {
  const ask = async (act: ObjectAct, signal: AbortSignal): Promise<unknown> => {
    const use = new ObjectUse(open, act, faultOf, signal)
    await use.done()
    return use.result
  }
  return {
    async put(key, source, contentType, signal) {
      requireObjectKey(key)
      const act: ObjectAct = { name: 'put', key, size: source.size, contentType }
      const use = new ObjectUse(open, act, faultOf, signal, (start, end) => source.bytes(start, end))
      await use.done()
    },
    async get(key, signal, range) {
      requireObjectKey(key)
      const act: ObjectAct = { name: 'get', key, ...(range === undefined ? {} : { range }) }
      return new ObjectUse(open, act, faultOf, signal).object()
    },
    async url(key, link, signal) {
      requireObjectKey(key)
      const url = await ask({ name: 'url', key, link }, signal)
      if (url === null || url === undefined) return undefined
      if (typeof url === 'string' && /^https?:\/\//.test(url)) return url
      throw faultOf(new Error('it gave no address'))
    },
    async remove(key, signal) {
      requireObjectKey(key)
      await ask({ name: 'remove', key }, signal)
    },
  }
}

/** One use of the store, from the role's side. */
class ObjectUse {
  readonly #over = Promise.withResolvers<void>()
  readonly #answered = Promise.withResolvers<unknown>()
  readonly #faultOf: FaultOf
  readonly #signal: AbortSignal
  readonly #cancel = boundary('plugin', (): void => this.#end(this.#signal.reason))
  #session: IsolatedSession | undefined
  #timer: NodeJS.Timeout | undefined
  #piece: ((piece: Uint8Array | undefined) => void) | undefined
  #isOver = false
  result: unknown

  /** `read`: bytes of what is to be kept. */
  constructor(
    open: Open,
    act: ObjectAct,
    faultOf: FaultOf,
    signal: AbortSignal,
    read?: (start: number, end: number) => Promise<Uint8Array>,
  ) {
    this.#faultOf = faultOf
    this.#signal = signal
    signal.throwIfAborted()
    signal.addEventListener('abort', this.#cancel, { once: true })
    this.#over.promise.catch(() => undefined)
    this.#answered.promise.catch(() => undefined)
    this.#wait()
    const events: SessionEvents = {
      result: (result) => {
        this.#wait()
        this.result = result
        this.#answered.resolve(result)
      },
      need: (start, end) => {
        this.#wait()
        inBackground('plugin', this.#give(read, start, end))
      },
      bytes: (piece) => {
        this.#wait()
        this.#piece?.(piece)
      },
      done: () => this.#end(undefined),
      failed: (error) => this.#end(faultOf(error)),
    }
    open(act, events).then(
      (session) => {
        this.#session = session
        if (this.#isOver) session.cancel()
      },
      (error) => this.#end(faultOf(error)),
    )
  }

  done(): Promise<void> {
    return this.#over.promise
  }

  /** What was kept, read as it is asked for. */
  async object(): Promise<StoredObject | undefined> {
    const found = (await this.#answered.promise) as { size?: unknown } | null | undefined
    if (found === null || found === undefined) return undefined
    const { size } = found
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      const fault = this.#faultOf(new Error('it gave an object of no size'))
      this.#end(fault)
      throw fault
    }
    // Who takes it sets the pace.
    clearTimeout(this.#timer)
    return { size: size as number, body: this.#body() }
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = await this.#next()
        if (piece === undefined) return
        yield piece
      }
    } finally {
      this.#end(undefined)
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) {
      await this.#over.promise
      return undefined
    }
    const piece = new Promise<Uint8Array | undefined>((resolve) => {
      this.#piece = resolve
    })
    this.#wait()
    this.#session?.more()
    const next = await Promise.race([piece, this.#over.promise.then(() => undefined)])
    clearTimeout(this.#timer)
    return next
  }

  async #give(
    read: ((start: number, end: number) => Promise<Uint8Array>) | undefined,
    start: number,
    end: number,
  ): Promise<void> {
    try {
      const isPiece = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end - start <= PIECE_BYTES
      if (read === undefined || !isPiece) throw this.#faultOf(new Error('it asks for what is not there'))
      this.#session?.bytes(await read(start, end))
    } catch (error) {
      // Errors of our side are rethrown.
      this.#end(error)
    }
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (this.#isOver) return
    this.#timer = setTimeout(
      boundary('plugin', () => this.#end(this.#faultOf(new Error('it did not answer in time')))),
      STEP_TIMEOUT_MS,
    )
  }

  /** `failure` undefined: all went well. */
  #end(failure: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#cancel)
    this.#session?.cancel()
    if (failure === undefined) {
      this.#answered.resolve(this.result)
      this.#over.resolve()
    } else {
      this.#answered.reject(failure)
      this.#over.reject(failure)
    }
  }
}
