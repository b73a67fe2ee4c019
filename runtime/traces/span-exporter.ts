import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { buildInfo } from '../process/build-info.ts'
import type { Logger } from '../process/log.ts'
import type { TraceSpan } from './call-trace.ts'

/** Sends spans to a collector by OTLP over HTTP, by the official library, which is used here alone. */

const TIMEOUT_MS = 10_000
/** Spans that wait for a collector that is away; beyond, new ones are dropped. */
const MAX_WAITING = 20_000
const BATCH = 512
const DELAY_MS = 1_000

export interface SpanExport {
  /** Takes the spans of a trace; never throws, never waits. */
  send(traceId: string, spans: readonly TraceSpan[]): void
  /** Sends what waits. */
  stop(): Promise<void>
}

interface SpanExportOptions {
  /** Without the path `/v1/traces`. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  log: Logger
}

export function openSpanExport({ endpoint, headers, serviceName, log }: SpanExportOptions): SpanExport {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: TIMEOUT_MS })
  const processor = new BatchSpanProcessor(telling(exporter, url, log), {
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: DELAY_MS,
    exportTimeoutMillis: TIMEOUT_MS + 1_000,
  })
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': buildInfo().version })
  return {
    send(traceId, spans) {
      for (const span of spans) processor.onEnd(readable(traceId, span, resource))
    },
    async stop() {
      await processor.shutdown().catch((err) => log.warn({ err, url }, 'The last traces could not be sent'))
    },
  }
}

/** Says once that the collector is away, and once that it is back. */
function telling(exporter: SpanExporter, url: string, log: Logger): SpanExporter {
  let failing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // 0: success (ExportResultCode).
        const failed = result.code !== 0
        if (failed && !failing)
          log.warn({ err: result.error, url }, 'Traces could not be sent; they are dropped until they can')
        if (!failed && failing) log.info({ url }, 'Traces are sent again')
        failing = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}

const KINDS: Readonly<Record<TraceSpan['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]

function readable(traceId: string, span: TraceSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const context = (spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED })
  const own = context(span.id)
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => own,
    ...(span.parentId === undefined ? {} : { parentSpanContext: context(span.parentId) }),
    startTime: hrTime(span.startMs),
    endTime: hrTime(span.endMs),
    duration: hrTime(span.endMs - span.startMs),
    status:
      span.error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: span.error },
    attributes: span.attributes,
    events: span.notes.map(({ name, atMs, attributes }) => ({ name, time: hrTime(atMs), attributes })),
    links: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'patchbay', version: buildInfo().version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}
