import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** An answer that is no success. */
export class InstanceError extends Error {
  readonly status: number
  readonly code: string
  /** What the answer names, such as the `run_id` of `tests_failed`. */
  readonly params: Readonly<Record<string, unknown>>
  /** Of a 422: what is wrong, field by field. */
  readonly faults: readonly { path: (string | number)[]; message: string }[]

  constructor(message: string, told: Pick<InstanceError, 'status' | 'code' | 'params' | 'faults'>) {
    super(message)
    this.name = 'InstanceError'
    this.status = told.status
    this.code = told.code
    this.params = told.params
    this.faults = told.faults
  }
}

interface Answer {
  body: unknown
  etag: string | undefined
}

/** Where an instance listens that was started on this machine with nothing set. */
export const LOCAL_URL = 'http://localhost:8080'

const TIMEOUT_MS = 60_000
const MAX_ANSWER_BYTES = 64 << 20
const MAX_ATTEMPTS = 4
const MAX_WAIT_MS = 20_000
const PAGE_SIZE = 200
const MAX_PAGES = 500
const PASSING = new Set([429, 502, 503, 504])

/** A running Patchbay, by its address and an API key. */
export class InstanceClient {
  readonly #url: string
  readonly #key: string

  /**
   * @param scopes what the key needs, as a sentence has it: `read and calls`
   * @throws PatchbayError `configuration` where the address or the key is missing or is none
   */
  constructor(url: string | undefined, key: string | undefined, scopes: string) {
    if (url === undefined || url === '')
      throw missing('PATCHBAY_URL', 'the address of Patchbay, such as https://voice.example.com')
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw missing('PATCHBAY_URL', `an address that begins with https://, not "${url.slice(0, 100)}"`)
    if (key === undefined || key === '') throw missing('PATCHBAY_API_KEY', `an API key with the scopes ${scopes}`)
    this.#url = url.replace(/\/+$/, '')
    this.#key = key
  }

  get = (path: string): Promise<Answer> => this.#request('GET', path)
  delete = (path: string, ifMatch?: string): Promise<Answer> => this.#request('DELETE', path, { ifMatch })
  /** Changes what is as it was read: 412 otherwise. */
  patch = (path: string, body: unknown, ifMatch: string | undefined): Promise<Answer> =>
    this.#request('PATCH', path, { body, ifMatch })
  put = (path: string, body: unknown, ifMatch?: string): Promise<Answer> =>
    this.#request('PUT', path, { body, ifMatch })
  /** Creates once, however often it is sent. */
  post = (path: string, body: unknown, timeoutMs?: number): Promise<Answer> =>
    this.#request('POST', path, { body, timeoutMs })

  /** Every item of a list that answers in pages. */
  async all(path: string): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = []
    for (let page = 1; page <= MAX_PAGES; page++) {
      const { body } = await this.get(`${path}?page=${page}&page_size=${PAGE_SIZE}`)
      const list = Array.isArray(body) ? body : ((body as { items?: unknown[] } | null)?.items ?? [])
      items.push(...(list as Record<string, unknown>[]))
      if (Array.isArray(body) || list.length < PAGE_SIZE) return items
    }
    return items
  }

  async #request(
    method: string,
    path: string,
    sent: { body?: unknown; ifMatch?: string | undefined; timeoutMs?: number | undefined } = {},
  ): Promise<Answer> {
    const isForm = sent.body instanceof FormData
    const headers: Record<string, string> = { 'x-api-key': this.#key, accept: 'application/json' }
    if (sent.body !== undefined && !isForm) headers['content-type'] = 'application/json'
    if (sent.ifMatch !== undefined) headers['if-match'] = sent.ifMatch
    if (method === 'POST' && !isForm) headers['idempotency-key'] = randomUUID()
    const body = sent.body === undefined ? null : isForm ? (sent.body as FormData) : JSON.stringify(sent.body)
    for (let attempt = 1; ; attempt++) {
      const response = await this.#fetch(path, { method, headers, body, redirect: 'error' }, sent.timeoutMs)
      const mayRepeat = attempt < MAX_ATTEMPTS && PASSING.has(response.status) && !isForm
      if (!mayRepeat) return readAnswer(response, `${method} ${path}`)
      await response.body?.cancel()
      const asked = Number(response.headers.get('retry-after'))
      await sleep(Math.min(MAX_WAIT_MS, asked > 0 ? asked * 1_000 : 250 * 2 ** attempt))
    }
  }

  async #fetch(path: string, init: RequestInit, timeoutMs = TIMEOUT_MS): Promise<Response> {
    try {
      return await fetch(`${this.#url}${path}`, { ...init, signal: AbortSignal.timeout(timeoutMs) })
    } catch (cause) {
      const why =
        cause instanceof Error ? ((cause.cause as Error | undefined)?.message ?? cause.message) : String(cause)
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const reason = isLate
        ? `${init.method} ${path} was not answered within ${timeoutMs / 1_000} s`
        : `${this.#url} can't be reached (${why}); is PATCHBAY_URL right?`
      throw new PatchbayError('configuration', { params: { reason }, cause })
    }
  }
}

function missing(variable: string, what: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: `Set ${variable} to ${what}` } })
}

async function readAnswer(response: Response, request: string): Promise<Answer> {
  const length = Number(response.headers.get('content-length') ?? 0)
  const text = length > MAX_ANSWER_BYTES ? '' : await response.text()
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    body = undefined
  }
  if (response.ok && (body !== undefined || response.status === 204)) {
    return { body, etag: response.headers.get('etag') ?? undefined }
  }
  const {
    detail,
    code,
    params = {},
  } = (body ?? {}) as { detail?: unknown; code?: unknown; params?: Record<string, unknown> }
  const faults = Array.isArray(detail)
    ? detail.map(({ loc = [], msg = '' }: { loc?: string[]; msg?: string }) => ({
        path: loc.slice(1).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        message: msg,
      }))
    : []
  const scope = typeof params.scope === 'string' ? ` (scope "${params.scope}")` : ''
  const said =
    typeof detail === 'string'
      ? `${detail}${scope}`
      : faults.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')
  const what = body === undefined ? 'its answer is none of Patchbay; is PATCHBAY_URL right?' : said
  throw new InstanceError(`${request}: ${response.status} ${what}`, {
    ...{ status: response.status, code: typeof code === 'string' ? code : '' },
    ...{ params, faults },
  })
}
