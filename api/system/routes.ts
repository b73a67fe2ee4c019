import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/errors.ts'
import { openApiDocument } from '../openapi.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'
import { isReady, Readiness } from './readiness.ts'

const tag = 'System'

const health = defineRoute({
  method: 'GET',
  path: '/health',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.Object({ status: Type.Literal('ok') }) },
  tag,
  summary: 'The process runs',
  examples: { success: { status: 'ok' } },
  handler: () => ({ status: 'ok' as const }),
})

const ready = defineRoute({
  method: 'GET',
  path: '/ready',
  auth: 'none',
  role: 'none',
  success: { status: 200, orStatus: 503, schema: Readiness, description: 'Ready; with 503, not ready.' },
  tag,
  summary: 'Database, Redis and voice workers answer',
  description: 'With 503 the body says which of them does not.',
  examples: { success: { status: 'ready', database: 'ok', redis: 'ok', workers: 1 } },
  handler: async (_, services) => {
    const body = await isReady(services)
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

const docs = defineRoute({
  method: 'GET',
  path: '/docs',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  tag,
  summary: 'This documentation as a page',
  handler: () => page(DOCS_PAGE, 'text/html; charset=utf-8'),
})

const docsFile = defineRoute({
  method: 'GET',
  path: '/docs/{file}',
  auth: 'none',
  role: 'none',
  params: { file: { description: 'A file of the page.', example: 'swagger-ui.css' } },
  success: { status: 200, schema: Type.String(), contentType: '*/*' },
  errors: ['not_found'],
  tag,
  summary: 'The files of the documentation page',
  handler: async ({ params: { file } }) => {
    if (file === 'start.js') return page(DOCS_SCRIPT, 'text/javascript; charset=utf-8')
    if (!Object.hasOwn(DOCS_FILES, file)) throw new PatchbayError('not_found')
    return page(await docsContent(file), DOCS_FILES[file as keyof typeof DOCS_FILES])
  },
})

const cached = new Map<string, Promise<Buffer>>()

function docsContent(file: string): Promise<Buffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const content = cached.get(file) ?? readFile(join(folder, file))
  cached.set(file, content)
  return content
}

function page(body: string | Uint8Array, contentType: string): Reply {
  return new Reply({
    body,
    headers: [
      ['content-type', contentType],
      ['content-security-policy', CONTENT_SECURITY_POLICY],
      ['x-content-type-options', 'nosniff'],
    ],
  })
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
      document ??= JSON.stringify(openApiDocument(routes(), { publicUrl: config.publicUrl, version: '0.1.0' }))
      return new Reply({ body: document, headers: [['content-type', 'application/json; charset=utf-8']] })
    },
  })
}

/** `routes`: all routes, these included. */
export function systemRoutes(routes: () => readonly AnyRoute[]): AnyRoute[] {
  return [health, ready, openApi(routes), docs, docsFile]
}
