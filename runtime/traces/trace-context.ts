import { createHash } from 'node:crypto'

/** Which trace and span something belongs to (W3C Trace Context). Pure. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits: the receiver becomes a child of this span. */
  readonly spanId: string
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/
const SAMPLED = 1

/** A call's trace has the call's id, so that one leads to the other. */
export const traceIdOf = (callId: string): string => callId.replaceAll('-', '')

/** The same for the same call and name: a trace that is sent twice is one, and others can name a span before it is there. */
export const spanIdOf = (callId: string, name: string): string =>
  createHash('sha256').update(`${callId} ${name}`).digest('hex').slice(0, 16)

/** The call itself: what belongs to a call and to no part of it. */
export const contextOfCall = (callId: string): TraceContext => ({
  traceId: traceIdOf(callId),
  spanId: spanIdOf(callId, 'call'),
})

/** A tool that is called in a call, by the id of the call of the tool. */
export const contextOfTool = (callId: string, id: string): TraceContext => ({
  traceId: traceIdOf(callId),
  spanId: spanIdOf(callId, `tool ${id}`),
})

export const traceparentOf = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`

/** Of a request that came in. Undefined: it says nothing, or nothing that is to be recorded. */
export function parseTraceparent(header: string): TraceContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(header) ?? []
  if (header.startsWith('ff') || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined
  return (Number.parseInt(flags, 16) & SAMPLED) === 0 ? undefined : { traceId, spanId }
}
