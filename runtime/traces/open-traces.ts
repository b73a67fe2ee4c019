import type { Logger } from '../process/log.ts'
import type { CallTraces } from './call-traces.ts'
import type { HttpSpans } from './http-spans.ts'

/** What a process tells a collector of traces. */
export interface Traces {
  readonly calls: CallTraces
  readonly requests: HttpSpans
  /** Sends what waits. */
  stop(): Promise<void>
}

interface TraceSettings {
  /** The collector's URL; undefined without one. */
  readonly otlpEndpoint?: string | undefined
  readonly otlpHeaders?: readonly string[] | undefined
  readonly otelServiceName: string
  readonly traceContent: boolean
}

/** Undefined without a collector, which then costs nothing. */
export async function openTraces(settings: TraceSettings, log: Logger): Promise<Traces | undefined> {
  const { otlpEndpoint: endpoint, otlpHeaders = [], otelServiceName: serviceName, traceContent: content } = settings
  if (endpoint === undefined) return undefined
  const [{ openSpanExport }, { CallTraces }, { HttpSpans }] = await Promise.all([
    import('./span-exporter.ts'),
    import('./call-traces.ts'),
    import('./http-spans.ts'),
  ])
  const spans = openSpanExport({ endpoint, headers: headersOf(otlpHeaders), serviceName, log })
  const calls = new CallTraces({ spans, content, log })
  return {
    calls,
    requests: new HttpSpans(spans, Date.now),
    async stop() {
      calls.stop()
      await spans.stop()
    },
  }
}

/** `name=value`, the value percent-encoded (W3C Baggage, as OpenTelemetry has it). */
function headersOf(list: readonly string[]): Record<string, string> {
  const pairs = list.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()])
  return Object.fromEntries(pairs.filter(([name]) => name !== '').map(([name, value = '']) => [name, decoded(value)]))
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
