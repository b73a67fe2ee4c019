import type { EffectiveConfig } from '../config/schema.ts'
import type { Logger } from '../runtime/log.ts'
import type { CallTraces } from '../runtime/traces/call-traces.ts'

/** Where calls become traces, as the settings say; undefined where nobody collects them, which then costs nothing. */
export async function openTraces(
  config: Pick<EffectiveConfig, 'otlpEndpoint' | 'otlpHeaders' | 'otelServiceName' | 'traceContent'>,
  log: Logger,
): Promise<CallTraces | undefined> {
  const { otlpEndpoint: endpoint, otlpHeaders, otelServiceName: serviceName, traceContent: content } = config
  if (endpoint === undefined) return undefined
  const [{ openSpanExport }, { CallTraces }] = await Promise.all([
    import('../runtime/traces/span-exporter.ts'),
    import('../runtime/traces/call-traces.ts'),
  ])
  const spans = openSpanExport({ endpoint, headers: headersOf(otlpHeaders ?? []), serviceName, log })
  return new CallTraces({ spans, content, log })
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
