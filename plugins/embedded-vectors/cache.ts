import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { FULL_BLOCK_CHUNKS } from '../../runtime/knowledge/engine/blocks.ts'
import type { EngineBlock, Index, SearchEngine } from '../../runtime/knowledge/engine/engine.ts'
import type { ShelfRow, VectorBlobStore, VectorMatch, VectorQuery, VectorScope } from '../../runtime/plugin/contract.ts'

/** Read at once: little enough that neither the event loop nor the searches of other agents wait for long. */
const READ_BYTES = 256 * 1024
const READ_ROWS = 256
/** Indexes that are read at once, and of one workspace: another's finds a place. */
const READ_AT_ONCE = 8
const READ_OF_ONE = 2
const MAX_WAITING = 256

interface Block extends EngineBlock {
  /** Indexes that have it. */
  users: number
}

/** The index of an agent in one of its versions. */
interface Entry {
  version: number
  /** Where its blocks are. */
  engine: SearchEngine
  readonly blocks: Block[]
  /** Settles once all blocks are there. */
  ready: Promise<void>
  /** What its engine searches; undefined until it is ready. */
  index: Index | undefined
  byteLength: number
  /** The cache, the loading, and each search: with the last, its blocks go. */
  users: number
}

/** Indexes of an agent on their way. */
interface Loading {
  /** Being read. */
  running?: Entry | undefined
  /** Will be read then, as the knowledge is by that time, for all who ask until it begins. */
  next?: Entry | undefined
}

/**
 * The blocks the engine holds per agent: indexes of the agents used last, up to `maxBytes` together (one agent's alone may be
 * larger). Each use asks the shelf for the version; after a change only rows that are new, or that stood beside a removed
 * one, are read. However often it changes, one index of an agent is read at a time. An engine that was lost is replaced by the next use.
 */
export class IndexCache {
  readonly #shelf: VectorBlobStore
  readonly #maxBytes: number
  readonly #makeEngine: () => SearchEngine
  #engine: SearchEngine
  /** In the order of use, oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #loading = new Map<string, Loading>()
  readonly #reading = new AdmissionGate({
    kind: 'knowledge_index',
    places: READ_AT_ONCE,
    mostOfOne: READ_OF_ONE,
    maxWaiting: MAX_WAITING,
  })
  #bytes = 0
  #isClosed = false

  constructor(shelf: VectorBlobStore, maxBytes: number, makeEngine: () => SearchEngine) {
    this.#shelf = shelf
    this.#maxBytes = maxBytes
    this.#makeEngine = makeEngine
    this.#engine = makeEngine()
  }

  /** Searches the index of an agent as it is now. */
  async search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<VectorMatch[]> {
    const version = await this.#shelf.version(scope, signal)
    const entry = this.#use(scope, version)
    try {
      await withSignal(entry.ready, signal)
      return await entry.engine.search(entry.index!, query, signal)
    } finally {
      release(entry)
    }
  }

  /** Searches throw `unavailable` from then on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#engine.close()
  }

  /** An index of this version or a later one, there or on its way; the caller releases it. */
  #use(scope: VectorScope, version: number): Entry {
    if (this.#engine.isOver && !this.#isClosed) this.#replaceEngine()
    const key = keyOf(scope)
    const cached = this.#entries.get(key)
    if (cached !== undefined && cached.version >= version) {
      this.#entries.delete(key)
      this.#entries.set(key, cached)
      cached.users++
      return cached
    }
    const loading = this.#loading.get(key) ?? {}
    this.#loading.set(key, loading)
    const { running } = loading
    if (running !== undefined && running.version >= version) {
      running.users++
      return running
    }
    loading.next ??= this.#queue(scope, loading)
    loading.next.users++
    return loading.next
  }

