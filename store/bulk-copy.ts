import { createHash } from 'node:crypto'
import { Gate } from '../runtime/admission/gate.ts'
import { PatchbayError } from '../runtime/errors.ts'
import { startThread } from '../runtime/thread.ts'
import { WarmThreads } from '../runtime/warm-threads.ts'
import { type BulkCopyThread, type FromThread, SLOT_BYTES, type ToThread } from './bulk-copy-messages.ts'
import { openSpool } from './spool.ts'

/**
 * Loads an upload into Postgres in a thread that loads no other meanwhile, with a connection of its own and in one transaction, so
 * that a million rows neither stall the event loop that carries calls nor leave anything behind when the upload breaks off.
 */
export interface BulkCopyOptions {
  databaseUrl: string
  /** A module whose `load` is a `Loader`. */
  loader: URL
  /** Whose upload it is: workspaces take turns. */
  workspaceId: string
  /** Aborted: nothing is kept. */
  signal: AbortSignal
}

/** An upload under way. One of `commit` and `discard` ends it; whoever opened it calls `discard` in any case. */
export interface BulkCopy<P, D, R> {
  /** Keeps the source in a file until `commit`: a sender that trickles holds up no thread. Throws what the source throws. */
  feed(source: AsyncIterable<Uint8Array>): Promise<void>
  /** SHA-256 of what was fed, in hex. Asked for once. */
  digest(): string
  /**
   * Waits for a thread, loads what was fed with the loader's parameters, finishes with the details and commits. The details
   * are asked for once the file is loaded. Throws what the loader throws, and what `details` throws.
   */
  commit(params: P, details: D | (() => Promise<D>)): Promise<R>
  /** Rolls back what is not committed and releases file, thread and connection. */
  discard(): Promise<void>
}

/** Pieces under way to the thread; the source is not read further until it took one. */
const SLOTS = 8
/** One thread is left for another workspace. */
const threads = new Gate({ kind: 'bulk_upload', places: 2, mostOfOne: 1, maxWaiting: 64 })
/** Uploads that arrive at once, each with a file of its own. */
const files = new Gate({ kind: 'upload_file', places: 32, mostOfOne: 4, maxWaiting: 64 })
/** Of the uploads so far: a thread loads them as it begins, before its first file. */
const knownLoaders = new Set<string>()
const warm = new WarmThreads<FromThread>({
  start: () =>
    startThread(new URL('./bulk-copy-thread.ts', import.meta.url), {
      name: 'bulk-copy',
      workerData: { loaders: [...knownLoaders] } satisfies BulkCopyThread,
      // Most rows die young, and loaders keep some megabytes of them at most. Without a bound the old generation would grow to what
      // the process begins with before anything is collected.
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192 },
    }),
  // As many as work at once, and one that begins.
  mostWarm: 3,
})
/** No answer of the thread for this long: Postgres is stuck. */
const STALL_TIMEOUT_MS = 60_000

/** Waits for room for the file. Throws `unavailable` when too many uploads wait. */
export async function openBulkCopy<P, D, R>(options: BulkCopyOptions): Promise<BulkCopy<P, D, R>> {
  const { workspaceId, signal } = options
  const place = { workspaceId }
  const leaveFiles = await files.enter(place, signal)
  const spool = await openSpool().catch((error) => {
    leaveFiles()
    throw error
  })
  const hash = createHash('sha256')
  let thread: LoadingThread<D, R> | undefined
  let leaveThreads: (() => void) | undefined
  let ending: Promise<void> | undefined
  return {
    async feed(source) {
      for await (const bytes of source) {
        hash.update(bytes)
        await spool.append(bytes)
      }
    },
    digest: () => hash.digest('hex'),
    async commit(params, details) {
      leaveThreads = await threads.enter(place, signal)
      thread = start<D, R>(options, params)
      await thread.feed(spool.read())
      return thread.commit(typeof details === 'function' ? await (details as () => Promise<D>)() : details)
    },
    discard() {
      ending ??= (async () => {
        await thread?.discard()
        leaveThreads?.()
        await spool.close()
        leaveFiles()
      })()
      return ending
    },
  }
}

