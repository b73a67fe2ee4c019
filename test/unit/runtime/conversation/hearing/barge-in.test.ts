import { test } from 'tap'
import { floorEvidence, isBackchannel } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { english } from '../../../../../runtime/conversation/languages/en.ts'
import { cough, speech } from '../support/speech.ts'

test('backchannels are told from words', (t) => {
  for (const text of ['Mm-hm.', 'uh-huh', 'Yeah, okay.', 'Right.', 'mhm', '']) t.ok(isBackchannel(text, english), text)
  for (const text of ['Stop.', 'No.', 'Yeah but wait', 'okay okay okay okay', 'Hello?', 'Nein']) {
    t.notOk(isBackchannel(text, english), text)
  }
  t.end()
})

const windows = (samples: Int16Array) =>
  Array.from({ length: Math.floor(samples.length / 512) }, (_, i) => samples.subarray(i * 512, (i + 1) * 512))
const evidence = (samples: Int16Array) =>
  windows(samples).reduce((sum, window) => sum + floorEvidence(window, 1), 0) / windows(samples).length

test('an open voice is evidence; a hum is little, a cough less, and what is no speech none', (t) => {
  const hum = Int16Array.from({ length: 5120 }, (_, i) => Math.round(6000 * Math.sin((2 * Math.PI * 140 * i) / 16_000)))
  const words = evidence(speech('I want to know something else.', 16_000))
  t.ok(words > 0.5, `words: ${words}`)
  t.ok(evidence(hum) <= 0.2)
  t.ok(evidence(cough(16_000)) < 0.2)
  t.equal(floorEvidence(hum.subarray(0, 512), 0.3), 0)
  t.end()
})
