import { setImmediate as breathe } from 'node:timers/promises'
import t from 'tap'
import { IndexCache } from '../../../../plugins/embedded-vectors/cache.ts'
import { type DenseRows, denseQuery, denseRows } from '../../../../runtime/knowledge/dense.ts'
import type { ShelvedRow } from '../../../../runtime/knowledge/engine/blocks.ts'
import { type EngineBlock, SearchEngine } from '../../../../runtime/knowledge/engine/engine.ts'
import { denseModel, encodeRow } from '../../../../runtime/knowledge/engine/row.ts'
import { termsOf } from '../../../../runtime/knowledge/terms.ts'
import type { VectorBlobStore, VectorPoint, VectorScope } from '../../../../runtime/plugin/contract.ts'
import { numbers } from '../../../support/phone/numbers.ts'

const DIMENSIONS = 48
const model = denseModel({ model: 'test/model', dimensions: DIMENSIONS })!
const signal = new AbortController().signal
const scopeOf = (agent: number): VectorScope => ({ workspaceId: 'w', agentId: `agent-${agent}` })

/** An engine that says what it holds. */
class CountedEngine extends SearchEngine {
  readonly held = new Map<number, EngineBlock>()

  override async add(rows: readonly ShelvedRow[], others: readonly EngineBlock[]): Promise<EngineBlock[]> {
    const blocks = await super.add(rows, others)
    for (const block of blocks) this.held.set(block.number, block)
    return blocks
  }

  override drop(blocks: readonly EngineBlock[]): void {
    for (const { number } of blocks) this.held.delete(number)
    super.drop(blocks)
  }

  get heldBytes(): number {
    return [...this.held.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }
}

interface Document {
  id: number
  agentId: string
  documentId: string
  points: VectorPoint[]
  bytes: Buffer
}

/** A shelf in memory whose answers come in a later turn. */
function makeShelf() {
  const documents = new Map<number, Document>()
  const versions = new Map<string, number>()
  let lastId = 0
  const of = (agentId: string) => [...documents.values()].filter((document) => document.agentId === agentId)
  const change = (agentId: string) => versions.set(agentId, (versions.get(agentId) ?? 0) + 1)
  const shelf: VectorBlobStore = {
    put: async () => {},
    remove: async () => {},
    async version({ agentId }) {
      await breathe()
      return versions.get(agentId) ?? 0
    },
    async list({ agentId }) {
      await breathe()
      return of(agentId).map(({ id, documentId, bytes }) => ({ id, documentId, byteLength: bytes.length }))
    },
    async read(_scope, ids) {
      await breathe()
      return ids.flatMap((id) => documents.get(id) ?? [])
    },
  }
  return {
    shelf,
    of,
    put(agentId: string, points: VectorPoint[]) {
      const id = ++lastId
      documents.set(id, { id, agentId, documentId: `document-${id}`, points, bytes: encodeRow(points, model) })
      change(agentId)
    },
    remove({ id, agentId }: Document) {
      documents.delete(id)
      change(agentId)
    },
  }
}

/** The nearest chunks, by a search of all points in turn. */
function nearest(documents: readonly Document[], vector: Float32Array, limit: number): string[] {
  const { steps } = denseQuery(vector)!
  const product = ({ rows, scales }: DenseRows) =>
    rows.reduce((sum, value, i) => sum + value * steps[i]!, 0) * scales[0]!
  return documents
    .flatMap(({ documentId, points }) =>
      points.flatMap(({ chunk, dense }) =>
        dense === undefined
          ? []
          : [{ place: `${documentId}/${chunk}`, score: product(denseRows([dense], DIMENSIONS)) }],
      ),
    )
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ place }) => place)
}

t.test('whatever comes and goes while searches run, the next one finds exactly what is there', async (t) => {
  const random = numbers(7)
  const upTo = (n: number) => Math.floor(((random() + 1) / 2) * n)
  const vector = () => Float32Array.from({ length: DIMENSIONS }, random)
  const { shelf, of, put, remove } = makeShelf()
  const engine = new CountedEngine({ model, onLost: (error) => t.fail(error) })
  // Room for about two of the three agents.
  const maxBytes = 600_000
  const cache = new IndexCache(shelf, maxBytes, () => engine)
  t.teardown(() => cache.close())
  const search = async (agent: number, dense: Float32Array, limit = 8) => {
    const matches = await cache.search(scopeOf(agent), { terms: termsOf(''), dense, limit }, signal)
    return matches.map(({ documentId, chunk }) => `${documentId}/${chunk}`)
  }
  for (let round = 0; round < 30; round++) {
    const running: Promise<string[]>[] = []
    for (let step = 0; step < 6; step++) {
      const agentId = `agent-${upTo(3)}`
      const documents = of(agentId)
      if (upTo(3) === 0 && documents.length > 8) remove(documents[upTo(documents.length)]!)
      else {
        const points = Array.from({ length: upTo(8) === 0 ? 150 : 1 + upTo(12) }, (_, chunk): VectorPoint => {
          return { chunk, terms: termsOf('apple'), ...(upTo(10) > 0 && { dense: vector() }) }
        })
        put(agentId, points)
      }
      running.push(search(upTo(3), vector()))
      if (upTo(2) === 0) await breathe()
    }
    for (const found of await Promise.all(running)) t.ok(found.length <= 8)
    for (const agent of [0, 1, 2]) {
      const wanted = vector()
      t.strictSame(await search(agent, wanted), nearest(of(`agent-${agent}`), wanted, 8))
    }
  }
  t.ok(engine.heldBytes > 0 && engine.heldBytes <= maxBytes, `${engine.heldBytes} bytes`)
  for (const agent of [0, 1, 2]) {
    of(`agent-${agent}`).forEach(remove)
    t.same(await search(agent, vector()), [])
  }
  t.equal(engine.held.size, 0, 'nothing is held for nobody')
})

