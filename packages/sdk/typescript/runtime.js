import { OPERATIONS } from './operations.js'

const RETRIED = new Set([429, 502, 503, 504])
const MOST_WAIT_MS = 30_000
const WEBHOOK_TOLERANCE_S = 300

export class PatchbayError extends Error {
  constructor(status, body, headers) {
    const { detail, code = 'unknown', request_id = headers.get('x-request-id') ?? '', params = {} } = body ?? {}
    super(`${status} ${code}: ${typeof detail === 'string' ? detail : JSON.stringify(detail ?? '')}`)
    this.name = 'PatchbayError'
    Object.assign(this, { status, code, detail, requestId: request_id, params, retryAfterMs: retryAfterOf(headers) })
  }
}

function retryAfterOf(headers) {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : undefined
}

export class Patchbay {
  #settings

  constructor({ baseUrl, key, workspace, timeoutMs = 60_000, retries = 2, fetch: fetcher = globalThis.fetch }) {
    this.#settings = { baseUrl: baseUrl.replace(/\/+$/, ''), key, workspace, timeoutMs, retries, fetcher }
  }

  async call(id, ...args) {
    const operation = OPERATIONS[id]
    const left = [...args]
    const path = operation.path.replace(/\{\w+\}/g, () => encodeURIComponent(String(left.shift())))
    const body = operation.body === null ? undefined : left.shift()
    const query = operation.query ? left.shift() : undefined
    const options = left.shift() ?? {}
    const headers = { accept: operation.answer === 'json' ? 'application/json' : '*/*' }
    const isPost = operation.method === 'POST'
    if (isPost && operation.idempotent) headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID()
    const request = { method: operation.method, headers, ...bodyOf(operation.body, body, headers) }
    const mayRepeat = !isPost || operation.idempotent
    const answer = await this.#send(`${path}${queryOf(query)}`, request, options, mayRepeat ? this.#settings.retries : 0)
    if (operation.answer === 'bytes') return answer.arrayBuffer()
    if (operation.answer === 'location') return answer.headers.get('location')
    return operation.answer === 'json' ? answer.json() : answer.text()
  }

  async *events({ after, types, signal } = {}) {
    const asked = types === undefined ? {} : { types: types.join(',') }
    // From a place on, so that a stream that breaks off before its first event skips none.
    const from = after ?? (await this.call('streamEvents', { ...asked, limit: 1 }, { signal })).next
    yield* this.#stream(`/events${queryOf(asked)}`, from, signal)
  }

  async *callEvents(callLogId, { after, signal } = {}) {
    yield* this.#stream(`/calls/${encodeURIComponent(callLogId)}/events/live`, after, signal, 'ended')
  }

  async *#stream(path, from, signal, endsWith) {
    let after = from
    let isOver = false
    let failures = 0
    for (;;) {
      signal?.throwIfAborted()
      const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) }
      try {
        const answer = await this.#send(path, { method: 'GET', headers }, { signal, timeoutMs: 0 }, this.#settings.retries)
        for await (const event of serverSent(answer.body)) {
          failures = 0
          if (event.id !== undefined) after = event.id
          if (event.event.startsWith('stream.')) continue
          isOver = endsWith !== undefined && event.event === endsWith
          yield { id: event.id ?? after, type: event.event, data: JSON.parse(event.data) }
        }
        if (isOver) return
      } catch (error) {
        if (signal?.aborted || error instanceof PatchbayError) throw error
        failures++
        if (failures > 8) throw error
      }
      await delay(Math.min(MOST_WAIT_MS, 250 * 2 ** failures), signal)
    }
  }

  async #send(path, request, { signal, timeoutMs, workspace }, retries) {
    const { baseUrl, key, fetcher, ...own } = this.#settings
    const space = workspace ?? own.workspace
    const headers = { 'x-api-key': key, ...(space && { 'x-workspace-id': space }), ...request.headers }
    const limitMs = timeoutMs ?? own.timeoutMs
    for (let attempt = 0; ; attempt++) {
      const signals = [signal, limitMs > 0 && AbortSignal.timeout(limitMs)].filter(Boolean)
      let failure
      try {
        const init = { ...request, headers, redirect: 'manual', signal: AbortSignal.any(signals) }
        const answer = await fetcher(`${baseUrl}${path}`, init)
        if (answer.status < 400) return answer
        failure = new PatchbayError(answer.status, await answer.json().catch(() => undefined), answer.headers)
        if (!RETRIED.has(answer.status)) throw failure
      } catch (error) {
        if (signal?.aborted || error instanceof PatchbayError) throw error
        failure = error
      }
      if (attempt >= retries) throw failure
      await delay(Math.min(MOST_WAIT_MS, failure.retryAfterMs ?? 250 * 2 ** attempt), signal)
    }
  }
}

for (const id of Object.keys(OPERATIONS)) {
  Patchbay.prototype[id] = function (...args) {
    return this.call(id, ...args)
  }
}

export async function* everyPage(list, first = 1) {
  for (let page = first; ; page++) {
    const { items, total_pages } = await list(page)
    yield* items
    if (page >= total_pages) return
  }
}

export async function readWebhook(secret, headers, body, nowMs = Date.now()) {
  const header = (name) => (headers instanceof Headers ? headers.get(name) : [headers[name]].flat()[0]) ?? ''
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  if (!(Math.abs(nowMs / 1000 - Number(timestamp)) <= WEBHOOK_TOLERANCE_S)) throw new Error('webhook-timestamp is too far from now')
  const raw = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const signature of header('webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue
    const bytes = Uint8Array.from(atob(signature.slice(3)), (letter) => letter.charCodeAt(0))
    if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return JSON.parse(body)
  }
  throw new Error('webhook-signature does not fit the body')
}

function bodyOf(kind, body, headers) {
  if (kind === null || body === undefined) return {}
  if (kind === 'json') {
    headers['content-type'] = 'application/json'
    return { body: JSON.stringify(body) }
  }
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) form.append(name, one instanceof Blob ? one : String(one))
  }
  return { body: form }
}

function queryOf(query) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one))
  }
  return search.size > 0 ? `?${search}` : ''
}

async function* serverSent(body) {
  let text = ''
  let event = {}
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (event.data !== undefined) yield event
        event = {}
        continue
      }
      const [, field, value] = line.match(/^(\w+): ?(.*)$/) ?? []
      if (field !== undefined) event[field] = field === 'data' && event.data !== undefined ? `${event.data}\n${value}` : value
    }
  }
}

function delay(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
