import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'

/** The client library and the widget (packages/web), for pages of any origin. */

const FOLDER = join(import.meta.dirname, '../../packages/web/dist')
const SCRIPT = 'text/javascript; charset=utf-8'
/** Pages that embed the widget get a new one within this time of an update. */
const MAX_AGE_S = 300

const FILES = {
  'patchbay.js': 'mod.js',
  'worklet.js': 'worklet.js',
  'widget.js': 'widget.js',
} as const satisfies Record<string, string>

const cached = new Map<string, Promise<{ body: Buffer; etag: string }>>()

function contentOf(file: string): Promise<{ body: Buffer; etag: string }> {
  const known = cached.get(file)
  if (known !== undefined) return known
  const read = readFile(join(FOLDER, file)).then((body) => {
    const hash = createHash('sha256').update(body).digest('base64url')
    return { body, etag: `"${hash.slice(0, 22)}"` }
  })
  cached.set(file, read)
  read.catch(() => cached.delete(file))
  return read
}

async function script(file: string, log: { error(detail: object, words: string): void }): Promise<Reply> {
  const content = await contentOf(file).catch((err) => {
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

export const clientFileRoutes: readonly AnyRoute[] = [clientFile, widget]
