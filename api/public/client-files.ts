import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'

/** The client library and the widget (packages/web), for pages of any origin, and the packages of the SDKs (packages/sdk). */

const FOLDER = join(import.meta.dirname, '../../packages/web/dist')
const PACKAGES = join(import.meta.dirname, '../../packages/sdk/dist')
const SCRIPT = 'text/javascript; charset=utf-8'
/** Pages that embed the widget get a new one within this time of an update. */
const MAX_AGE_S = 300

const FILES = {
  'patchbay.js': 'mod.js',
  'more-words.js': 'more-words.js',
  'worklet.js': 'worklet.js',
  'widget.js': 'widget.js',
} as const satisfies Record<string, string>

const cached = new Map<string, Promise<{ body: Buffer; etag: string }>>()

function contentOf(path: string): Promise<{ body: Buffer; etag: string }> {
  const known = cached.get(path)
  if (known !== undefined) return known
  const read = readFile(path).then((body) => {
    const hash = createHash('sha256').update(body).digest('base64url')
    return { body, etag: `"${hash.slice(0, 22)}"` }
  })
  cached.set(path, read)
  read.catch(() => cached.delete(path))
  return read
}

async function script(file: string, log: { error(detail: object, words: string): void }): Promise<Reply> {
  const content = await contentOf(join(FOLDER, file)).catch((err) => {
    log.error({ err }, 'The client for pages is not built: node scripts/build-web.ts')
    throw new PatchbayError('unavailable', { cause: err })
  })
  return new Reply({
    body: content.body,
    headers: [
      ['content-type', SCRIPT],
      ['access-control-allow-origin', '*'],
      ['cross-origin-resource-policy', 'cross-origin'],
      ['cache-control', `public, max-age=${MAX_AGE_S}`],
      ['etag', content.etag],
    ],
  })
}

const clientFile = defineRoute({
  method: 'GET',
  path: '/client/v1/{file}',
  auth: 'none',
  role: 'none',
  params: { file: { description: '`patchbay.js`: the library as a module.', example: 'patchbay.js' } },
  success: { status: 200, schema: Type.String(), contentType: 'text/javascript' },
  errors: ['not_found', 'unavailable'],
  tag: 'Public agents',
  summary: 'The client library for pages',
  handler: ({ params: { file } }, { log }) => {
    if (!Object.hasOwn(FILES, file)) throw new PatchbayError('not_found')
    return script(FILES[file as keyof typeof FILES], log)
  },
})

const widget = defineRoute({
  method: 'GET',
  path: '/widget.js',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.String(), contentType: 'text/javascript' },
  errors: ['unavailable'],
  tag: 'Public agents',
  summary: 'The element <patchbay-agent> for any page',
  handler: (_, { log }) => script('widget.js', log),
})

const NOT_BUILT = 'The packages of the SDKs are not built: node scripts/sdk/build.ts'
const isPackage = (name: string): boolean => /^[a-z][\w.-]+\.(?:tgz|whl|zip)$/.test(name)

const sdkIndex = defineRoute({
  method: 'GET',
  path: '/client/',
  trailingSlash: true,
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  errors: ['unavailable'],
  tag: 'System',
  summary: 'The packages of the SDKs, of the version of this installation',
  description: 'For `pip install --find-links`: a page of links.',
  handler: async (_, { log }) => {
    const files = await readdir(PACKAGES).catch((err) => {
      log.error({ err }, NOT_BUILT)
      throw new PatchbayError('unavailable', { cause: err })
    })
    const links = files.filter(isPackage).map((name) => `<li><a href="${name}">${name}</a></li>`)
    const body = `<!doctype html><meta charset="utf-8"><title>Patchbay SDKs</title><ul>${links.join('')}</ul>\n`
    return new Reply({ body, headers: [['content-type', 'text/html; charset=utf-8']] })
  },
})

const sdkPackage = defineRoute({
  method: 'GET',
  path: '/client/{file}',
  auth: 'none',
  role: 'none',
  params: {
    file: {
      description:
        '`patchbay-client.tgz`: the SDK for TypeScript; `patchbay_client-….whl`: the one for Python; `patchbay-web.tgz`: the library for pages; `patchbay-bruno.zip`: a collection of requests.',
      example: 'patchbay-client.tgz',
    },
  },
  headers: ['if-none-match'],
  success: { status: 200, orStatus: 304, schema: Type.String(), contentType: 'application/octet-stream' },
  errors: ['not_found', 'unavailable'],
  tag: 'System',
  summary: 'A package of the SDKs, for npm or pip',
  handler: async (request, { log }) => {
    const { file } = request.params
    if (!isPackage(file)) throw new PatchbayError('not_found')
    const { body, etag } = await contentOf(join(PACKAGES, file)).catch((err) => {
      if (existsSync(PACKAGES)) throw new PatchbayError('not_found', { cause: err })
      log.error({ err }, NOT_BUILT)
      throw new PatchbayError('unavailable', { cause: err })
    })
    const isKnown = request.header('if-none-match') === etag
    return new Reply({
      ...(isKnown ? { status: 304 } : { body }),
      headers: [
        ['content-type', 'application/octet-stream'],
        ['cache-control', 'no-cache'],
        ['etag', etag],
      ],
    })
  },
})

export const clientFileRoutes: readonly AnyRoute[] = [clientFile, widget, sdkIndex, sdkPackage]
