import { setImmediate as breathe } from 'node:timers/promises'
import type { VectorMatch } from '../../plugin/contract.ts'
import { type DenseModel, decodeRow, type Row } from './row.ts'

/** Smaller segments are merged: a search pays for each block it touches, but merging takes longer than reading. */
export const FULL_BLOCK_CHUNKS = 64
/** Merging this many takes about 10 ms, for which no search begins. */
const MERGED_BLOCK_CHUNKS = 128
/** Bookkeeping beside what a leg keeps, for a block and for each of its chunks. */
const BLOCK_OVERHEAD_BYTES = 1024
const CHUNK_OVERHEAD_BYTES = 12

/** A row of the shelf (row.ts) with its bytes. */
export interface ShelvedRow {
  id: number
  documentId: string
  bytes: Uint8Array
}

/** Rows of the shelf that are searched as one: short documents are put together. */
export interface BlockInfo {
  readonly number: number
  readonly rowIds: readonly number[]
  readonly chunks: number
  readonly byteLength: number
}

/** A chunk that was found, and where it lies. */
export interface BlockMatch extends VectorMatch {
  /** Number of its block. */
  readonly block: number
  /** Index of the chunk in it. */
  readonly index: number
}

/** One way to search: what it keeps of the rows of a block, and how it ranks their chunks. */
export interface Ranking<Kept, Query> {
  keep(rows: readonly Row[]): { kept: Kept; byteLength: number }
  drop(kept: Kept): void
  /**
   * The best `limit` of all blocks together, or of their chunks that are wanted, best first; ties in the order of the blocks, then of
   * their chunks.
   */
  rank(
    blocks: readonly Kept[],
    query: Query,
    limit: number,
    isWanted?: (block: number, index: number) => boolean,
  ): { block: number; index: number; score: number }[]
}

interface Block<Kept> {
  readonly kept: Kept
  /** Of each chunk. */
  readonly documentIds: readonly string[]
  readonly chunkNumbers: Uint32Array
}

interface Part extends Row {
  readonly id: number
  readonly documentId: string
}

/** What a search thread holds: blocks of all agents by their numbers. Which of them belong together, a search says. */
export class Blocks<Kept, Query> {
  readonly #leg: Ranking<Kept, Query>
  readonly #model: DenseModel | undefined
  readonly #blocks = new Map<number, Block<Kept>>()

  constructor(leg: Ranking<Kept, Query>, model: DenseModel | undefined) {
    this.#leg = leg
    this.#model = model
  }

  /**
   * Makes blocks of the rows, numbered from `first`; at most as many as there are rows.
   * @throws RangeError when a row is invalid; nothing is stored then.
   */
  async add(first: number, rows: readonly ShelvedRow[]): Promise<BlockInfo[]> {
    const made: BlockInfo[] = []
    let open: Part[] = []
    let openChunks = 0
    const close = (parts: readonly Part[]) => made.push(this.#make(first + made.length, parts))
    try {
      for (const { id, documentId, bytes } of rows) {
        const part = { id, documentId, ...decodeRow(bytes, this.#model) }
        const chunks = part.chunkNumbers.length
        if (chunks >= FULL_BLOCK_CHUNKS) {
          close([part])
          continue
        }
        if (openChunks + chunks > MERGED_BLOCK_CHUNKS) {
          close(open)
          open = []
          openChunks = 0
          await breathe()
        }
        open.push(part)
        openChunks += chunks
      }
      if (open.length > 0) close(open)
      return made
    } catch (error) {
      this.drop(made.map(({ number }) => number))
      throw error
    }
  }

  /** Numbers of no block are none's loss. */
  drop(numbers: Iterable<number>): void {
    for (const number of numbers) {
      const block = this.#blocks.get(number)
      if (block !== undefined) this.#leg.drop(block.kept)
      this.#blocks.delete(number)
    }
  }

  /** `documents`: chunks of others are left out; undefined: none are. */
  search(numbers: Uint32Array, query: Query, limit: number, documents?: readonly string[]): BlockMatch[] {
    const blocks = Array.from(numbers, (number) => this.#blocks.get(number)!)
    const kept = blocks.map((block) => block.kept)
    const wanted = documents && new Set(documents)
    const isWanted = wanted && ((block: number, index: number) => wanted.has(blocks[block]!.documentIds[index]!))
    return this.#leg.rank(kept, query, limit, isWanted).map(({ block, index, score }) => {
      const { documentIds, chunkNumbers } = blocks[block]!
      return { documentId: documentIds[index]!, chunk: chunkNumbers[index]!, score, block: numbers[block]!, index }
    })
  }

  #make(number: number, parts: readonly Part[]): BlockInfo {
    const { kept, byteLength } = this.#leg.keep(parts)
    const chunkNumbers = Uint32Array.from(parts.flatMap(({ chunkNumbers }) => [...chunkNumbers]))
    const documentIds = parts.flatMap(({ documentId, chunkNumbers }) =>
      Array<string>(chunkNumbers.length).fill(documentId),
    )
    this.#blocks.set(number, { kept, documentIds, chunkNumbers })
    const chunks = chunkNumbers.length
    const overhead = BLOCK_OVERHEAD_BYTES + chunks * CHUNK_OVERHEAD_BYTES
    return { number, rowIds: parts.map(({ id }) => id), chunks, byteLength: byteLength + overhead }
  }
}
