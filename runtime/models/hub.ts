import { signalWithin } from '../lib/async/signal-within.ts'
import { PatchbayError } from '../lib/errors.ts'

/** A file of a model as the hub lists it. */
export interface HubFile {
  path: string
  bytes: number
  /** `sha256:…` of a large file's bytes, `git:…` (SHA-1 of the blob) of a small one's. */
  digest: string
  url: string
}

interface HubListing {
  /** The commit of the repository that was listed: what is downloaded is of this one. */
  revision: string
  files: readonly HubFile[]
}

const ANSWER_TIMEOUT_MS = 30_000
const MAX_PAGES = 50

interface TreeEntry {
  type?: unknown
  path?: unknown
  size?: unknown
  oid?: unknown
  lfs?: { oid?: unknown; size?: unknown }
}

/**
 * The files of a repository on the Hugging Face Hub (huggingface.co/docs/hub/api: `/api/models/…/revision/…`, `/tree/…`).
 * Throws `plugin` with a sentence when it can't be reached or refuses.
 */
export async function listFiles(hub: string, repository: string, signal: AbortSignal): Promise<HubListing> {
  const base = hub.replace(/\/+$/, '')
  const about = (await ask(`${base}/api/models/${repository}/revision/main`, signal)).body as { sha?: unknown }
  const revision = about.sha
  if (typeof revision !== 'string' || !/^[0-9a-f]{40}$/.test(revision)) throw strange(base)
  const files: HubFile[] = []
  let next: string | undefined = `${base}/api/models/${repository}/tree/${revision}?recursive=true`
  for (let page = 0; next !== undefined && page < MAX_PAGES; page++) {
    const answer: Answer = await ask(next, signal)
    if (!Array.isArray(answer.body)) throw strange(base)
    for (const entry of answer.body as TreeEntry[]) {
      if (entry.type === 'file') files.push(fileOf(entry, `${base}/${repository}/resolve/${revision}/`))
    }
    // Only to the hub itself: the address of the next page is the answer's word.
    next = answer.next?.startsWith(`${base}/`) ? answer.next : undefined
  }
  return { revision, files }

  function fileOf({ path, size, oid, lfs }: TreeEntry, at: string): HubFile {
    const bytes = lfs?.size ?? size
    const digest = lfs?.oid === undefined ? `git:${oid}` : `sha256:${lfs.oid}`
    if (typeof path !== 'string' || typeof bytes !== 'number' || !/:[0-9a-f]{40}([0-9a-f]{24})?$/.test(digest)) {
      throw strange(base)
    }
    return { path, bytes, digest, url: at + path.split('/').map(encodeURIComponent).join('/') }
  }
}

interface Answer {
  body: unknown
  next: string | undefined
}

async function ask(url: string, signal: AbortSignal): Promise<Answer> {
  const host = new URL(url).host
  let response: Response
  try {
    response = await fetch(url, { signal: signalWithin(ANSWER_TIMEOUT_MS, signal) })
  } catch (cause) {
    throw hubUnreachable(host, cause)
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw new PatchbayError('plugin', { params: { reason: refusal(host, response.status) } })
  }
  const next = /<([^<>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
  return { body: await response.json().catch(() => undefined), next }
}

/** Why nothing comes from a host, with the cure. */
export function hubUnreachable(host: string, cause: unknown): PatchbayError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const why = inner instanceof Error ? ((inner as NodeJS.ErrnoException).code ?? inner.message) : String(inner)
  const reason = `${host} can't be reached (${why}): check this machine's way to the network, or set PATCHBAY_MODEL_HUB to a mirror; agents go on with the providers they have`
  return new PatchbayError('plugin', { params: { reason }, cause })
}

export function refusal(host: string, status: number): string {
  if (status === 404) return `${host} has no such model any more (404); another of the list may do`
  if (status === 401 || status === 403) return `${host} wants an account for this model (${status})`
  if (status === 429) return `${host} limits how much may be downloaded (429); try again in a few minutes`
  return `${host} answered ${status}; try again later`
}

function strange(base: string): PatchbayError {
  const reason = `${new URL(base).host} gave an answer that is not the one of a model hub; check PATCHBAY_MODEL_HUB`
  return new PatchbayError('plugin', { params: { reason } })
}
