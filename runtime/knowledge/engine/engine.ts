import { inBackground } from '../../lib/async/boundary.ts'
import type { Terms, VectorMatch, VectorQuery } from '../../plugin/contract.ts'
import { fuseByRank, LEG_LIMIT } from '../fusion.ts'
import type { BlockInfo, BlockMatch, ShelvedRow } from './blocks.ts'
import { type DenseModel, withoutVectors } from './row.ts'
import { SearchThread } from './search-thread.ts'

interface EngineOptions {
  /** Whose dense vectors are compared; undefined: none are. */
  model: DenseModel | undefined
  /** Called with the reason when the engine ends without being closed. */
  onLost: (error: Error) => void
}

export interface EngineBlock extends BlockInfo {
  /** Which of the threads that compare vectors has it. */
  readonly shard: number
}

/** What is searched together. */
export interface Index {
  readonly blocks: Uint32Array
  readonly ofShards: readonly Uint32Array[]
}

/** Threads that compare vectors: it takes two cores to read memory as fast as it can be read. */
const SHARDS = 2

/**
 * Hybrid search over blocks of rows in threads of their own: one ranks by words, the others by meaning. With one of them all
 * end, and what is thrown from then on is `unavailable`.
 */
export class SearchEngine {
  readonly #words: SearchThread<Terms>
  /** None without a model. */
  readonly #shards: readonly SearchThread<Float32Array>[]
  readonly #onLost: (error: Error) => void
  #isOver = false
  #lastNumber = 0

  constructor({ model, onLost }: EngineOptions) {
    const onThreadLost = (error: Error) => this.#lose(error)
    this.#onLost = onLost
    this.#words = new SearchThread({ leg: { by: 'words' }, onLost: onThreadLost })
    this.#shards = Array.from({ length: model === undefined ? 0 : SHARDS }, () => {
      return new SearchThread({ leg: { by: 'meaning', model: model! }, onLost: onThreadLost })
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Makes blocks of rows of the shelf, for the caller to drop. They will be searched beside `others`. */
  async add(rows: readonly ShelvedRow[], others: readonly EngineBlock[]): Promise<EngineBlock[]> {
    const shard = this.#lightest(others)
    const first = this.#lastNumber + 1
    this.#lastNumber += rows.length
    const vectors = this.#shards[shard]
    const plain = rows.map((row) => ({ ...row, bytes: withoutVectors(row.bytes) }))
    const adding = [this.#words.add(first, plain), vectors?.add(first, rows)] as const
    const [words, meaning] = await Promise.all(adding).catch(async (error: unknown) => {
      await Promise.allSettled(adding)
      for (const thread of [this.#words, vectors]) thread?.drop(rows.map((_, i) => first + i))
      throw error
    })
    return words.map((block, i) => ({
      ...block,
      shard,
      byteLength: block.byteLength + (meaning?.[i]?.byteLength ?? 0),
    }))
  }

  /** Searches that began before still find the blocks. */
  drop(blocks: readonly EngineBlock[]): void {
    this.#words.drop(blocks.map(({ number }) => number))
    this.#shards.forEach((thread, shard) => {
      thread.drop(numbersOf(blocks, shard))
    })
  }

  /** Blocks in the order they were added, to be searched together. */
  indexOf(blocks: readonly EngineBlock[]): Index {
    return {
      blocks: Uint32Array.from(blocks, ({ number }) => number),
      ofShards: this.#shards.map((_, shard) => Uint32Array.from(numbersOf(blocks, shard))),
    }
  }

  /** The best matches, as a VectorStore answers. Ties are in the order the blocks were added. */
  async search(
    { blocks, ofShards }: Index,
    { terms, dense, limit, documents }: VectorQuery,
    signal: AbortSignal,
  ): Promise<VectorMatch[]> {
    if (blocks.length === 0) return []
    if (dense === undefined) return (await this.#words.search(blocks, terms, limit, signal, documents)).map(matchOf)
    const [byWords, ...byMeaning] = await Promise.all([
      this.#words.search(blocks, terms, LEG_LIMIT, signal, documents),
      ...this.#shards.map((thread, shard) => {
        const numbers = ofShards[shard]!
        return numbers.length === 0 ? [] : thread.search(numbers, dense, LEG_LIMIT, signal, documents)
      }),
    ])
    const nearest = byMeaning.flat().sort(inOrder).slice(0, LEG_LIMIT)
    const keyOf = ({ documentId, chunk }: BlockMatch) => `${documentId}/${chunk}`
    return fuseByRank([nearest, byWords], keyOf, limit).map(({ item, score }) => ({ ...matchOf(item), score }))
  }

  async close(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#words, ...this.#shards].map((thread) => thread.close()))
  }

  /** The shard with the fewest of these chunks. */
  #lightest(blocks: readonly EngineBlock[]): number {
    const chunks = this.#shards.map(() => 0)
    for (const block of blocks) chunks[block.shard]! += block.chunks
    return Math.max(chunks.indexOf(Math.min(...chunks)), 0)
  }

  #lose(error: Error): void {
    if (this.#isOver) return
    this.#onLost(error)
    inBackground('provider', this.close())
  }
}

function numbersOf(blocks: readonly EngineBlock[], shard: number): number[] {
  return blocks.filter((block) => block.shard === shard).map(({ number }) => number)
}

function inOrder(a: BlockMatch, b: BlockMatch): number {
  return b.score - a.score || a.block - b.block || a.index - b.index
}

function matchOf({ documentId, chunk, score }: BlockMatch): VectorMatch {
  return { documentId, chunk, score }
}
