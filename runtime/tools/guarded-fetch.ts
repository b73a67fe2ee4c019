import { Readable } from 'node:stream'
import type { NetRule } from '../plugin/net-rule.ts'
import { type KeptConnections, openResponse } from './http-request.ts'

/** Answers that have no body (fetch standard, "null body status"). */
const BODILESS = new Set([101, 204, 205, 304])

export interface GuardedFetchOptions {
  /** The operator's exceptions. */
  allowed: readonly NetRule[]
  connections: KeptConnections
  /** Of an answer; one that is longer fails. */
  maxBytes: number
}

/**
 * `fetch` for libraries that send requests on behalf of agents: under the rules of HTTP tools, with text bodies alone.
 * Redirects are given back as they are.
 */
export function guardedFetch({ allowed, connections, maxBytes }: GuardedFetchOptions) {
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
    const response = await openResponse(outgoing, { allowed, connections, signal })
    const { statusCode: status = 0 } = response
    const headers = new Headers()
    for (const [name, values] of Object.entries(response.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value)
    }
    if (BODILESS.has(status)) {
      response.resume()
      return new Response(null, { status, headers })
    }
    let length = 0
    const bounded = async function* () {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        length += chunk.length
        if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
        yield chunk
      }
    }
    return new Response(Readable.toWeb(Readable.from(bounded())) as ReadableStream<Uint8Array>, { status, headers })
  }
}
