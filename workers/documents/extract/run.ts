import type { DocumentFormat } from '../../../runtime/knowledge/blocks.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import type { Terms } from '../../../runtime/plugin/contract.ts'
import { availableMemoryBytes } from '../../../runtime/process/available-memory.ts'
import { OffloadError, type OffloadTask, offload } from '../../../runtime/process/offload/offload.ts'
import { ExtractionError, ExtractionTimeout } from './extraction-error.ts'
import { memoryBounds } from './memory-bounds.ts'

export interface ExtractedChunk {
  text: string
  terms: Terms
}

/** What a process is to read. */
export interface ExtractionInput {
  format: DocumentFormat
  bytes: Uint8Array
  maxChunks: number
}

export interface ExtractionLimits {
  timeoutMs: number
  /** Of the process's heap, and again of its buffers. */
  memoryBytes: number
  maxChunks: number
}

type ExtractionTask = OffloadTask<ExtractionInput, number>

interface ExtractionOptions {
  /** Whose file it is: who has many read gives way to others. */
  workspaceId: string
  signal: AbortSignal
  limits?: ExtractionLimits
  /** Default: that of this process. */
  task?: ExtractionTask
}

const BOUNDS = memoryBounds(availableMemoryBytes())

export const DEFAULT_LIMITS: ExtractionLimits = {
  timeoutMs: 60_000,
  memoryBytes: BOUNDS.memoryBytes,
  maxChunks: 100_000,
}

const MIB = 1024 * 1024
const MOST_WAITING = 100

/** Reads files in so many processes at once: the kernel bounds what a hostile file may take of the memory. */
export const extractionTask = (processes: number): ExtractionTask => ({
  name: 'extraction',
  kind: 'document_thread',
  entry: new URL('./extract-task.ts', import.meta.url),
  isolation: 'process',
  priority: 'service',
  workers: processes,
  maxWaiting: MOST_WAITING,
  stackMb: 4,
})

const ownTask = extractionTask(BOUNDS.threads)

/**
 * Turns a file into chunks in a process that reads no other meanwhile, so that a hostile or broken one can cost time and memory only up to
 * `limits`, and hands them to `keep` in batches of at most 256; the next batch is made once `keep` resolved. Where all processes are
 * at work it waits for one. Resolves with the number of chunks.
 * @throws ExtractionError when the file is at fault; what `keep` threw; the signal's reason.
 */
export async function extractChunks(
  format: DocumentFormat,
  bytes: Uint8Array,
  keep: (chunks: ExtractedChunk[], first: number) => Promise<void>,
  { workspaceId, signal, limits = DEFAULT_LIMITS, task = ownTask }: ExtractionOptions,
): Promise<number> {
  const { timeoutMs, memoryBytes, maxChunks } = limits
  let kept = 0
  const answer = async (question: unknown): Promise<void> => {
    const chunks = question as ExtractedChunk[]
    const first = kept
    kept += chunks.length
    await keep(chunks, first)
  }
  try {
    const options = { workspaceId, signal, deadlineMs: timeoutMs, memoryMb: memoryBytes / MIB, answer }
    return await offload.run(task, { format, bytes, maxChunks }, options)
  } catch (error) {
    throw error instanceof OffloadError ? extractionFault(error, timeoutMs) : error
  }
}

function extractionFault(error: OffloadError, timeoutMs: number): Error {
  if (error.reason === 'memory') return new ExtractionError('The file needs too much memory to read')
  if (error.reason === 'timeout')
    return new ExtractionTimeout(`Reading the file took longer than ${timeoutMs / 1000} seconds`)
  if (error.fault?.name === 'ExtractionError') return new ExtractionError(error.message)
  return new PatchbayError('internal', { cause: error.thrown ?? error })
}