  /** An index that is read when the workspace has its turn. */
  #queue(scope: VectorScope, loading: Loading): Entry {
    const entry: Entry = {
      version: Number.NEGATIVE_INFINITY,
      engine: this.#engine,
      blocks: [],
      ready: Promise.resolve(),
      index: undefined,
      byteLength: 0,
      // The loading.
      users: 1,
    }
    entry.ready = this.#read(scope, entry, loading)
    entry.ready.catch(() => {})
    return entry
  }

  async #read(scope: VectorScope, entry: Entry, loading: Loading): Promise<void> {
    const key = keyOf(scope)
    try {
      await loading.running?.ready.catch(() => {})
      await this.#reading.run(scope, () => this.#fill(scope, entry, loading))
    } finally {
      if (loading.next === entry) loading.next = undefined
      if (loading.running === entry) loading.running = undefined
      const isIdle = loading.next === undefined && loading.running === undefined
      if (isIdle && this.#loading.get(key) === loading) this.#loading.delete(key)
      release(entry)
    }
  }

  async #fill(scope: VectorScope, entry: Entry, loading: Loading): Promise<void> {
    if (entry.users === 1) {
      // The caller has gone.
      loading.next = undefined
      return
    }
    const key = keyOf(scope)
    const previous = this.#entries.get(key)
    if (previous !== undefined) previous.users++
    try {
      entry.engine = this.#engine
      entry.version = await this.#shelf.version(scope, new AbortController().signal)
      // Later callers may know of more than is listed now.
      loading.next = undefined
      loading.running = entry
      await this.#load(scope, entry, previous?.blocks ?? [])
      this.#keep(key, entry)
    } finally {
      if (previous !== undefined) release(previous)
    }
  }

  /** Shared by all who wait, so no single caller's signal ends it; each of its queries has the database's own timeout. */
  async #load(scope: VectorScope, entry: Entry, previous: readonly Block[]): Promise<void> {
    const rows = await this.#shelf.list(scope, new AbortController().signal)
    for (const block of reusable(previous, rows)) {
      block.users++
      entry.blocks.push(block)
    }
    const held = new Set(entry.blocks.flatMap((block) => block.rowIds))
    for (const batch of batches(rows.filter(({ id }) => !held.has(id)))) {
      const ids = batch.map(({ id }) => id)
      const read = await this.#shelf.read(scope, ids, new AbortController().signal)
      const bytesOf = new Map(read.map(({ id, bytes }) => [id, bytes]))
      const shelved = batch.flatMap(({ id, documentId }) => {
        const bytes = bytesOf.get(id)
        // Deleted since it was listed.
        return bytes === undefined ? [] : [{ id, documentId, bytes }]
      })
      for (const info of await entry.engine.add(shelved, entry.blocks)) entry.blocks.push({ ...info, users: 1 })
    }
    entry.index = entry.engine.indexOf(entry.blocks)
    entry.byteLength = entry.blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  #keep(key: string, entry: Entry): void {
    if (entry.engine !== this.#engine) return
    entry.users++
    const previous = this.#entries.get(key)
    if (previous !== undefined) this.#forget(key, previous)
    this.#entries.set(key, entry)
    this.#bytes += entry.byteLength
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break
      this.#forget(oldest, old)
    }
  }

  #forget(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= entry.byteLength
    release(entry)
  }

  /** The blocks of a lost engine went with it. */
  #replaceEngine(): void {
    this.#entries.clear()
    this.#loading.clear()
    this.#bytes = 0
    this.#engine = this.#makeEngine()
  }
}

function keyOf({ workspaceId, agentId }: VectorScope): string {
  return `${workspaceId}/${agentId}`
}

/** Gives an entry up; with its last user, blocks that no other entry has are dropped. */
function release(entry: Entry): void {
  if (--entry.users > 0) return
  entry.engine.drop(entry.blocks.filter((block) => --block.users === 0))
}

/** Blocks whose rows are all still there. With rows to add, at most one that has room is given up to be filled. */
function reusable(blocks: readonly Block[], rows: readonly ShelfRow[]): Block[] {
  const present = new Set(rows.map(({ id }) => id))
  const whole = blocks.filter((block) => block.rowIds.every((id) => present.has(id)))
  const grows = whole.reduce((sum, block) => sum + block.rowIds.length, 0) < rows.length
  const room = grows ? whole.findIndex(({ chunks }) => chunks < FULL_BLOCK_CHUNKS) : -1
  return whole.filter((_, i) => i !== room)
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
