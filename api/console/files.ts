import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

export interface ConsoleFile {
  readonly contentType: string
  readonly etag: string
  readonly body: Buffer
  /** By content-encoding, the smallest first. */
  readonly compressed: readonly (readonly [encoding: string, body: Buffer])[]
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
}

const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** Reads a built console whole, by the paths of its files: a request touches no disk. */
export async function readConsoleFiles(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const names = new Set(await readdir(folder, { recursive: true }))
  const files = new Map<string, ConsoleFile>()
  for (const name of names) {
    const contentType = CONTENT_TYPES[extname(name)]
    if (contentType === undefined) continue
    const body = await readFile(join(folder, name))
    const compressed: [string, Buffer][] = []
    for (const [encoding, suffix] of ENCODINGS) {
      if (names.has(name + suffix)) compressed.push([encoding, await readFile(join(folder, name + suffix))])
    }
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    files.set(name, { contentType, etag, body, compressed })
  }
  return files
}
