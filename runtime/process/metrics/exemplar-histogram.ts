import { Histogram, type Registry } from 'prom-client'

/**
 * A histogram whose buckets name the trace of one that fell into them (runtime/process/metrics/open-metrics.ts shows it).
 * The library takes exemplars in registries of its own OpenMetrics alone, so it is registered afterwards.
 */
export function exemplarHistogram<L extends string>(
  registry: Registry,
  options: { name: string; help: string; labelNames: readonly L[]; buckets: number[] },
): Histogram<L | 'trace_id'> {
  const { labelNames, ...rest } = options
  const histogram = new Histogram<L | 'trace_id'>({
    ...{ ...rest, labelNames: [...labelNames], enableExemplars: true, registers: [] },
  })
  registry.registerMetric(histogram)
  return histogram
}
