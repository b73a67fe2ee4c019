import type { HttpSpans } from '../traces/http-spans.ts'
import type { TraceContext } from '../traces/trace-context.ts'
import { type HttpRequestSpec, type Reached, type SendOptions, sendRequest } from './http-request.ts'

/** How to trace a request; undefined: not at all. */
export interface Traced {
  readonly requests: HttpSpans
  /** What the request is sent for; undefined: a trace of its own. */
  readonly within: TraceContext | undefined
}

/** Sends a request as `sendRequest` does, as a span; the other side is told which. */
export function sendTraced(
  outgoing: HttpRequestSpec,
  options: SendOptions,
  traced: Traced | undefined,
): Promise<Reached> {
  const send = (traceparent: string | undefined): Promise<Reached> => {
    const headers = traceparent === undefined ? outgoing.headers : { traceparent, ...outgoing.headers }
    return sendRequest({ ...outgoing, headers }, options)
  }
  return asSpan(traced, outgoing, send, ({ status }) => status)
}

/**
 * Runs a send in a span of its own; failures are recorded by kind.
 * @param send gets the `traceparent` header to send along; undefined: not traced
 */
export async function asSpan<T>(
  traced: Traced | undefined,
  { method, url }: Pick<HttpRequestSpec, 'method' | 'url'>,
  send: (traceparent: string | undefined) => Promise<T>,
  statusOf: (reached: T) => number,
): Promise<T> {
  if (traced === undefined) return send(undefined)
  const span = traced.requests.sent(traced.within, method, url)
  try {
    const reached = await send(span.traceparent)
    span.done({ status: statusOf(reached) })
    return reached
  } catch (error) {
    span.done({ error: errorTypeOf(error) })
    throw error
  }
}

/** Few different words, by which failures are counted: no message of one. */
function errorTypeOf(error: unknown): string {
  const { code, name } = error as Partial<NodeJS.ErrnoException>
  return String(code ?? name ?? 'error')
}
