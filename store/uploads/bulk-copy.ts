import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { OffloadError, type OffloadTask, offload } from '../../runtime/process/offload/offload.ts'
import { openSpool } from './spool.ts'

/**
 * Loads an upload into Postgres in a thread that loads no other meanwhile, with a connection of its own and in one transaction, so
 * that a million rows neither stall the event loop that carries calls nor leave anything behind when the upload breaks off.
 */
interface BulkCopyOptions {
  databaseUrl: string
  /** A module whose `load` is a `Loader`. */
  loader: URL
  /** Whose upload it is: workspaces take turns. */
  workspaceId: string
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

export interface BulkCopyWork {
  databaseUrl: string
  loader: string
  params: unknown
}

/** What the thread asks for: the next piece of the file, undefined at its end; the details, once the file is loaded. */
export type BulkCopyQuestion = 'piece' | 'details'

/** An upload under way. `commit` or `discard` ends it; the opener always calls `discard`. */
interface BulkCopy<P, D, R> {
  /** Keeps the source, in a file where it is large, until `commit`: a sender that trickles holds up no thread. Throws what the source throws. */
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

const LOADING: OffloadTask<BulkCopyWork> = {
  name: 'bulk-copy',
  kind: 'bulk_upload',
  entry: new URL('./bulk-copy-thread.ts', import.meta.url),
  priority: 'service',
  // One thread is left for another workspace.
  workers: 2,
  mostOfOne: 1,
  maxWaiting: 64,
  youngMb: 15,
  readsEnvironment: true,
}
/**
 * Most rows die young, and loaders keep some megabytes of them at most. Without a bound the old generation would grow to what the thread
 * begins with before anything is collected.
 */
const MEMORY_MB = 192
/** Uploads that arrive at once, each with a file of its own. */
const files = new AdmissionGate({ kind: 'upload_file', places: 32, mostOfOne: 4, maxWaiting: 64 })
/** No answer of the thread for this long: Postgres is stuck. */
const STALL_TIMEOUT_MS = 60_000

/** Waits for room for the file. Throws `unavailable` when too many uploads wait. */
export async function openBulkCopy<P, D, R>(options: BulkCopyOptions): Promise<BulkCopy<P, D, R>> {
  const { databaseUrl, loader, workspaceId, signal } = options
  const leaveFiles = await files.enter({ workspaceId }, signal)
  const spool = openSpool()
  const hash = createHash('sha256')
  const discarded = new AbortController()
  let loading: Promise<unknown> | undefined
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
      const pieces = spool.read()
      let asked: Promise<D> | undefined
      const answer = async (question: unknown): Promise<unknown> => {
        if ((question as BulkCopyQuestion) === 'piece') return (await pieces.next()).value
        asked = typeof details === 'function' ? (details as () => Promise<D>)() : Promise.resolve(details)
        return asked
      }
      const work = { databaseUrl, loader: loader.href, params }
      const limits = { memoryMb: MEMORY_MB, stallMs: STALL_TIMEOUT_MS }
      const either = joinSignals(signal, discarded.signal)
      loading = offload.run(LOADING, work, { workspaceId, signal: either, answer, ...limits })
      try {
        return (await loading) as R
      } catch (error) {
        // The rest of the request is read to its end, whatever became of the file.
        await asked?.catch(() => {})
        throw error instanceof OffloadError ? loadingFault(error) : error
      }
    },
    discard() {
      ending ??= (async () => {
        // A thread that is ended takes its connection along; Postgres rolls back what was not committed.
        discarded.abort(new Error('The upload was discarded'))
        await loading?.catch(() => {})
        await spool.close()
        leaveFiles()
      })()
      return ending
    },
  }
}

function loadingFault(error: OffloadError): PatchbayError {
  if (error.reason === 'timeout') {
    return new PatchbayError('timeout', { params: { action: 'Loading the file', timeoutMs: STALL_TIMEOUT_MS } })
  }
  return new PatchbayError(error.code ?? 'internal', { cause: error.thrown ?? error })
}