/** An upload in its thread. */
interface LoadingThread<D, R> {
  feed(source: AsyncIterable<Uint8Array>): Promise<void>
  commit(details: D): Promise<R>
  discard(): Promise<void>
}

function start<D, R>({ databaseUrl, loader, signal }: BulkCopyOptions, params: unknown): LoadingThread<D, R> {
  const slots = new SharedArrayBuffer(SLOTS * SLOT_BYTES)
  const loaded = Promise.withResolvers<void>()
  const done = Promise.withResolvers<unknown>()
  for (const { promise } of [loaded, done]) promise.catch(() => {})
  const bytesOfSlots = new Uint8Array(slots)
  const free = Array.from({ length: SLOTS }, (_, slot) => slot)
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let stall: NodeJS.Timeout | undefined
  /** It has told how its work ended, and has nothing of it left. */
  let over = false
  const fail = (error: unknown) => {
    failure ??= { error }
    loaded.reject(error)
    done.reject(error)
    wake()
  }
  const onAbort = () => fail(signal.reason)
  const expectAnswer = () => {
    clearTimeout(stall)
    stall = setTimeout(() => fail(stalled()), STALL_TIMEOUT_MS)
  }
  knownLoaders.add(loader.href)
  const thread = warm.hold({
    message(message) {
      clearTimeout(stall)
      if (message.type === 'taken') {
        free.push(message.slot)
        wake()
        return
      }
      if (message.type === 'loaded') return loaded.resolve()
      over = message.type === 'done' || !message.broken
      if (message.type === 'done') done.resolve(message.result)
      else fail(revive(message))
    },
    error: fail,
    exit: () => fail(new PatchbayError('internal', { cause: new Error('The upload thread ended early') })),
  })
  signal.addEventListener('abort', onAbort, { once: true })
  const tell = (message: ToThread) => {
    expectAnswer()
    thread.worker.postMessage(message)
  }
  thread.worker.postMessage({ type: 'begin', slots, databaseUrl, loader: loader.href, params } satisfies ToThread)
  const freeSlot = async (): Promise<number> => {
    for (;;) {
      const slot = free.shift()
      // After a failure nobody reads the slot any more.
      if (slot !== undefined || failure !== undefined) return slot ?? 0
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  let ending: Promise<void> | undefined

  return {
    async feed(source) {
      try {
        for await (const bytes of source) {
          for (let at = 0; at < bytes.length && failure === undefined; at += SLOT_BYTES) {
            const slot = await freeSlot()
            const piece = bytes.subarray(at, at + SLOT_BYTES)
            bytesOfSlots.set(piece, slot * SLOT_BYTES)
            tell({ type: 'chunk', slot, length: piece.length })
          }
          if (failure !== undefined) break
        }
      } catch (error) {
        fail(error)
      }
      if (failure === undefined) tell({ type: 'end' })
      await loaded.promise
    },
    async commit(details) {
      if (failure === undefined) tell({ type: 'commit', details })
      return (await done.promise) as R
    },
    discard() {
      ending ??= (async () => {
        clearTimeout(stall)
        signal.removeEventListener('abort', onAbort)
        // A thread that is ended takes its connection along; Postgres rolls back what was not committed.
        await thread.release(over)
      })()
      return ending
    },
  }
}

function revive(message: Extract<FromThread, { type: 'failed' }>): PatchbayError {
  const cause = new Error(message.message)
  if (message.stack !== undefined) cause.stack = message.stack
  return new PatchbayError(message.code, { cause })
}

function stalled(): PatchbayError {
  return new PatchbayError('timeout', { params: { action: 'Loading the file', timeoutMs: STALL_TIMEOUT_MS } })
}
