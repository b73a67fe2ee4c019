import type { Registry } from 'prom-client'

/**
 * Metrics in the format of OpenMetrics 1.0, which carries exemplars: of a bucket, the trace of one that fell into it. Written
 * here, because prom-client's own way renames the counters of the registry for readers of the other format.
 */

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary'])

interface Sample {
  metricName?: string
  labels: Readonly<Record<string, string | number>>
  value: number
  /** `timestamp` in seconds since 1970; null where none fell into the bucket yet. */
  exemplar?: { labelSet: Readonly<Record<string, string>>; value: number; timestamp: number } | null
}

/** Whether who asks with this header `accept` wants it. */
export const asksForOpenMetrics = (accept: string): boolean => /\bapplication\/openmetrics-text\b/.test(accept)

export async function openMetrics(registry: Registry): Promise<string> {
  const lines: string[] = []
  for (const { name, help, type, values } of await registry.getMetricsAsJSON()) {
    const isCounter = String(type) === 'counter'
    // The name of a counter is without the ending that its sample has.
    const family = isCounter ? name.replace(/_total$/, '') : name
    lines.push(`# HELP ${family} ${escaped(help)}`)
    lines.push(`# TYPE ${family} ${TYPES.has(String(type)) ? type : 'unknown'}`)
    for (const { metricName, labels, value, exemplar } of values as readonly Sample[]) {
      const sample = `${isCounter ? `${family}_total` : (metricName ?? name)}${labelsOf(labels)} ${numberOf(value)}`
      lines.push(
        exemplar
          ? `${sample} # ${labelsOf(exemplar.labelSet) || '{}'} ${numberOf(exemplar.value)} ${exemplar.timestamp}`
          : sample,
      )
    }
  }
  return `${lines.join('\n')}\n# EOF\n`
}

function labelsOf(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(typeof value === 'number' ? numberOf(value) : value)}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return Number.isNaN(value) ? 'NaN' : String(value)
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
