import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AtticServer {
  url: string
  objects: Map<string, { bytes: Buffer; type: string }>
  stop(): Promise<void>
}

/** The HTTP server of examples/plugins/attic: keeps objects for whoever has the key, serves them by signed links, and refuses the rest. */
export async function startAtticServer(key: string): Promise<AtticServer> {
  const objects: AtticServer['objects'] = new Map()
  const isSigned = (name: string, query: URLSearchParams): boolean => {
    const given = Buffer.from(query.get('signature') ?? '')
    query.delete('signature')
    const own = Buffer.from(createHmac('sha256', key).update(`${name}?${query}`).digest('hex'))
    return given.length === own.length && timingSafeEqual(given, own) && Number(query.get('until')) * 1_000 > Date.now()
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://attic')
    const name = pathname.slice(1)
    const hasKey = request.headers.authorization === `Bearer ${key}`
    const filename = searchParams.get('filename')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!hasKey && !(isRead && isSigned(name, searchParams))) {
      response.writeHead(403).end('no')
      return
    }
    if (request.method === 'PUT') {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => void parts.push(part))
      request.on('end', () => {
        objects.set(name, { bytes: Buffer.concat(parts), type: request.headers['content-type'] ?? '' })
        response.writeHead(201).end()
      })
      return
    }
    if (request.method === 'DELETE') {
      response.writeHead(objects.delete(name) ? 204 : 404).end()
      return
    }
    const found = objects.get(name)
    if (found === undefined) {
      response.writeHead(404).end()
      return
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const whole = found.bytes.length
    const bytes = from === undefined ? found.bytes : found.bytes.subarray(Number(from), Number(to) + 1)
    response.writeHead(from === undefined ? 200 : 206, {
      'content-type': found.type,
      'content-length': bytes.length,
      ...(from === undefined ? {} : { 'content-range': `bytes ${from}-${Number(from) + bytes.length - 1}/${whole}` }),
      ...(filename === null ? {} : { 'content-disposition': `attachment; filename="${filename}"` }),
    })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    objects,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
