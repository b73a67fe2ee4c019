import { setImmediate as breathe } from 'node:timers/promises'
import type { DenseRows } from '../../runtime/knowledge/dense.ts'
import { mergeSegments, type Segment } from '../../runtime/knowledge/segment.ts'
import type { ShelfRow, VectorScope, VectorShelf } from '../../runtime/plugin/contract.ts'
import { type DenseModel, decodeRow, joinDense, type Row } from './row.ts'

/** Read at once: little enough that loading an index doesn't hold up the audio of the node's calls. */
const READ_BYTES = 256 * 1024
const READ_ROWS = 256
/** Smaller segments are merged: a search pays for each block it touches, but merging takes longer than reading. */
const FULL_BLOCK_CHUNKS = 64
/** Merging this many takes about 10 ms, for which nothing else of the process runs. */
const MERGED_BLOCK_CHUNKS = 128
/** Bookkeeping beside the bytes of a segment, for a block and for each of its chunks. */
const BLOCK_OVERHEAD_BYTES = 1024
const CHUNK_OVERHEAD_BYTES = 8

/** Rows of the shelf as they are searched: short documents are put together. */
export interface Block {
  readonly segment: Segment
  /** In the order of the segment's chunks. */
  readonly dense: DenseRows | undefined
  /** The document of each chunk. */
  readonly documentIds: readonly string[]
  readonly rowIds: readonly number[]
}

interface Part extends Row {
  readonly row: ShelfRow
}

interface Entry {
  readonly version: number
  readonly blocks: readonly Block[]
  readonly bytes: number
}

/**
 * Indexes of the agents used last, up to `maxBytes` together (one agent's alone may be larger). Each use asks the shelf
 * for the version; after a change only rows that are new, or that stood beside a removed one, are read.
 */
export class IndexCache {
  readonly #shelf: VectorShelf
  readonly #maxBytes: number
  readonly #model: DenseModel | undefined
  /** In the order of use, oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #loading = new Map<string, Promise<Entry>>()
  #bytes = 0

  constructor(shelf: VectorShelf, maxBytes: number, model: DenseModel | undefined) {
    this.#shelf = shelf
    this.#maxBytes = maxBytes
    this.#model = model
  }

  /** The index of an agent as it is now. */
  async get(scope: VectorScope, signal: AbortSignal): Promise<readonly Block[]> {
    const key = `${scope.workspaceId}/${scope.agentId}`
    const version = await this.#shelf.version(scope, signal)
    const cached = this.#entries.get(key)
    if (cached?.version === version) {
      this.#entries.delete(key)
      this.#entries.set(key, cached)
      return cached.blocks
    }
    const loadKey = `${key}@${version}`
    let loading = this.#loading.get(loadKey)
    if (loading === undefined) {
      loading = this.#load(scope, version, cached).finally(() => this.#loading.delete(loadKey))
      this.#loading.set(loadKey, loading)
      loading.then((entry) => this.#keep(key, entry)).catch(() => {})
    }
    return (await withSignal(loading, signal)).blocks
  }

  /** Shared by all who wait, so no single caller's signal ends it; each of its queries has the database's own timeout. */
  async #load(scope: VectorScope, version: number, previous: Entry | undefined): Promise<Entry> {
    const rows = await this.#shelf.list(scope, new AbortController().signal)
    const blocks = reusable(previous?.blocks ?? [], rows)
    const held = new Set(blocks.flatMap((block) => block.rowIds))
    const missing = rows.filter(({ id }) => !held.has(id))
    let open: Part[] = []
    let openChunks = 0
    const close = () => {
      if (open.length > 0) blocks.push(blockOf(open))
      open = []
      openChunks = 0
    }
    for (const batch of batches(missing)) {
      const read = await this.#shelf.read(
        scope,
        batch.map(({ id }) => id),
        new AbortController().signal,
      )
      const bytesOf = new Map(read.map(({ id, bytes }) => [id, bytes]))
      for (const row of batch) {
        const bytes = bytesOf.get(row.id)
        // Deleted since it was listed.
        if (bytes === undefined) continue
        const part = { row, ...decodeRow(bytes, this.#model) }
        const chunks = part.segment.chunkNumbers.length
        if (chunks >= FULL_BLOCK_CHUNKS) {
          blocks.push(blockOf([part]))
          continue
        }
        if (openChunks + chunks > MERGED_BLOCK_CHUNKS) {
          close()
          await breathe()
        }
        open.push(part)
        openChunks += chunks
      }
      await breathe()
    }
    close()
    return { version, blocks, bytes: blocks.reduce((sum, block) => sum + bytesOfBlock(block), 0) }
  }

  #keep(key: string, entry: Entry): void {
    const previous = this.#entries.get(key)
    if (previous !== undefined && previous.version > entry.version) return
    this.#bytes += entry.bytes - (previous?.bytes ?? 0)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break
      this.#entries.delete(oldest)
      this.#bytes -= bytes
    }
  }
}

/** Blocks whose rows are all still there. With rows to add, at most one that has room is given up to be filled. */
function reusable(blocks: readonly Block[], rows: readonly ShelfRow[]): Block[] {
  const present = new Set(rows.map(({ id }) => id))
  const whole = blocks.filter((block) => block.rowIds.every((id) => present.has(id)))
  const grows = whole.reduce((sum, block) => sum + block.rowIds.length, 0) < rows.length
  const room = grows ? whole.findIndex(({ documentIds }) => documentIds.length < FULL_BLOCK_CHUNKS) : -1
  return whole.filter((_, i) => i !== room)
}

function blockOf(parts: readonly Part[]): Block {
  const segments = parts.map(({ segment }) => segment)
  return {
    segment: segments.length === 1 ? segments[0]! : mergeSegments(segments),
    dense: parts.length === 1 ? parts[0]!.dense : joinDense(parts),
    documentIds: parts.flatMap(({ row, segment }) => Array(segment.chunkNumbers.length).fill(row.documentId)),
    rowIds: parts.map(({ row }) => row.id),
  }
}

function bytesOfBlock({ segment, dense, documentIds }: Block): number {
  return (
    segment.byteLength +
    (dense?.rows.byteLength ?? 0) +
    BLOCK_OVERHEAD_BYTES +
    documentIds.length * CHUNK_OVERHEAD_BYTES
  )
}

function* batches(rows: readonly ShelfRow[]): Generator<ShelfRow[]> {
  let batch: ShelfRow[] = []
  let bytes = 0
  for (const row of rows) {
    if (batch.length > 0 && (batch.length === READ_ROWS || bytes + row.byteLength > READ_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.byteLength
  }
  if (batch.length > 0) yield batch
}

function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
