import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Faults } from '../faults.ts'
import {
  type QdrantCollection,
  type QdrantFilter,
  type QdrantLeg,
  type QdrantPoint,
  type QdrantQuery,
  validators,
} from './qdrant-schema.ts'

/** A Qdrant server on a free port of this machine: collections in memory, searched exhaustively. */
export interface QdrantDouble {
  readonly url: string
  readonly env: Record<string, string>
  readonly faults: Faults
  /** What was asked, in order, with its body. */
  readonly requests: { route: string; body: unknown }[]
  readonly collections: ReadonlyMap<string, Collection>
  stop(): Promise<void>
}

interface Collection {
  config: QdrantCollection
  indexes: Set<string>
  points: Map<string, QdrantPoint>
}

type Answer = { status?: number; result?: unknown; error?: string }

const KEY = 'qdrant-double-key'
/** Of Qdrant's default fusion; ranks count from 0. */
const RRF_K = 2

export async function startQdrantDouble(): Promise<QdrantDouble> {
  const faults = new Faults()
  const requests: { route: string; body: unknown }[] = []
  const collections = new Map<string, Collection>()
  const sockets = new Set<Socket>()

  function answer(request: IncomingMessage, path: string, body: unknown): Answer {
    if (request.headers['api-key'] !== KEY) return { status: 401, error: 'Must provide an API key' }
    const [, root, name = '', ...rest] = path.split('/')
    if (root !== 'collections') return { status: 404, error: 'Not found' }
    const route = `${request.method} ${rest.join('/')}`
    const collection = collections.get(name)
    if (name === '') return { result: { collections: [...collections.keys()].map((known) => ({ name: known })) } }
    if (route === 'GET exists') return { result: { exists: collection !== undefined } }
    if (route === 'PUT ') {
      if (!validators.collection.Check(body)) return { status: 400, error: 'Wrong configuration of a collection' }
      if (collection !== undefined) return { status: 409, error: `Collection \`${name}\` already exists!` }
      collections.set(name, { config: body, indexes: new Set(), points: new Map() })
      return { result: true }
    }
    if (collection === undefined) return { status: 404, error: `Not found: Collection \`${name}\` doesn't exist!` }
    return inCollection(route, collection, body)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    requests.push({ route: `${request.method} ${path}`, body })
    const fault = faults.take()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'disconnect') {
      request.socket.destroy()
      return
    }
    const {
      status = 200,
      result,
      error,
    } = fault?.kind === 'refuse'
      ? { status: fault.status, error: fault.message ?? 'The double refuses', result: undefined }
      : answer(request, path, body)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ time: 0.001, status: error === undefined ? 'ok' : { error }, result }))
  }

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    env: { QDRANT_URL: url, QDRANT_API_KEY: KEY },
    faults,
    requests,
    collections,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function inCollection(route: string, collection: Collection, body: unknown): Answer {
  const { config, points, indexes } = collection
  const size = config.vectors.dense?.size
  switch (route) {
    case 'GET ':
      return { result: { status: 'green', config: { params: { vectors: config.vectors } }, payload_schema: {} } }
    case 'PUT index':
      if (!validators.index.Check(body)) return { status: 400, error: 'Wrong index' }
      indexes.add(body.field_name)
      return { result: { operation_id: 1, status: 'completed' } }
    case 'PUT points': {
      if (!validators.points.Check(body)) return { status: 400, error: 'Format error in JSON body' }
      for (const { vector } of body.points) {
        const { indices, values } = vector.bm25
        const wrong = indices.length !== values.length || new Set(indices).size !== indices.length
        if (wrong) return { status: 422, error: 'Validation error: indices must be unique and as many as values' }
        if (vector.dense !== undefined && vector.dense.length !== size) {
          return { status: 400, error: `Wrong input: Vector dimension error: expected dim: ${size}` }
        }
      }
      for (const point of body.points) points.set(point.id, point)
      return { result: { operation_id: 2, status: 'completed' } }
    }
    case 'POST points/delete':
      if (!validators.removal.Check(body)) return { status: 400, error: 'Format error in JSON body' }
      for (const point of points.values()) if (fits(point, body.filter)) points.delete(point.id)
      return { result: { operation_id: 3, status: 'completed' } }
    case 'POST points/query': {
      if (!validators.query.Check(body)) return { status: 400, error: 'Format error in JSON body' }
      const unindexed = body.filter.must.find(({ key }) => !indexes.has(key))
      if (unindexed !== undefined) return { status: 400, error: `Index required but not found for "${unindexed.key}"` }
      return { result: { points: query([...points.values()], body) } }
    }
    default:
      return { status: 404, error: 'Not found' }
  }
}

function query(points: readonly QdrantPoint[], body: QdrantQuery) {
  const { prefetch, filter, limit, with_payload } = body
  const scores = new Map<QdrantPoint, number>()
  for (const leg of prefetch ?? []) {
    rank(points, leg).forEach(([point], i) => {
      if (fits(point, filter)) scores.set(point, (scores.get(point) ?? 0) + 1 / (RRF_K + i))
    })
  }
  const ranked = prefetch === undefined ? rank(points, body as QdrantLeg) : [...scores].sort(([, a], [, b]) => b - a)
  return ranked.slice(0, limit).map(([{ id, payload }, score]) => ({
    id,
    version: 1,
    score,
    payload: Object.fromEntries(Object.entries(payload).filter(([name]) => with_payload.includes(name))),
  }))
}

function rank(points: readonly QdrantPoint[], leg: QdrantLeg): [QdrantPoint, number][] {
  const among = points.filter((point) => fits(point, leg.filter))
  const scored = among.flatMap((point): [QdrantPoint, number][] => {
    const score = Array.isArray(leg.query)
      ? cosine(leg.query, point.vector.dense)
      : weigh(leg.query.indices, point, leg.params ? points.filter((p) => fits(p, leg.params!.idf.corpus)) : points)
    return score === undefined ? [] : [[point, score]]
  })
  return scored.sort(([, a], [, b]) => b - a).slice(0, leg.limit)
}

/** Sum of the point's weights of these words, times how rare each is among `corpus`; undefined without any. */
function weigh(
  indices: readonly number[],
  { vector }: QdrantPoint,
  corpus: readonly QdrantPoint[],
): number | undefined {
  let sum: number | undefined
  for (const index of indices) {
    const at = vector.bm25.indices.indexOf(index)
    if (at < 0) continue
    const n = corpus.filter((point) => point.vector.bm25.indices.includes(index)).length
    sum = (sum ?? 0) + vector.bm25.values[at]! * Math.log(1 + (corpus.length - n + 0.5) / (n + 0.5))
  }
  return sum
}

function cosine(a: readonly number[], b: readonly number[] | undefined): number | undefined {
  if (b === undefined) return undefined
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * y[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

function fits({ payload }: QdrantPoint, { must }: QdrantFilter): boolean {
  return must.every(({ key, match }) =>
    ('any' in match ? match.any : [match.value]).some((value) => value === payload[key]),
  )
}
