import type { Worker } from 'node:worker_threads'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { endThread, startThread } from '../../process/offload/thread.ts'
import type { BlockInfo, BlockMatch, ShelvedRow } from './blocks.ts'
import type { DenseModel } from './row.ts'

export interface ThreadData {
  leg: SearchLeg
  /** Per slot: 1 when its search was abandoned. */
  ignored: Int32Array<SharedArrayBuffer>
}

/** What a thread searches by. Vectors of another model are left out. */
export type SearchLeg = { by: 'words' } | { by: 'meaning'; model: DenseModel }

export type ToThread =
  | { type: 'add'; call: number; first: number; rows: readonly ShelvedRow[] }
  | { type: 'drop'; blocks: readonly number[] }
  | { type: 'search'; call: number; slot: number; blocks: Uint32Array; query: unknown; limit: number }

export type FromThread = { call: number; result: unknown } | { call: number; error: Error }

export interface SearchThreadOptions {
  leg: SearchLeg
  /** What the thread runs. Default: thread.ts. */
  entry?: URL
  timeoutMs?: number
  /** Called with the reason when the thread ends unexpectedly. */
  onLost?: (error: PatchbayError) => void
}

/** Searches under way and waiting; each of them takes milliseconds. One more is `unavailable`. */
const MAX_SEARCHES = 256
/** A machine without rest may take seconds to start a thread. */
const TIMEOUT_MS = 30_000

interface Call {
  resolve(result: unknown): void
  reject(error: unknown): void
  /** Once the thread is done with it, which may be after the caller gave it up. */
  end(): void
}

/**
 * Blocks of the indexes of all agents and the searches by one leg in a thread of their own: comparing 100,000 vectors takes
 * about as long as the event loop has for a frame of every caller's audio. The thread starts with the first block. It ends
 * with `close`, when it fails, and when it is stuck; with it go its blocks, and every call throws `unavailable` from then on.
 */
export class SearchThread<Query> {
  readonly #options: SearchThreadOptions
  readonly #ignored = new Int32Array(new SharedArrayBuffer(MAX_SEARCHES * Int32Array.BYTES_PER_ELEMENT))
  readonly #freeSlots = Array.from(this.#ignored.keys())
  readonly #calls = new Map<number, Call>()
  #worker: Worker | undefined
  #ended: PatchbayError | undefined
  #lastCall = 0
  #answers = 0

  constructor(options: SearchThreadOptions) {
    this.#options = options
  }

  /** Blocks.add. Throws `timeout` or `unavailable`, and `internal` when a row is invalid. */
  add(first: number, rows: readonly ShelvedRow[]): Promise<BlockInfo[]> {
    return this.#call('Reading a knowledge base', (call) => ({ type: 'add', call, first, rows }))
  }

  /** Searches that were sent before still find the blocks. */
  drop(blocks: readonly number[]): void {
    const message: ToThread = { type: 'drop', blocks }
    if (blocks.length > 0) this.#worker?.postMessage(message)
  }

  /** Searches blocks that were added and not dropped. Throws the signal's reason, `timeout` or `unavailable`. */
  async search(blocks: Uint32Array, query: Query, limit: number, signal: AbortSignal): Promise<BlockMatch[]> {
    signal.throwIfAborted()
    const slot = this.#freeSlots.pop()
    if (slot === undefined) throw unavailable(`More than ${MAX_SEARCHES} searches wait`)
    Atomics.store(this.#ignored, slot, 0)
    const message = (call: number): ToThread => ({ type: 'search', call, slot, blocks, query, limit })
    return this.#call('Searching a knowledge base', message, { slot, signal })
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#end(unavailable('The search thread was closed'))
  }

  #call<T>(
    action: string,
    message: (call: number) => ToThread,
    search?: { slot: number; signal: AbortSignal },
  ): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const { timeoutMs = TIMEOUT_MS } = this.#options
    const answers = this.#answers
    const giveUp = (reason: unknown) => {
      if (search !== undefined) Atomics.store(this.#ignored, search.slot, 1)
      reject(reason)
    }
    const onAbort = boundary('provider', () => giveUp(search?.signal.reason))
    search?.signal.addEventListener('abort', onAbort, { once: true })
    const timer = setTimeout(
      boundary('provider', () => {
        giveUp(new PatchbayError('timeout', { params: { action, timeoutMs } }))
        // Where others were answered meanwhile it is busy, not stuck.
        if (this.#answers === answers) this.#lose(unavailable(`The search thread gave no answer for ${timeoutMs} ms`))
      }),
      timeoutMs,
    )
    const call = ++this.#lastCall
    this.#calls.set(call, {
      resolve: (result) => resolve(result as T),
      reject,
      end: () => {
        clearTimeout(timer)
        search?.signal.removeEventListener('abort', onAbort)
        if (search !== undefined) this.#freeSlots.push(search.slot)
      },
    })
    this.#worker ??= this.#start()
    this.#worker.postMessage(message(call))
    this.#worker.ref()
    return promise
  }

  #start(): Worker {
    const { leg, entry = new URL('./thread.ts', import.meta.url) } = this.#options
    const workerData: ThreadData = { leg, ignored: this.#ignored }
    const worker = startThread(entry, {
      workerData,
      name: `search-by-${leg.by}`,
      // The thread reads nothing of the environment.
      env: {},
      // Rows pass through it while it reads an index: the less room there is, the sooner it lets go of them.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    })
    worker.on(
      'message',
      boundary('provider', (message: FromThread) => this.#onAnswer(message)),
    )
    worker.on(
      'error',
      boundary('provider', (error) => this.#lose(unavailable('The search thread failed', error))),
    )
    worker.on(
      'exit',
      boundary('provider', (code) => this.#lose(unavailable(`The search thread ended with code ${code}`))),
    )
    return worker
  }

  #onAnswer(message: FromThread): void {
    this.#answers++
    const call = this.#calls.get(message.call)
    if (call === undefined) return
    this.#calls.delete(message.call)
    call.end()
    if ('error' in message) call.reject(new PatchbayError('internal', { cause: message.error }))
    else call.resolve(message.result)
    // An idle thread keeps no process from ending.
    if (this.#calls.size === 0) this.#worker?.unref()
  }

  #lose(error: PatchbayError): void {
    if (this.#ended !== undefined) return
    inBackground('provider', this.#end(error))
    this.#options.onLost?.(error)
  }

  async #end(error: PatchbayError): Promise<void> {
    this.#ended ??= error
    for (const call of this.#calls.values()) {
      call.end()
      call.reject(this.#ended)
    }
    this.#calls.clear()
    if (this.#worker !== undefined) await endThread(this.#worker)
  }
}

function unavailable(why: string, cause?: unknown): PatchbayError {
  return new PatchbayError('unavailable', { cause: cause === undefined ? new Error(why) : new Error(why, { cause }) })
}
