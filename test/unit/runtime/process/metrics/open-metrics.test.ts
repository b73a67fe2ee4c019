import { Counter, Gauge, Registry } from 'prom-client'
import t from 'tap'
import { exemplarHistogram } from '../../../../../runtime/process/metrics/exemplar-histogram.ts'
import { asksForOpenMetrics, openMetrics } from '../../../../../runtime/process/metrics/open-metrics.ts'

t.test('metrics in the format of OpenMetrics carry the trace of one of each bucket', async (t) => {
  const registry = new Registry()
  const seconds = exemplarHistogram(registry, {
    name: 'seconds',
    help: 'How long',
    labelNames: ['route'],
    buckets: [1, 2],
  })
  seconds.observe({ labels: { route: '/a"b' }, value: 1.5, exemplarLabels: { trace_id: 'abc' } })
  seconds.observe({ labels: { route: '/a"b' }, value: 9, exemplarLabels: { trace_id: 'def' } })
  new Counter({ name: 'calls_total', help: 'Calls', registers: [registry] }).inc(3)
  new Gauge({ name: 'open', help: 'Open\nnow', registers: [registry] }).set(Number.POSITIVE_INFINITY)
  const text = await openMetrics(registry)
  t.match(text, '# TYPE seconds histogram\n')
  t.match(text, /^seconds_bucket\{le="1",route="\/a\\"b"\} 0$/m, 'none fell into it')
  t.match(text, /^seconds_bucket\{le="2",route="\/a\\"b"\} 1 # \{trace_id="abc"\} 1.5 \d+(\.\d+)?$/m)
  t.match(text, /^seconds_bucket\{le="\+Inf",route="\/a\\"b"\} 2 # \{trace_id="def"\} 9 /m)
  t.match(text, /^seconds_sum\{route="\/a\\"b"\} 10.5$/m)
  t.match(text, '# HELP calls Calls\n# TYPE calls counter\ncalls_total 3\n')
  t.match(text, '# HELP open Open\\nnow\n# TYPE open gauge\nopen +Inf\n')
  t.match(text, /\n# EOF\n$/)

  const plain = await registry.metrics()
  t.match(plain, '# TYPE calls_total counter\ncalls_total 3', 'the other format is as it was')
  t.notMatch(plain, 'trace_id')
})

t.test('it is for those who ask for it', (t) => {
  t.ok(asksForOpenMetrics('application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1'))
  t.notOk(asksForOpenMetrics('text/plain;version=0.0.4'))
  t.notOk(asksForOpenMetrics(''))
  t.end()
})
