import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { buildInfo } from '../../runtime/process/build-info.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { type AnyRoute, type ApiRequest, defineRoute, Reply } from '../route.ts'
import { Readiness } from './readiness.ts'

const tag = 'System'

const health = defineRoute({
  method: 'GET',
  path: '/health',
  auth: 'none',
  role: 'none',
  success: {
    status: 200,
    schema: Type.Object({ status: Type.Literal('ok'), version: Type.String(), commit: Type.String() }),
  },
  tag,
  summary: 'The process runs',
  examples: { success: { status: 'ok', version: '0.1.0', commit: '5f2c09d1e7ab' } },
  handler: () => ({ status: 'ok' as const, ...buildInfo() }),
})

const ready = defineRoute({
  method: 'GET',
  path: '/ready',
  auth: 'none',
  role: 'none',
  success: { status: 200, orStatus: 503, schema: Readiness, description: 'Ready; with 503, not ready.' },
  tag,
  summary: 'Database and Redis take writes, leases are renewed, and a voice worker is linked',
  description:
    'With 503 the body says which of them does not, and why. Database and Redis are asked once a second at most, Redis by a write.',
  examples: { success: { status: 'ready', database: 'ok', redis: 'ok', leases: 'ok', workers: 1, webrtc: 'open' } },
  handler: async (_, { readiness }) => {
    const body = await readiness()
    return new Reply({ body, status: body.status === 'ready' ? 200 : 503 })
  },
})

const DOCS_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const satisfies Record<string, string>

/** Nothing but this server: the page loads no font, script or image from elsewhere. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Patchbay API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const DOCS_SCRIPT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null })
`

/** Read for what they are sent with. */
const PAGE_HEADERS = ['if-none-match', 'accept-encoding'] as const

const docs = defineRoute({
  method: 'GET',
  path: '/docs',
  auth: 'none',
  role: 'none',
  headers: PAGE_HEADERS,
  success: { status: 200, orStatus: 304, schema: Type.String(), contentType: 'text/html' },
  tag,
  summary: 'This documentation as a page',
  handler: (request) => page('docs', () => DOCS_PAGE, 'text/html; charset=utf-8', request),
})

const docsFile = defineRoute({
  method: 'GET',
  path: '/docs/{file}',
  auth: 'none',
  role: 'none',
  params: { file: { description: 'A file of the page.', example: 'swagger-ui.css' } },
  headers: PAGE_HEADERS,
  success: { status: 200, orStatus: 304, schema: Type.String(), contentType: '*/*' },
  errors: ['not_found'],
  tag,
  summary: 'The files of the documentation page',
  handler: (request) => {
    const { file } = request.params
    if (file === 'start.js') return page(file, () => DOCS_SCRIPT, 'text/javascript; charset=utf-8', request)
    if (!Object.hasOwn(DOCS_FILES, file)) throw new PatchbayError('not_found')
    return page(file, () => docsContent(file), DOCS_FILES[file as keyof typeof DOCS_FILES], request)
  },
})

function docsContent(file: string): Promise<Buffer> {
  return readFile(join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), file))
}

interface Compressed {
  etag: string
  /** By content coding. */
  bodies: Readonly<Record<'br' | 'gzip' | 'identity', Uint8Array>>
}

const compressed = new Map<string, Promise<Compressed>>()

/** Packed once, by the thread pool. */
async function compress(content: string | Buffer | Promise<Buffer>): Promise<Compressed> {
  const identity = Buffer.from(await content)
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(identity),
  ])
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
  return { etag, bodies: { br, gzip: zipped, identity } }
}

/** A file of the page, as the browser can read it, or nothing when it has it already. */
async function page(
  name: string,
  content: () => string | Promise<Buffer>,
  contentType: string,
  request: Pick<ApiRequest, 'header'>,
): Promise<Reply> {
  const packing = compressed.get(name) ?? compress(content())
  compressed.set(name, packing)
  packing.catch(() => compressed.delete(name))
  const { etag, bodies } = await packing
  const coding = codingFor(request.header('accept-encoding'))
  const own = `"${etag}-${coding}"`
  const headers: [string, string][] = [
    ['content-security-policy', CONTENT_SECURITY_POLICY],
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

/** `/openapi.json` describes every route, itself included. */
function openApi(routes: () => readonly AnyRoute[]): AnyRoute {
  let document: string | undefined
  return defineRoute({
    method: 'GET',
    path: '/openapi.json',
    auth: 'none',
    role: 'none',
    success: { status: 200, schema: Type.Object({ openapi: Type.String() }) },
    tag,
    summary: 'This documentation as an OpenAPI 3.1 document',
    handler: (_, { config }) => {
      document ??= JSON.stringify(
        openApiDocument(routes(), { publicUrl: config.publicUrl, version: buildInfo().version }),
      )
      return new Reply({ body: document, headers: [['content-type', 'application/json; charset=utf-8']] })
    },
  })
}

/** `routes`: all routes, these included. */
export function systemRoutes(routes: () => readonly AnyRoute[]): AnyRoute[] {
  return [health, ready, openApi(routes), docs, docsFile]
}
