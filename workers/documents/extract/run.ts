import { AdmissionGate } from '../../../runtime/admission/gate.ts'
import type { DocumentFormat } from '../../../runtime/knowledge/blocks.ts'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import type { Terms } from '../../../runtime/plugin/contract.ts'
import { availableMemoryBytes } from '../../../runtime/process/available-memory.ts'
import { startThread } from '../../../runtime/process/offload/thread.ts'
import { ThreadHelper } from '../../../runtime/process/offload/thread-helper.ts'
import { type HelperListener, WarmHelpers } from '../../../runtime/process/offload/warm-helpers.ts'
import { ExtractionError, ExtractionTimeout } from './extraction-error.ts'
import { memoryBounds } from './memory-bounds.ts'

export interface ExtractedChunk {
  text: string
  terms: Terms
}

/** What a thread is to read. */
export interface ThreadFile {
  format: DocumentFormat
  bytes: Uint8Array<ArrayBuffer>
  maxChunks: number
}

export type ThreadMessage =
  | { type: 'batch'; chunks: ExtractedChunk[] }
  | { type: 'done'; chunks: number }
  | { type: 'failed'; reason: string }

export interface ExtractionLimits {
  timeoutMs: number
  /** Of the thread's heap, and again of its buffers. */
  memoryBytes: number
  maxChunks: number
}

export interface ExtractionOptions {
  /** Whose file it is: who has many read gives way to others. */
  workspaceId: string
  signal: AbortSignal
  limits?: ExtractionLimits
  /** Of which each reading takes one; default: those of this process. */
  places?: AdmissionGate
}

const BOUNDS = memoryBounds(availableMemoryBytes())

export const DEFAULT_LIMITS: ExtractionLimits = {
  timeoutMs: 60_000,
  memoryBytes: BOUNDS.memoryBytes,
  maxChunks: 100_000,
}

const MEMORY_CHECK_MS = 100
const MOST_WAITING = 100

/** Places for so many threads at once. */
export const extractionPlaces = (threads: number): AdmissionGate =>
  new AdmissionGate({ kind: 'document_thread', places: threads, maxWaiting: MOST_WAITING })

const ownPlaces = extractionPlaces(BOUNDS.threads)

type Threads = WarmHelpers<ThreadMessage, ThreadHelper<ThreadMessage>>
/** By what a thread's heap may hold. */
const threads = new Map<number, Threads>()

function threadsOf(memoryBytes: number): Threads {
  const known = threads.get(memoryBytes)
  if (known !== undefined) return known
  const start = (listener: HelperListener<ThreadMessage>) => {
    const worker = startThread(new URL('./thread.ts', import.meta.url), {
      name: 'extraction',
      resourceLimits: { maxOldGenerationSizeMb: memoryBytes / 1024 / 1024, stackSizeMb: 4 },
      // The thread reads nothing of the environment and may not print a file's content. Its output is not read: reading would
      // keep this process from ending.
      env: {},
      stdout: true,
      stderr: true,
    })
    return new ThreadHelper(worker, listener)
  }
  // As many as work at once: what ends one of them starts another.
  const made: Threads = new WarmHelpers({ start, mostWarm: BOUNDS.threads })
  threads.set(memoryBytes, made)
  return made
}

/**
 * Turns a file into chunks in a thread that reads no other meanwhile, so that a hostile or broken one can cost time and memory only up to
 * `limits`, and hands them to `keep` in batches of at most 256; the next batch is made once `keep` resolved. `bytes` is
 * moved to the thread. Where all places are taken it waits for one. Resolves with the number of chunks.
 * @throws ExtractionError when the file is at fault; what `keep` threw; the signal's reason.
 */
export async function extractChunks(
  format: DocumentFormat,
  bytes: Uint8Array<ArrayBuffer>,
  keep: (chunks: ExtractedChunk[], first: number) => Promise<void>,
  options: ExtractionOptions,
): Promise<number> {
  const { workspaceId, signal, places = ownPlaces } = options
  return places.run({ workspaceId }, () => extractNow(format, bytes, keep, options), signal)
}

async function extractNow(
  format: DocumentFormat,
  bytes: Uint8Array<ArrayBuffer>,
  keep: (chunks: ExtractedChunk[], first: number) => Promise<void>,
  { workspaceId, signal, limits = DEFAULT_LIMITS }: ExtractionOptions,
): Promise<number> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const tooLarge = () => new ExtractionError('The file needs too much memory to read')
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const deadline = setTimeout(() => {
    reject(new ExtractionTimeout(`Reading the file took longer than ${limits.timeoutMs / 1000} seconds`))
  }, limits.timeoutMs)

  let kept = 0
  const listener: HelperListener<ThreadMessage> = {
    message(message) {
      if (message.type === 'done') resolve(message.chunks)
      else if (message.type === 'failed') reject(new ExtractionError(message.reason))
      else if (message.type === 'batch') {
        const first = kept
        kept += message.chunks.length
        keep(message.chunks, first).then(() => worker.postMessage('kept'), reject)
      }
    },
    error(error) {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') reject(tooLarge())
      else reject(new PatchbayError('internal', { cause: error }))
    },
    exit() {
      reject(new PatchbayError('internal', { cause: new Error('The extraction thread ended') }))
    },
  }
  const { helper, release } = threadsOf(limits.memoryBytes).hold(listener, workspaceId)
  const { worker } = helper
  // V8's own limit doesn't see buffers, which is where unpacked data lives.
  const watch = setInterval(
    boundary('queue', () => {
      worker.getHeapStatistics().then(
        (heap) => {
          if (heap.external_memory > limits.memoryBytes) reject(tooLarge())
        },
        () => {}, // The thread has ended meanwhile.
      )
    }),
    MEMORY_CHECK_MS,
  )
  let well = false
  try {
    worker.postMessage({ format, bytes, maxChunks: limits.maxChunks } satisfies ThreadFile, [bytes.buffer])
    const chunks = await promise
    well = true
    return chunks
  } finally {
    clearTimeout(deadline)
    clearInterval(watch)
    signal.removeEventListener('abort', onAbort)
    await release(well)
  }
}
