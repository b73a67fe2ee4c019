import type { Operations } from './operations.js'
import type * as api from './types.js'

export interface Settings {
  /** Of the installation, such as `https://voice.example.com`. */
  baseUrl: string
  /** An API key, `pb_…`. */
  key: string
  /** The workspace to work in; default: the key's. */
  workspace?: string
  /** Of each attempt. Default 60,000; 0: none. */
  timeoutMs?: number
  /** How often a request that may be repeated is sent again after 429, 502, 503, 504 or a lost connection. Default 2. */
  retries?: number
  fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  signal?: AbortSignal
  timeoutMs?: number
  workspace?: string
  /** Default: one of its own for each call of an operation that takes it, so that it may be repeated. */
  idempotencyKey?: string
}

/** What an answer of 400 and above says. */
export class PatchbayError extends Error {
  readonly status: number
  readonly code: api.ErrorCode | 'validation' | (string & {})
  /** A sentence, or of a 422 the list of faults. */
  readonly detail: unknown
  readonly requestId: string
  readonly params: Record<string, string | number>
  readonly retryAfterMs: number | undefined
}

export interface StreamOptions {
  /** The place to go on after: an `id` of the same stream. */
  after?: string
  signal?: AbortSignal
}

/**
 * The API of an installation: one method for each operation an API key may call, by the names of its OpenAPI document.
 *
 *     const patchbay = new Patchbay({ baseUrl: 'https://voice.example.com', key: process.env.PATCHBAY_KEY ?? '' })
 *     const agent = await patchbay.createAgent({ agent_name: 'Ada', system_prompt: 'You answer the phone.' })
 *
 * @throws PatchbayError when the answer is an error
 */
export interface Patchbay extends Operations {
  /** What happens in the workspace from now on, or after a place; reconnects by itself and skips nothing. */
  events(options?: StreamOptions & { types?: readonly string[] }): AsyncGenerator<{
    id: string
    type: api.WebhookEvent['type']
    data: api.WebhookEvent
  }>
  /** The log of a call so far, then what happens, until it ends. */
  callEvents(callLogId: string, options?: StreamOptions): AsyncGenerator<{ id: string; type: string; data: unknown }>
}

export const Patchbay: { new (settings: Settings): Patchbay }

/**
 * Every item of a list, page by page.
 *
 *     for await (const call of everyPage((page) => patchbay.listCalls({ page, page_size: 200 }))) …
 */
export function everyPage<T>(
  list: (page: number) => Promise<{ items: T[]; total_pages: number }>,
  first?: number,
): AsyncGenerator<T>

/**
 * The event of a webhook's request, whose body is passed as it came.
 *
 * @throws when the signature does not fit, or the request is older than five minutes
 */
export function readWebhook(
  secret: string,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string,
  nowMs?: number,
): Promise<api.WebhookEvent>
