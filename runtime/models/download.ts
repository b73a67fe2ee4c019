import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { joinSignals } from '../lib/async/join-signals.ts'
import { PatchbayError } from '../lib/errors.ts'
import { type HubFile, hubUnreachable, refusal } from './hub.ts'

/** A download stalled for this long is resumed. */
const SILENT_MS = 30_000
const MAX_ATTEMPTS = 5
const MIN_BACKOFF_MS = 500

interface DownloadOptions {
  /** Where the file will be. What has come so far is kept beside it, as `….part`. */
  to: string
  /** Called with the bytes that have come, those of an earlier download included. */
  progress(bytes: number): void
  signal: AbortSignal
  minBackoffMs?: number
}

/**
 * Downloads one file: goes on where an earlier download stopped, tries again when the connection breaks, and puts it in its
 * place only once size and digest are the hub's. Throws `plugin` with a sentence.
 */
export async function download(file: HubFile, options: DownloadOptions): Promise<void> {
  const { to, signal, progress, minBackoffMs = MIN_BACKOFF_MS } = options
  if (await isWhole(to, file)) {
    progress(file.bytes)
    return
  }
  const part = `${to}.part`
  await mkdir(dirname(to), { recursive: true })
  for (let attempt = 1; ; attempt++) {
    const had = await sizeOf(part)
    try {
      await fetchRest(file, part, { had, progress, signal })
      break
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof PatchbayError && error.cause === undefined) throw error
      // What still brings something may take as long as it likes.
      if ((await sizeOf(part)) > had) {
        attempt = 0
        continue
      }
      if (attempt >= MAX_ATTEMPTS) throw error instanceof PatchbayError ? error : hubUnreachable(hostOf(file), error)
      await sleep(minBackoffMs * 2 ** attempt, undefined, { signal })
    }
  }
  if (!(await isWhole(part, file))) {
    await rm(part, { force: true })
    const reason = `"${file.path}" is not what ${hostOf(file)} lists: its digest is another one. It was thrown away; pull again, and if it stays so don't use this hub`
    throw new PatchbayError('plugin', { params: { reason } })
  }
  await rename(part, to)
}

/** Appends what is missing. */
async function fetchRest(
  file: HubFile,
  part: string,
  { had, progress, signal }: { had: number; progress(bytes: number): void; signal: AbortSignal },
): Promise<void> {
  if (had >= file.bytes) return
  const silence = new AbortController()
  const watch = setTimeout(() => silence.abort(new Error('nothing came any more')), SILENT_MS)
  try {
    const response = await fetch(file.url, {
      headers: had > 0 ? { range: `bytes=${had}-` } : {},
      signal: joinSignals(signal, silence.signal),
    }).catch((cause: unknown) => {
      throw hubUnreachable(hostOf(file), cause)
    })
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel()
      const retry = response.status >= 500
      const reason = refusal(hostOf(file), response.status)
      throw new PatchbayError('plugin', { params: { reason }, cause: retry ? new Error(reason) : undefined })
    }
    // A server that knows no ranges sends it all again.
    let at = response.status === 206 ? had : 0
    const handle = await open(part, at === 0 ? 'w' : 'a')
    try {
      for await (const bytes of response.body ?? []) {
        watch.refresh()
        if (at + bytes.length > file.bytes) throw tooLong(file)
        await handle.write(bytes)
        at += bytes.length
        progress(at)
      }
    } finally {
      await handle.close()
    }
    if (at < file.bytes) throw new Error('the connection broke off')
  } finally {
    clearTimeout(watch)
  }
}

function tooLong(file: HubFile): PatchbayError {
  const reason = `"${file.path}" is longer than ${hostOf(file)} lists (${file.bytes} bytes)`
  return new PatchbayError('plugin', { params: { reason } })
}

async function isWhole(path: string, { bytes, digest }: HubFile): Promise<boolean> {
  return (await sizeOf(path)) === bytes && (await digestOf(path, digest, bytes)) === digest
}

/** The digest of a file, of the same kind as the one given. */
async function digestOf(path: string, like: string, bytes: number): Promise<string> {
  const isGit = like.startsWith('git:')
  const hash: Hash = createHash(isGit ? 'sha1' : 'sha256')
  if (isGit) hash.update(`blob ${bytes}\0`)
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return `${isGit ? 'git' : 'sha256'}:${hash.digest('hex')}`
}

const hostOf = ({ url }: HubFile): string => new URL(url).host

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? found.size : 0
}
