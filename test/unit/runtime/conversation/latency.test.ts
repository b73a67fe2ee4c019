import { test } from 'tap'
import { LatencyMeter } from '../../../../runtime/conversation/latency.ts'

test('the stages follow each other and add up', (t) => {
  const meter = new LatencyMeter()
  meter.words(1100)
  meter.turnCommitted(1000, 1300)
  meter.firstText(1500)
  t.strictSame(meter.audible(1620), { stt_ms: 100, endpointing_ms: 200, llm_ms: 200, tts_ms: 120, total_ms: 620 })
  t.equal(meter.audible(1700), undefined, 'each turn is measured once')
  t.end()
})

test('words that came before the turn was over cost nothing', (t) => {
  const meter = new LatencyMeter()
  meter.words(900)
  meter.firstText(1200)
  meter.turnCommitted(1000, 1300)
  t.strictSame(meter.audible(1310), { stt_ms: 0, endpointing_ms: 300, llm_ms: 0, tts_ms: 10, total_ms: 310 })
  t.end()
})

test('speech that answers nobody has no latency', (t) => {
  t.equal(new LatencyMeter().audible(1000), undefined)
  t.end()
})
