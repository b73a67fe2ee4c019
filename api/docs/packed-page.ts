import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ApiRequest, Reply } from '../route.ts'

/** Nothing but this server: a page loads no font, script or image from elsewhere. */
export const PAGE_SECURITY: readonly (readonly [string, string])[] = [
  [
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  ],
]

interface Compressed {
  etag: string
  /** By content coding. */
  bodies: Readonly<Record<'br' | 'gzip' | 'identity', Uint8Array>>
}

const compressed = new Map<string, Promise<Compressed>>()

/** Packed once, by the thread pool. */
async function compress(content: string | Buffer | Promise<string | Buffer>): Promise<Compressed> {
  const identity = Buffer.from(await content)
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(identity),
  ])
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
  return { etag, bodies: { br, gzip: zipped, identity } }
}

/** A file of the page, as the browser can read it, or nothing when it has it already. */
export async function packedPage(
  name: string,
  content: () => string | Promise<string | Buffer>,
  contentType: string,
  request: Pick<ApiRequest, 'header'>,
): Promise<Reply> {
  const packing = compressed.get(name) ?? compress(content())
  compressed.set(name, packing)
  packing.catch(() => compressed.delete(name))
  const { etag, bodies } = await packing
  const coding = codingFor(request.header('accept-encoding'))
  const own = `"${etag}-${coding}"`
  const headers: (readonly [string, string])[] = [
    ...PAGE_SECURITY,
    ['cache-control', 'no-cache'],
    ['vary', 'accept-encoding'],
    ['etag', own],
  ]
  const has = request
    .header('if-none-match')
    .split(',')
    .map((tag) => tag.trim())
  if (has.includes('*') || has.some((tag) => tag.replace(/^W\//, '') === own))
    return new Reply({ status: 304, headers })
  if (coding !== 'identity') headers.push(['content-encoding', coding])
  return new Reply({ body: bodies[coding], headers: [['content-type', contentType], ...headers] })
}

/** The best one the client takes (RFC 9110, 12.5.3); a weight of 0 is a refusal. */
function codingFor(accepted: string): keyof Compressed['bodies'] {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((one) => one.trim())
      .filter((one) => !/;\s*q=0(\.0*)?$/.test(one))
      .map((one) => one.split(';')[0]?.trim()),
  )
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : 'identity'
}
