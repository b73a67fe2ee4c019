import { randomBytes } from 'node:crypto'
import type { TraceSpan } from './call-trace.ts'
import type { SpanExport } from './span-exporter.ts'
import { parseTraceparent, type TraceContext, traceparentOf } from './trace-context.ts'

/** A request that we send, under way. */
interface SentRequest {
  /** The header `traceparent` of the request: what the other side does for it is part of the trace. */
  readonly traceparent: string
  /** Called once, with the status of the answer or the error. */
  done(result: { status: number } | { error: string }): void
}

/**
 * Requests over HTTP as spans, by OpenTelemetry's conventions: those we answer, and those we send for a call or of our own
 * accord. Headers, queries and bodies are not exported.
 */
export class HttpSpans {
  readonly #spans: SpanExport
  readonly #nowMs: () => number
  readonly #random: (bytes: number) => string

  /** @param random that many bytes as hex digits */
  constructor(
    spans: SpanExport,
    nowMs: () => number,
    random: (bytes: number) => string = (bytes) => randomBytes(bytes).toString('hex'),
  ) {
    this.#spans = spans
    this.#nowMs = nowMs
    this.#random = random
  }

  /**
   * A request that we send begins.
   * @param within what it is sent for; undefined: a trace of its own
   */
  sent(within: TraceContext | undefined, method: string, url: string): SentRequest {
    const startMs = this.#nowMs()
    const context = { traceId: within?.traceId ?? this.#random(16), spanId: this.#random(8) }
    const { hostname, port, protocol } = new URL(url)
    return {
      traceparent: traceparentOf(context),
      done: (result) => {
        const error = 'error' in result ? result.error : result.status >= 400 ? String(result.status) : undefined
        this.#send(context, within?.spanId, {
          name: method,
          kind: 'client',
          startMs,
          attributes: {
            'http.request.method': method,
            'server.address': hostname,
            'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
            ...('status' in result ? { 'http.response.status_code': result.status } : {}),
            ...(error === undefined ? {} : { 'error.type': error }),
          },
          ...(error === undefined ? {} : { error }),
        })
      },
    }
  }

  /**
   * A request was answered.
   * @param traceparent its header; empty: it has none
   * @param route the path as it is documented; undefined: none fits
   */
  answered(
    traceparent: string,
    {
      method,
      route,
      status,
      durationMs,
    }: { method: string; route: string | undefined; status: number; durationMs: number },
  ): TraceContext {
    const from = parseTraceparent(traceparent)
    const context = { traceId: from?.traceId ?? this.#random(16), spanId: this.#random(8) }
    this.#send(context, from?.spanId, {
      name: route === undefined ? method : `${method} ${route}`,
      kind: 'server',
      startMs: this.#nowMs() - durationMs,
      attributes: {
        'http.request.method': method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'http.response.status_code': status,
        ...(status >= 500 ? { 'error.type': String(status) } : {}),
      },
      // By the conventions a server's span failed where the server did.
      ...(status >= 500 ? { error: String(status) } : {}),
    })
    return context
  }

  #send(
    { traceId, spanId }: TraceContext,
    parentId: string | undefined,
    span: Pick<TraceSpan, 'name' | 'kind' | 'startMs' | 'attributes' | 'error'>,
  ): void {
    this.#spans.send(traceId, [{ ...span, id: spanId, parentId, endMs: this.#nowMs(), notes: [] }])
  }
}
