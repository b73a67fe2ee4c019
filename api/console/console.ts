import type { Logger } from '../../runtime/process/log.ts'
import type { HttpResponse, Incoming } from '../http/server.ts'
import { type ConsoleFile, readConsoleFiles } from './files.ts'

/** The console: a page of static files that uses the public API alone. It is served at / and under /console/. */

const PREFIX = '/console'
const INDEX = 'index.html'

/** Scripts, fonts and pictures come from this instance alone; styles may be set by scripts, as menus and dialogs do. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Answers a request for the console; false: it is for the API. */
type Console = (incoming: Incoming) => boolean

/** `built`: the folder of the built console, soon or never. Until then its place says how it stands. */
export function openConsole(built: Promise<string>, log: Logger): Console {
  let files: ReadonlyMap<string, ConsoleFile> | undefined
  let failed = false
  built.then(readConsoleFiles).then(
    (read) => {
      files = read
    },
    (error: unknown) => {
      failed = true
      log.warn(`There is no console: ${error instanceof Error ? error.message : String(error)}`)
    },
  )
  return (incoming) => {
    const { method, path } = incoming
    if (path !== '/' && path !== PREFIX && !path.startsWith(`${PREFIX}/`)) return false
    if (method !== 'GET' && method !== 'HEAD') return false
    incoming.send(files === undefined ? waitingPage(failed) : answer(files, incoming))
    return true
  }
}

function answer(files: ReadonlyMap<string, ConsoleFile>, incoming: Incoming): HttpResponse {
  const name = incoming.path.slice(PREFIX.length + 1)
  const isAsset = name.startsWith('assets/')
  // Every other address is a screen, which the page finds by itself.
  const file = files.get(name) ?? (isAsset ? undefined : files.get(INDEX))
  if (file === undefined) return { status: 404, headers: [['content-type', 'text/plain']], body: 'Not found' }
  const headers: [string, string][] = [
    ['content-type', file.contentType],
    ['cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache'],
    ['content-security-policy', CONTENT_SECURITY_POLICY],
    ['etag', file.etag],
    ['vary', 'accept-encoding'],
  ]
  if (file.contentType.startsWith('text/html')) {
    headers.push(['referrer-policy', 'no-referrer'], ['permissions-policy', 'microphone=(self), camera=()'])
  }
  if (incoming.header('if-none-match') === file.etag) return { status: 304, headers }
  const accepted = incoming.header('accept-encoding')
  for (const [encoding, body] of file.compressed) {
    if (!accepted.includes(encoding)) continue
    return { status: 200, headers: [...headers, ['content-encoding', encoding]], body }
  }
  return { status: 200, headers, body: file.body }
}

/** Anybody may see it: why the build failed is in the log. */
function waitingPage(failed: boolean): HttpResponse {
  const text = failed
    ? 'There is no console: its build failed, and the log of this instance says why.'
    : 'The console is being built; this page comes by itself.'
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Patchbay</title>
<style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style>
<p>${text}</p><p>The API is here already: <a href="/docs">/docs</a></p></html>`
  return {
    status: 503,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"],
      ...(failed ? [] : [['refresh', '1'] as const, ['retry-after', '1'] as const]),
    ],
    body,
  }
}
