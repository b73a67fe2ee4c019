import type { KeptConnections } from './connections.ts'
import { openResponse } from './http-request.ts'

/** Answers that have no body (fetch standard, "null body status"). */
const BODILESS = new Set([101, 204, 205, 304])

export interface GuardedFetchOptions {
  connections: KeptConnections
  /** Of an answer; one that is longer fails. */
  maxBytes: number
}

/**
 * `fetch` for libraries that send requests on behalf of agents: under the rules of HTTP tools, with text bodies alone.
 * Redirects are given back as they are.
 */
export function guardedFetch({ connections, maxBytes }: GuardedFetchOptions) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', body } = init
    if (body != null && typeof body !== 'string') throw new TypeError('Only text can be sent')
    const outgoing = {
      method,
      url: String(url),
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(body == null ? {} : { body }),
    }
    const signal = init.signal ?? new AbortController().signal
    const opened = await openResponse(outgoing, { over: connections, signal })
    const { status } = opened
    const headers = new Headers()
    for (const [name, values] of Object.entries(opened.headers)) {
      for (const value of [values ?? []].flat()) headers.append(name, value)
    }
    if (BODILESS.has(status)) {
      await opened.body.cancel()
      return new Response(null, { status, headers })
    }
    let length = 0
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, passed) {
        length += chunk.length
        if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
        passed.enqueue(chunk)
      },
    })
    return new Response(opened.body.pipeThrough(bounded), { status, headers })
  }
}
