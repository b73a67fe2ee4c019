import { Worker } from 'node:worker_threads'
import type { Client } from 'pg'
import { type ErrorCode, PatchbayError } from '../runtime/errors.ts'
import { asProcess } from '../runtime/plugin/scope.ts'

/**
 * Loads an upload into Postgres in a thread of its own, with a connection of its own and in one transaction, so that a
 * million rows neither stall the event loop that carries calls nor leave anything behind when the upload breaks off.
 */
export interface BulkCopyOptions {
  databaseUrl: string
  /** A module whose `load` is a `Loader`. */
  loader: URL
  /** Structured-cloneable; the loader's second argument. */
  params: unknown
  /** Aborted: nothing is kept. */
  signal: AbortSignal
}

/**
 * What runs in the thread between BEGIN and COMMIT: it reads the source to its end and returns what is left to do once the
 * rest of the request is known. Parameters, details and result are structured-cloneable.
 */
export type Loader<P = unknown, D = unknown, R = unknown> = (
  client: Client,
  params: P,
  source: AsyncIterable<Uint8Array>,
) => Promise<(details: D) => Promise<R>>

/** An upload under way. One of `commit` and `discard` ends it; whoever opened it calls `discard` in any case. */
export interface BulkCopy<D, R> {
  /** Reads the source to its end. Throws what the loader throws, and what the source throws. */
  feed(source: AsyncIterable<Uint8Array>): Promise<void>
  /** Finishes and commits. */
  commit(details: D): Promise<R>
  /** Rolls back what is not committed and releases thread and connection. */
  discard(): Promise<void>
}

export interface BulkCopyThread {
  /** SLOTS pieces of SLOT_BYTES: the file passes through without leaving garbage on either side. */
  slots: SharedArrayBuffer
  databaseUrl: string
  loader: string
  params: unknown
}

export type ToThread =
  | { type: 'chunk'; slot: number; length: number }
  | { type: 'end' }
  | { type: 'commit'; details: unknown }
export type FromThread =
  | { type: 'taken'; slot: number }
  | { type: 'loaded' }
  | { type: 'done'; result: unknown }
  | { type: 'failed'; code: ErrorCode; message: string; stack: string | undefined }

/** Pieces under way to the thread; the source is not read further until it took one. */
const SLOTS = 8
export const SLOT_BYTES = 64 * 1024
const MAX_THREADS = 2
const MAX_WAITING = 16
/** No answer of the thread for this long: Postgres is stuck. */
const STALL_TIMEOUT_MS = 60_000

let threads = 0
const waiting = new Set<() => void>()

/** Waits for a free thread and starts it. Throws `unavailable` when too many uploads wait. */
export async function openBulkCopy<D, R>(options: BulkCopyOptions): Promise<BulkCopy<D, R>> {
  await takeThread(options.signal)
  try {
    return start<D, R>(options)
  } catch (error) {
    leaveThread()
    throw error
  }
}

async function takeThread(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (threads < MAX_THREADS) {
    threads++
    return
  }
  if (waiting.size >= MAX_WAITING) throw new PatchbayError('unavailable', { cause: new Error('Too many uploads wait') })
  await new Promise<void>((resolve, reject) => {
    const go = () => {
      waiting.delete(go)
      signal.removeEventListener('abort', leave)
      threads++
      resolve()
    }
    const leave = () => {
      waiting.delete(go)
      reject(signal.reason)
    }
    waiting.add(go)
    signal.addEventListener('abort', leave, { once: true })
  })
}

function leaveThread(): void {
  threads--
  const [next] = waiting
  next?.()
}

function start<D, R>({ databaseUrl, loader, params, signal }: BulkCopyOptions): BulkCopy<D, R> {
  const slots = new SharedArrayBuffer(SLOTS * SLOT_BYTES)
  const workerData: BulkCopyThread = { slots, databaseUrl, loader: loader.href, params }
  const thread = asProcess(
    () =>
      new Worker(new URL('./bulk-copy-thread.ts', import.meta.url), {
        workerData,
        name: 'bulk-copy',
        // Rows die young: a small young generation keeps the thread's share of the memory small.
        resourceLimits: { maxYoungGenerationSizeMb: 4 },
      }),
  )
  const loaded = Promise.withResolvers<void>()
  const done = Promise.withResolvers<unknown>()
  for (const { promise } of [loaded, done]) promise.catch(() => {})
  const bytesOfSlots = new Uint8Array(slots)
  const free = Array.from({ length: SLOTS }, (_, slot) => slot)
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let stall: NodeJS.Timeout | undefined
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
  thread.on('message', (message: FromThread) => {
    clearTimeout(stall)
    if (message.type === 'taken') {
      free.push(message.slot)
      wake()
    } else if (message.type === 'loaded') loaded.resolve()
    else if (message.type === 'done') done.resolve(message.result)
    else fail(revive(message))
  })
  thread.on('error', fail)
  thread.on('exit', () => fail(new PatchbayError('internal', { cause: new Error('The upload thread ended early') })))
  signal.addEventListener('abort', onAbort, { once: true })
  const tell = (message: ToThread) => {
    expectAnswer()
    thread.postMessage(message)
  }
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
        // Ends the thread's connection too; Postgres rolls back what was not committed.
        await thread.terminate()
        leaveThread()
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
