import { test } from 'tap'
import { LatencyMeter } from '../../../runtime/conversation/latency.ts'

test('the stages follow each other and add up', (t) => {
  const meter = new LatencyMeter()
  meter.turnCommitted(1000, 1300)
  meter.firstText(1500)
  t.strictSame(meter.audible(1620), { totalMs: 620, endpointingMs: 300, llmMs: 200, ttsMs: 120 })
  t.equal(meter.audible(1700), undefined, 'each turn is measured once')
  t.end()
})

test('words that came before the turn was over cost nothing', (t) => {
  const meter = new LatencyMeter()
  meter.firstText(1200)
  meter.turnCommitted(1000, 1300)
  t.strictSame(meter.audible(1310), { totalMs: 310, endpointingMs: 300, llmMs: 0, ttsMs: 10 })
  t.end()
})

test('speech that answers nobody has no latency', (t) => {
  t.equal(new LatencyMeter().audible(1000), undefined)
  t.end()
})
