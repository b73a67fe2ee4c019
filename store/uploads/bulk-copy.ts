import { createHash } from 'node:crypto'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { ProcessHelper } from '../../runtime/process/offload/process-helper.ts'
import { WarmHelpers } from '../../runtime/process/offload/warm-helpers.ts'
import type { FromLoader, ToLoader } from './bulk-copy-messages.ts'
import { openSpool } from './spool.ts'

/**
 * Loads an upload into Postgres in a process that loads no other meanwhile, with a connection of its own and in one transaction, so
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

/** An upload under way. `commit` or `discard` ends it; the opener always calls `discard`. */
export interface BulkCopy<P, D, R> {
  /** Keeps the source, in a file where it is large, until `commit`: a sender that trickles holds up no process. Throws what the source throws. */
  feed(source: AsyncIterable<Uint8Array>): Promise<void>
  /** SHA-256 of what was fed, in hex. Asked for once. */
  digest(): string
  /**
   * Waits for a process, loads what was fed with the loader's parameters, finishes with the details and commits. The details
   * are asked for once the file is loaded. Throws what the loader throws, and what `details` throws.
   */
  commit(params: P, details: D | (() => Promise<D>)): Promise<R>
  /** Rolls back what is not committed and releases file, process and connection. */
  discard(): Promise<void>
}

/** One process is left for another workspace. */
const loaders = new AdmissionGate({ kind: 'bulk_upload', places: 2, mostOfOne: 1, maxWaiting: 64 })
/** Uploads that arrive at once, each with a file of its own. */
const files = new AdmissionGate({ kind: 'upload_file', places: 32, mostOfOne: 4, maxWaiting: 64 })
/** Of the uploads so far: a process loads them as it begins, before its first file. */
const knownLoaders = new Set<string>()
const warm = new WarmHelpers<FromLoader, ProcessHelper<FromLoader>>({
  start(listener) {
    const entry = new URL('./bulk-copy-process.ts', import.meta.url)
    const helper = new ProcessHelper<FromLoader>({ entry, flags: FLAGS }, listener)
    helper.post({ type: 'prepare', loaders: [...knownLoaders] } satisfies ToLoader)
    return helper
  },
  mostWarm: 2,
})
/**
 * Most rows die young, and loaders keep some megabytes of them at most. Without a bound the old generation would grow to what the process
 * begins with before anything is collected.
 */
const FLAGS = ['--max-semi-space-size=5', '--max-old-space-size=192', '--v8-pool-size=1']
/** No answer of the process for this long: Postgres is stuck. */
const STALL_TIMEOUT_MS = 60_000

/** Waits for room for the file. Throws `unavailable` when too many uploads wait. */
export async function openBulkCopy<P, D, R>(options: BulkCopyOptions): Promise<BulkCopy<P, D, R>> {
  const { workspaceId, signal } = options
  const place = { workspaceId }
  const leaveFiles = await files.enter(place, signal)
  const spool = openSpool()
  const hash = createHash('sha256')
  let loading: Loading<D, R> | undefined
  let leaveLoaders: (() => void) | undefined
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
      leaveLoaders = await loaders.enter(place, signal)
      loading = start<D, R>(options, params)
      await loading.feed(spool.read())
      return loading.commit(typeof details === 'function' ? await (details as () => Promise<D>)() : details)
    },
    discard() {
      ending ??= (async () => {
        await loading?.discard()
        leaveLoaders?.()
        await spool.close()
        leaveFiles()
      })()
      return ending
    },
  }
}

/** An upload in its process. */
interface Loading<D, R> {
  feed(source: AsyncIterable<Uint8Array>): Promise<void>
  commit(details: D): Promise<R>
  discard(): Promise<void>
}

function start<D, R>({ databaseUrl, loader, workspaceId, signal }: BulkCopyOptions, params: unknown): Loading<D, R> {
  const loaded = Promise.withResolvers<void>()
  const done = Promise.withResolvers<unknown>()
  for (const { promise } of [loaded, done]) promise.catch(() => {})
  let failed = false
  let stall: NodeJS.Timeout | undefined
  /** It has reported its result and kept no state. */
  let over = false
  const fail = (error: unknown) => {
    failed = true
    loaded.reject(error)
    done.reject(error)
  }
  const onAbort = boundary('database', () => fail(signal.reason))
  const expectAnswer = () => {
    clearTimeout(stall)
    stall = setTimeout(
      boundary('database', () => fail(stalled())),
      STALL_TIMEOUT_MS,
    )
  }
  knownLoaders.add(loader.href)
  const { helper, release } = warm.hold(
    {
      message(message) {
        clearTimeout(stall)
        if (message.type === 'loaded') return loaded.resolve()
        over = message.type === 'done' || !message.broken
        if (message.type === 'done') done.resolve(message.result)
        else fail(revive(message))
      },
      error: (cause) => fail(new PatchbayError('internal', { cause })),
      exit: () => fail(new PatchbayError('internal', { cause: new Error('The process of the upload ended early') })),
    },
    workspaceId,
  )
  signal.addEventListener('abort', onAbort, { once: true })
  const tell = (message: ToLoader) => {
    expectAnswer()
    helper.post(message)
  }
  tell({ type: 'begin', databaseUrl, loader: loader.href, params })
  let ending: Promise<void> | undefined

  return {
    async feed(source) {
      try {
        for await (const bytes of source) {
          if (failed) break
          expectAnswer()
          await Promise.race([helper.write(bytes), loaded.promise])
        }
      } catch (error) {
        fail(error)
      }
      if (!failed) tell({ type: 'end' })
      await loaded.promise
    },
    async commit(details) {
      if (!failed) tell({ type: 'commit', details })
      return (await done.promise) as R
    },
    discard() {
      ending ??= (async () => {
        clearTimeout(stall)
        signal.removeEventListener('abort', onAbort)
        // A process that is ended takes its connection along; Postgres rolls back what was not committed.
        await release(over)
      })()
      return ending
    },
  }
}

function revive(message: Extract<FromLoader, { type: 'failed' }>): PatchbayError {
  const cause = new Error(message.message)
  if (message.stack !== undefined) cause.stack = message.stack
  return new PatchbayError(message.code, { cause })
}

function stalled(): PatchbayError {
  return new PatchbayError('timeout', { params: { action: 'Loading the file', timeoutMs: STALL_TIMEOUT_MS } })
}
