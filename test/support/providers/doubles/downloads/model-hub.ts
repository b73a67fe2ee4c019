import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the hub does wrong with files from now on. */
export interface HubFaults {
  /** Each answer breaks off after so many bytes. */
  cutAfterBytes?: number
  /** It sends other bytes than it lists. */
  corrupt?: boolean
  /** It knows no ranges, and sends all. */
  ignoresRanges?: boolean
  status?: number
}

export interface ModelHub {
  readonly url: string
  readonly faults: HubFaults
  /** What was asked for: method, path and range. */
  readonly requests: string[]
  stop(): Promise<void>
}

/** What lies above this in a repository is kept in LFS, and its digest is the one of its bytes. */
const LFS_BYTES = 1_000
const REVISION = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'
const PAGE = 3

/**
 * A hub of models as the Hugging Face Hub is (huggingface.co/docs/hub/api): what a repository holds, in pages, and its files
 * by way of a redirect, with ranges. `repositories`: path → body, by `owner/name`.
 */
export async function startModelHub(
  repositories: Readonly<Record<string, Readonly<Record<string, Buffer | string>>>>,
): Promise<ModelHub> {
  const faults: HubFaults = {}
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://hub')
    const range = request.headers.range
    requests.push(`${request.method} ${url.pathname}${range === undefined ? '' : ` ${range}`}`)
    const json = (status: number, body: unknown, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(url.pathname)
    const file = /^\/(cdn\/)?([^/]+\/[^/]+)\/resolve\/([0-9a-f]{40})\/(.+)$/.exec(url.pathname)
    const files = repositories[api?.[1] ?? file?.[2] ?? '']
    if (files === undefined) return json(404, { error: 'Repository not found' })
    if (api?.[2] === 'revision') return json(api[3] === 'main' ? 200 : 404, { id: api[1], sha: REVISION })
    if (api !== null) {
      if (api[3] !== REVISION) return json(404, { error: 'Invalid rev id' })
      const entries = entriesOf(files)
      const from = Number(url.searchParams.get('cursor') ?? 0)
      const more = from + PAGE < entries.length
      const next = `${address}${url.pathname}?recursive=true&cursor=${from + PAGE}`
      return json(200, entries.slice(from, from + PAGE), more ? { link: `<${next}>; rel="next"` } : {})
    }
    if (file === null) return json(404, { error: 'Not found' })
    const listed = files[decodeURIComponent(file[4] ?? '')]
    if (listed === undefined || file[3] !== REVISION) return json(404, { error: 'Entry not found' })
    if (faults.status !== undefined) return json(faults.status, { error: 'fault' })
    if (file[1] === undefined) {
      response.writeHead(302, { location: `/cdn${url.pathname}` }).end()
      return
    }
    const body = Buffer.from(listed)
    if (faults.corrupt) body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
    const from = range === undefined || faults.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(range)?.[1])
    const rest = body.subarray(from)
    const headers = { 'content-length': rest.length, 'accept-ranges': 'bytes' }
    if (from > 0) {
      response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` })
    } else response.writeHead(200, headers)
    const cut = faults.cutAfterBytes
    if (cut === undefined || cut >= rest.length) {
      response.end(rest)
      return
    }
    // What was sent is read before the connection is gone.
    response.write(rest.subarray(0, cut), () => setTimeout(() => request.socket.destroy(), 100))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: address,
    faults,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function entriesOf(files: Readonly<Record<string, Buffer | string>>): object[] {
  return Object.entries(files).map(([path, given]) => {
    const body = Buffer.from(given)
    const oid = createHash('sha1').update(`blob ${body.length}\0`).update(body).digest('hex')
    if (body.length <= LFS_BYTES) return { type: 'file', path, size: body.length, oid }
    const sha256 = createHash('sha256').update(body).digest('hex')
    return { type: 'file', path, size: body.length, oid, lfs: { oid: sha256, size: body.length, pointerSize: 134 } }
  })
}
