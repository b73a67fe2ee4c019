import { inBackground } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { OffloadError, type OffloadTask, offload } from '../../process/offload/offload.ts'
import type { BlockInfo, BlockMatch, ShelvedRow } from './blocks.ts'
import type { DenseModel } from './row.ts'

/** What a thread searches by. Vectors of another model are left out. */
export type SearchLeg = { by: 'words' } | { by: 'meaning'; model: DenseModel }

export type SearchWork =
  | { type: 'add'; first: number; rows: readonly ShelvedRow[] }
  | { type: 'drop'; blocks: readonly number[] }
  | { type: 'search'; blocks: Uint32Array; query: unknown; limit: number; documents: readonly string[] | undefined }

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

/**
 * Blocks of the indexes of all agents and the searches by one leg in a thread of their own: comparing 100,000 vectors takes
 * about as long as the event loop has for a frame of every caller's audio. The thread starts with the first block. It ends
 * with `close`, when it fails, and when it is stuck; with it go its blocks, and every call throws `unavailable` from then on.
 */
export class SearchThread<Query> {
  readonly #task: OffloadTask<SearchWork>
  readonly #timeoutMs: number
  #searches = 0
  #ended: PatchbayError | undefined

  constructor({ leg, entry, timeoutMs = TIMEOUT_MS, onLost }: SearchThreadOptions) {
    this.#timeoutMs = timeoutMs
    this.#task = {
      name: `search-by-${leg.by}`,
      kind: 'search',
      entry: entry ?? new URL('./thread.ts', import.meta.url),
      // As its loop: callers wait for it, and it holds locks of the process's memory.
      priority: 'loop',
      workers: 1,
      atOnce: Number.POSITIVE_INFINITY,
      maxWaiting: Number.POSITIVE_INFINITY,
      // Rows pass through it while it reads an index: the less room there is, the sooner it lets go of them.
      youngMb: 4,
      setup: leg,
      onLost: (error) => {
        if (this.#ended !== undefined) return
        this.#ended = unavailable(error.message, error.cause)
        onLost?.(this.#ended)
      },
    }
  }

  /** Blocks.add. Throws `timeout` or `unavailable`, and `internal` when a row is invalid. */
  add(first: number, rows: readonly ShelvedRow[]): Promise<BlockInfo[]> {
    return this.#run('Reading a knowledge base', { type: 'add', first, rows })
  }

  /** Searches that were sent before still find the blocks. */
  drop(blocks: readonly number[]): void {
    if (blocks.length === 0 || this.#ended !== undefined) return
    const dropping = this.#run('Forgetting a knowledge base', { type: 'drop', blocks })
    // With the thread go its blocks.
    inBackground(
      'provider',
      dropping.catch(() => {}),
    )
  }

  /** Searches blocks that were added and not dropped, or their chunks of some documents. Throws the signal's reason, `timeout` or `unavailable`. */
  async search(
    blocks: Uint32Array,
    query: Query,
    limit: number,
    signal: AbortSignal,
    documents?: readonly string[],
  ): Promise<BlockMatch[]> {
    signal.throwIfAborted()
    if (this.#searches >= MAX_SEARCHES) throw unavailable(`More than ${MAX_SEARCHES} searches wait`)
    this.#searches++
    try {
      return await this.#run('Searching a knowledge base', { type: 'search', blocks, query, limit, documents }, signal)
    } finally {
      this.#searches--
    }
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#ended ??= unavailable('The search thread was closed')
    await offload.close(this.#task)
  }

  async #run<T>(action: string, work: SearchWork, signal?: AbortSignal): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    try {
      const limits = { deadlineMs: this.#timeoutMs, ...(signal === undefined ? {} : { signal }) }
      return (await offload.run(this.#task, work, { workspaceId: '', ...limits })) as T
    } catch (error) {
      if (!(error instanceof OffloadError)) throw error
      if (error.reason === 'failed') throw new PatchbayError('internal', { cause: error.thrown })
      if (error.reason !== 'timeout') throw this.#ended ?? unavailable(error.message, error.cause)
      throw new PatchbayError('timeout', { params: { action, timeoutMs: this.#timeoutMs } })
    }
  }
}

function unavailable(why: string, cause?: unknown): PatchbayError {
  return new PatchbayError('unavailable', { cause: cause === undefined ? new Error(why) : new Error(why, { cause }) })
}
