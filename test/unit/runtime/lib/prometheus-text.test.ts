import { Gauge, Histogram, Registry } from 'prom-client'
import t from 'tap'
import { histogramQuantile, parsePrometheusText } from '../../../../runtime/lib/prometheus-text.ts'

t.test('reads back what prom-client writes, escaped labels and infinities included', async (t) => {
  const registry = new Registry()
  const gauge = new Gauge({ name: 'sessions', help: 'a "help"\nline', labelNames: ['worker'], registers: [registry] })
  gauge.set({ worker: 'a"b\\c\nd, e="f"' }, 3)
  const histogram = new Histogram({ name: 'latency', help: 'h', buckets: [1, 2, 4], registers: [registry] })
  for (const value of [0.5, 1.5, 3, 9]) histogram.observe(value)
  const samples = parsePrometheusText(await registry.metrics())
  t.strictSame(samples[0], { name: 'sessions', labels: { worker: 'a"b\\c\nd, e="f"' }, value: 3 })
  t.strictSame(
    samples.filter((s) => s.name === 'latency_bucket').map((s) => [s.labels.le, s.value]),
    [
      ['1', 1],
      ['2', 2],
      ['4', 3],
      ['+Inf', 4],
    ],
  )
})

t.test('passes over what is not of the format', async (t) => {
  const text = 'a 1\nnonsense\n{x="1"} 2\nb{open="1 3\nc{x="1",} +Inf 1700000000000\n# d 4\n\n'
  t.strictSame(parsePrometheusText(text), [
    { name: 'a', labels: {}, value: 1 },
    { name: 'c', labels: { x: '1' }, value: Number.POSITIVE_INFINITY },
  ])
})

t.test('takes a quantile as histogram_quantile does', async (t) => {
  const buckets = [
    { le: 10, count: 5 },
    { le: 20, count: 10 },
    { le: Number.POSITIVE_INFINITY, count: 10 },
  ]
  t.equal(histogramQuantile(0.5, buckets), 10)
  t.equal(histogramQuantile(0.75, buckets), 15)
  t.equal(histogramQuantile(0.99, [{ le: 10, count: 0 }]), null)
  t.equal(
    histogramQuantile(0.99, [
      { le: 10, count: 1 },
      { le: Number.POSITIVE_INFINITY, count: 4 },
    ]),
    10,
    'beyond the last bound, the last bound',
  )
})
