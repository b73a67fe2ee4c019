import type { KeptConnections } from './connections.ts'
import { BODILESS, type OpenResponse, openResponse } from './http-request.ts'

interface GuardedFetchOptions {
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
    if (!BODILESS.has(status)) return new Response(bounded(opened, maxBytes), { status, headers })
    opened.close()
    return new Response(null, { status, headers })
  }
}

function bounded({ body, close }: OpenResponse, maxBytes: number): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  let length = 0
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done === true) return controller.close()
      length += value.length
      if (length <= maxBytes) return controller.enqueue(value)
      close()
      throw new Error(`the answer is longer than ${maxBytes} bytes`)
    },
    cancel: close,
  })
}
