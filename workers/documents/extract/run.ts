import { PatchbayError } from '../../../runtime/errors.ts'
import type { DocumentFormat } from '../../../runtime/knowledge/blocks.ts'
import type { Terms } from '../../../runtime/knowledge/terms.ts'
import { lowerThreadLater } from '../../../runtime/low-priority.ts'
import { endThread, startThread } from '../../../runtime/thread.ts'
import { ExtractionError, ExtractionTimeout } from './failure.ts'

export interface ExtractedChunk {
  text: string
  terms: Terms
}

export interface ThreadData {
  format: DocumentFormat
  bytes: Uint8Array
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

export const DEFAULT_LIMITS: ExtractionLimits = {
  timeoutMs: 60_000,
  memoryBytes: 512 * 1024 * 1024,
  maxChunks: 100_000,
}

const MEMORY_CHECK_MS = 100

/**
 * Turns a file into chunks in a thread of its own, so that a hostile or broken one can cost time and memory only up to
 * `limits`, and hands them to `keep` in batches of at most 256; the next batch is made once `keep` resolved. `bytes` is
 * moved to the thread. Resolves with the number of chunks.
 * @throws ExtractionError when the file is at fault; what `keep` threw; the signal's reason.
 */
export async function extractChunks(
  format: DocumentFormat,
  bytes: Uint8Array<ArrayBuffer>,
  keep: (chunks: ExtractedChunk[], first: number) => Promise<void>,
  signal: AbortSignal,
  limits: ExtractionLimits = DEFAULT_LIMITS,
): Promise<number> {
  signal.throwIfAborted()
  const worker = startThread(new URL('./thread.ts', import.meta.url), {
    workerData: { format, bytes, maxChunks: limits.maxChunks } satisfies ThreadData,
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: limits.memoryBytes / 1024 / 1024, stackSizeMb: 4 },
    // The thread reads nothing of the environment and may not print a file's content.
    env: {},
    stdout: true,
    stderr: true,
  })
  lowerThreadLater(worker)
  worker.stdout.resume()
  worker.stderr.resume()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const tooLarge = () => new ExtractionError('The file needs too much memory to read')
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const deadline = setTimeout(() => {
    reject(new ExtractionTimeout(`Reading the file took longer than ${limits.timeoutMs / 1000} seconds`))
  }, limits.timeoutMs)
  // V8's own limit doesn't see buffers, which is where unpacked data lives.
  const watch = setInterval(() => {
    worker.getHeapStatistics().then(
      (heap) => {
        if (heap.external_memory > limits.memoryBytes) reject(tooLarge())
      },
      () => {}, // The thread has ended meanwhile.
    )
  }, MEMORY_CHECK_MS)

  let kept = 0
  worker.on('message', (message: ThreadMessage) => {
    if (message.type === 'done') resolve(message.chunks)
    else if (message.type === 'failed') reject(new ExtractionError(message.reason))
    else {
      const first = kept
      kept += message.chunks.length
      keep(message.chunks, first).then(() => worker.postMessage('kept'), reject)
    }
  })
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') reject(tooLarge())
    else reject(new PatchbayError('internal', { cause: error }))
  })
  worker.on('exit', () => reject(new PatchbayError('internal', { cause: new Error('The extraction thread ended') })))
  try {
    return await promise
  } finally {
    clearTimeout(deadline)
    clearInterval(watch)
    signal.removeEventListener('abort', onAbort)
    await endThread(worker)
  }
}
