import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { asProcess } from '../../runtime/process/plugin-scope.ts'

/**
 * The HTTP library, whose parser answers what it can't read by itself, with one of three pages of HTML that no setting
 * changes. They are written over in a copy of the library that is loaded in its place and removed at once: every error of
 * the API is JSON with a `detail`. Where such a copy can't be made or loaded, the library is loaded as it is.
 */

type Library = typeof import('uWebSockets.js')

const DETAILS: Readonly<Record<number, string>> = {
  400: 'Malformed request',
  431: 'Request headers too large',
  505: 'HTTP version not supported',
}
/** As they stand in the library: head and page of one status, up to the end of the page. */
const PAGE = /HTTP\/1\.1 (\d{3}) [^\r\0]{1,60}\r\nConnection: close\r\n\r\n<h1>[^\0]{1,200}?Server<\/i>/g

export function loadServerLibrary(): Library {
  // The library reads this once, when it is loaded. Its own limit of 4 KiB is less than a browser's cookies may take.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  const load = process.dlopen
  process.dlopen = ((holder: object, file: string, ...rest: unknown[]) => {
    const open = (path: string): void => Reflect.apply(load, process, [holder, path, ...rest])
    if (!withOwnPages(String(file), open)) open(file)
  }) as typeof process.dlopen
  try {
    return createRequire(import.meta.url)('uWebSockets.js') as Library
  } finally {
    process.dlopen = load
  }
}

/** False: nothing was loaded. */
function withOwnPages(file: string, open: (path: string) => void): boolean {
  let folder: string | undefined
  try {
    const own = overwritten(readFileSync(file))
    if (own === undefined) return false
    folder = mkdtempSync(join(tmpdir(), 'patchbay-'))
    const copy = join(folder, basename(file))
    writeFileSync(copy, own, { mode: 0o500 })
    asProcess(() => open(copy))
    return true
  } catch {
    // A folder from which nothing may be run, or a disk that is full.
    return false
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** The library with its pages as JSON, each as long as before; undefined where it has none of them. */
export function overwritten(library: Buffer): Buffer | undefined {
  const own = Buffer.from(library)
  let found = 0
  for (const { 0: page, 1: status, index } of library.toString('latin1').matchAll(PAGE)) {
    const detail = DETAILS[Number(status)]
    if (detail === undefined) continue
    const answer = `HTTP/1.1 ${status} \r\nconnection:close\r\ncontent-type:application/json\r\n\r\n${JSON.stringify({ detail })}`
    // White space after a JSON text is part of it; the connection's end is the body's.
    if (answer.length > page.length) continue
    own.write(answer.padEnd(page.length), index, 'latin1')
    found++
  }
  return found === 0 ? undefined : own
}