t.test('an engine that was lost is replaced, and what it held is read again', async (t) => {
  const { shelf, put } = makeShelf()
  const engines: SearchEngine[] = []
  const cache = new IndexCache(shelf, 1 << 20, () => {
    const engine = new SearchEngine({ model, onLost: () => {} })
    engines.push(engine)
    return engine
  })
  t.teardown(() => cache.close())
  const search = () => cache.search(scopeOf(0), { terms: termsOf('apple'), limit: 5 }, signal)
  put('agent-0', [{ chunk: 0, terms: termsOf('red apple') }])
  t.equal((await search()).length, 1)
  const during = search()
  const lost = breathe().then(() => engines[0]!.close())
  await Promise.allSettled([during, lost])
  t.equal((await search()).length, 1)
  put('agent-0', [{ chunk: 0, terms: termsOf('green apple') }])
  t.equal((await search()).length, 2)
  t.equal(engines.length, 2)
  await cache.close()
  await t.rejects(search(), { code: 'unavailable' })
  t.equal(engines.length, 2, 'a closed cache starts no other')
})

t.test('however often knowledge changes while it is read, one index of an agent is read at a time', async (t) => {
  const { shelf, put } = makeShelf()
  let [reading, readingAtMost, rowsRead] = [0, 0, 0]
  const counted: VectorBlobStore = {
    ...shelf,
    async list(scope, signal) {
      reading++
      readingAtMost = Math.max(reading, readingAtMost)
      return shelf.list(scope, signal)
    },
    async read(scope, ids, signal) {
      rowsRead += ids.length
      for (let turn = 0; turn < 20; turn++) await breathe()
      const rows = await shelf.read(scope, ids, signal)
      reading--
      return rows
    },
  }
  const engine = new CountedEngine({ model: undefined, onLost: (error) => t.fail(error) })
  const cache = new IndexCache(counted, 1 << 20, () => engine)
  t.teardown(() => cache.close())
  const DOCUMENTS = 100
  const searches: Promise<number>[] = []
  for (let i = 0; i < DOCUMENTS; i++) {
    put('agent-0', [{ chunk: 0, terms: termsOf('apple') }])
    const searched = cache.search(scopeOf(0), { terms: termsOf('apple'), limit: 2 * DOCUMENTS }, signal)
    searches.push(searched.then((found) => found.length))
    await breathe()
  }
  for (const [i, found] of (await Promise.all(searches)).entries()) t.ok(found > i, `search ${i} finds what was there`)
  t.equal(readingAtMost, 1)
  t.ok(rowsRead < 10 * DOCUMENTS, `${rowsRead} rows read`)
  const held = [...engine.held.values()].reduce((sum, { chunks }) => sum + chunks, 0)
  t.equal(held, DOCUMENTS, 'and held once')
})

t.test('a workspace that asks for many indexes leaves room to read another’s', async (t) => {
  const { shelf, put } = makeShelf()
  const abort = new AbortController()
  const stuck: VectorBlobStore = {
    ...shelf,
    list: (scope, signal) => (scope.workspaceId === 'hostile' ? new Promise(() => {}) : shelf.list(scope, signal)),
  }
  const cache = new IndexCache(
    stuck,
    1 << 20,
    () => new SearchEngine({ model: undefined, onLost: (error) => t.fail(error) }),
  )
  t.teardown(() => cache.close())
  const search = (workspaceId: string, agentId: string, signal: AbortSignal) => {
    put(agentId, [{ chunk: 0, terms: termsOf('apple') }])
    return cache.search({ workspaceId, agentId }, { terms: termsOf('apple'), limit: 5 }, signal)
  }
  const hostile = Array.from({ length: 40 }, (_, i) => search('hostile', `h${i}`, abort.signal))
  t.equal((await search('quiet', 'q', signal)).length, 1)
  abort.abort(new Error('gone'))
  for (const one of hostile) await t.rejects(one, { message: 'gone' })
})

t.test('a search that is given up while its index is read leaves the reading to others', async (t) => {
  const { shelf, put } = makeShelf()
  const cache = new IndexCache(shelf, 1 << 20, () => new SearchEngine({ model, onLost: (error) => t.fail(error) }))
  t.teardown(() => cache.close())
  put('agent-0', [{ chunk: 0, terms: termsOf('red apple') }])
  const abort = new AbortController()
  const search = (signal: AbortSignal) => cache.search(scopeOf(0), { terms: termsOf('apple'), limit: 5 }, signal)
  const [first, second] = [search(abort.signal), search(signal)]
  await breathe()
  abort.abort(new Error('gone'))
  await t.rejects(first, { message: 'gone' })
  t.equal((await second).length, 1)
})
