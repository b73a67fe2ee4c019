import { type Outgoing, type Reached, type SendOptions, sendRequest } from '../tools/http-request.ts'
import type { HttpSpans } from './http-spans.ts'
import type { TraceContext } from './trace-context.ts'

/** How to trace a request; undefined: not at all. */
export interface Traced {
  readonly requests: HttpSpans
  /** What the request is sent for; undefined: a trace of its own. */
  readonly within: TraceContext | undefined
}

/** Sends a request as `sendRequest` does, as a span; the other side is told which. */
export async function sendTraced(
  outgoing: Outgoing,
  options: SendOptions,
  traced: Traced | undefined,
): Promise<Reached> {
  if (traced === undefined) return sendRequest(outgoing, options)
  const span = traced.requests.sent(traced.within, outgoing.method, outgoing.url)
  try {
    const headers = { traceparent: span.traceparent, ...outgoing.headers }
    const reached = await sendRequest({ ...outgoing, headers }, options)
    span.done({ status: reached.status })
    return reached
  } catch (error) {
    span.done({ error: errorTypeOf(error) })
    throw error
  }
}

/** Few different words, by which failures are counted: no message of one. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = error as Partial<NodeJS.ErrnoException>
  return String(code ?? name ?? 'error')
}
