import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type AnyRoute, type ApiRequest, defineRoute, Reply } from '../route.ts'
import { docsDocument, foundOf, homeOf, STYLE } from './docs-document.ts'
import { PAGE_SECURITY, packedPage } from './packed-page.ts'
import { DocsSite } from './site.ts'

/** The documentation at /docs: the pages of docs/, a search over them, and the reference of the API. */

const FOLDER = join(import.meta.dirname, '../../docs')
const tag = 'System'
const HTML = 'text/html; charset=utf-8'
const MAX_WORDS_CHARS = 200

const REFERENCE_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const satisfies Record<string, string>

const REFERENCE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Patchbay API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<p style="margin:1rem 1.25rem 0;font:1rem system-ui,sans-serif"><a href="/docs">Documentation</a></p>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const REFERENCE_SCRIPT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null })
`

let reading: Promise<DocsSite> | undefined

/** Read when somebody asks for it first. */
function docsSite(): Promise<DocsSite> {
  reading ??= DocsSite.read(FOLDER).catch((error: unknown) => {
    reading = undefined
    throw error
  })
  return reading
}

/** Read for what they are sent with. */
const PAGE_HEADERS = ['if-none-match', 'accept-encoding'] as const

const home = defineRoute({
  method: 'GET',
  path: '/docs',
  auth: 'none',
  role: 'none',
  headers: PAGE_HEADERS,
  success: { status: 200, orStatus: 304, schema: Type.String(), contentType: 'text/html' },
  tag,
  summary: 'The documentation of Patchbay as pages',
  handler: (request) => packedPage('', homePage, HTML, request),
})

const file = defineRoute({
  method: 'GET',
  path: '/docs/{file}',
  auth: 'none',
  role: 'none',
  params: {
    file: {
      description: 'A page, such as `campaigns`; `reference`: this documentation; `search`.',
      example: 'campaigns',
    },
  },
  query: Type.Object({
    q: Type.Optional(Type.String({ maxLength: MAX_WORDS_CHARS, description: 'Of `search`: the words.' })),
  }),
  headers: PAGE_HEADERS,
  success: { status: 200, orStatus: 304, schema: Type.String(), contentType: '*/*' },
  errors: ['not_found'],
  tag,
  summary: 'A page of the documentation, the search over it, or a file of a page',
  handler: (request) => {
    const { file: name } = request.params
    if (name === 'reference') return packedPage(name, () => REFERENCE, HTML, request)
    if (name === 'start.js') return packedPage(name, () => REFERENCE_SCRIPT, 'text/javascript; charset=utf-8', request)
    if (name === 'style.css') return packedPage(name, () => STYLE, 'text/css; charset=utf-8', request)
    if (name === 'search') return searchPage(request.query.q ?? '')
    if (Object.hasOwn(REFERENCE_FILES, name)) {
      return packedPage(name, () => referenceFile(name), REFERENCE_FILES[name as keyof typeof REFERENCE_FILES], request)
    }
    return sitePage(name, request)
  },
})

async function homePage(): Promise<string> {
  const site = await docsSite()
  return docsDocument(site, { title: 'Documentation', content: homeOf(site) })
}

async function sitePage(name: string, request: Pick<ApiRequest, 'header'>): Promise<Reply> {
  const site = await docsSite()
  const address = `/docs/${name}`
  const page = site.pages.get(address)
  if (page !== undefined) {
    const draw = () => docsDocument(site, { title: page.title, address, content: page.html })
    return packedPage(name, draw, HTML, request)
  }
  const picture = site.pictures.get(address)
  if (picture === undefined) throw new PatchbayError('not_found')
  return packedPage(name, () => readFile(join(FOLDER, picture)), 'image/webp', request)
}

/** Every search is another page: nothing of it is kept. */
async function searchPage(words: string): Promise<Reply> {
  const site = await docsSite()
  const body = docsDocument(site, { title: 'Search', words, content: foundOf(words, site.search(words)) })
  return new Reply({ body, headers: [['content-type', HTML], ...PAGE_SECURITY] })
}

function referenceFile(name: string): Promise<Buffer> {
  return readFile(join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), name))
}

export const docsRoutes: readonly AnyRoute[] = [home, file]
