/** One sample of a metrics page. */
export interface Sample {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*,?\s*/y
const ESCAPED_CHARACTERS: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

function parseLabels(text: string): Record<string, string> | undefined {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (match === null) return undefined
    labels[match[1]!] = match[2]!.replace(/\\[n"\\]/g, (escaped) => ESCAPED_CHARACTERS[escaped]!)
  }
  return labels
}

function parseValue(text: string): number {
  if (text === '+Inf' || text === 'Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  return Number(text)
}

/**
 * Reads the Prometheus text exposition format (version 0.0.4). Comments, empty lines and lines that are not
 * of the format are passed over: a scrape gives what can be read of it.
 */
export function parsePrometheusText(text: string): Sample[] {
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const match = LINE.exec(line.trim())
    if (match === null) continue
    const labels = match[2] === undefined ? {} : parseLabels(match[2])
    if (labels === undefined) continue
    samples.push({ name: match[1]!, labels, value: parseValue(match[3]!) })
  }
  return samples
}

/**
 * The quantile `q` (0–1) of a histogram's cumulative buckets, linear within a bucket as PromQL's `histogram_quantile`.
 * `null` when nothing was observed; the highest finite bound when it lies beyond it.
 */
export function histogramQuantile(q: number, buckets: readonly { le: number; count: number }[]): number | null {
  const sorted = [...buckets].sort((a, b) => a.le - b.le)
  const total = sorted.at(-1)?.count ?? 0
  if (total === 0) return null
  const rank = q * total
  let lowerBound = 0
  let countBelow = 0
  for (const bucket of sorted) {
    if (bucket.count >= rank) {
      if (bucket.le === Number.POSITIVE_INFINITY) return lowerBound
      const inBucket = bucket.count - countBelow
      return inBucket === 0 ? bucket.le : lowerBound + ((bucket.le - lowerBound) * (rank - countBelow)) / inBucket
    }
    lowerBound = bucket.le
    countBelow = bucket.count
  }
  return lowerBound
}
