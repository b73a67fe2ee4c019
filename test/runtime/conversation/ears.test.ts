import { test } from 'tap'
import { Ears } from '../../../runtime/conversation/ears.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 1000 }

test('what was heard last is kept, and what lies before the turn is silence', (t) => {
  const ears = new Ears(clock)
  ears.hear(new Int16Array(19_000).fill(1))
  ears.hear(new Int16Array(1000).fill(2))
  const recent = ears.recent()
  t.equal(recent.length, 19_200)
  t.strictSame([recent[0], recent[18_199], recent[18_200], recent.at(-1)], [1, 1, 2, 2])
  ears.forget()
  ears.hear(new Int16Array(10).fill(3))
  t.strictSame([...ears.recent().subarray(-11)], [0, ...new Array(10).fill(3)])
  t.end()
})

test('the end of the sound is known to the sample', (t) => {
  const ears = new Ears(clock)
  const samples = new Int16Array(320)
  samples[159] = 5000
  ears.hear(samples)
  t.equal(ears.lastLoudMs, 990)
  t.end()
})

test('a caller whose packets stop is heard as silence, one that is only late is not', (t) => {
  const ears = new Ears(clock)
  let heard = 0
  ears.listen((samples) => {
    heard += samples.length
  })
  ears.hear(new Int16Array(320))
  ears.tick(1020)
  ears.tick(5000)
  t.equal(heard, 320, 'a stall of this process is no silence of the caller')
  for (let i = 0; i < 9; i++) ears.tick(5000 + i * 20)
  t.equal(heard, 320 + 5 * 320)
  ears.hear(new Int16Array(320))
  ears.tick(6000)
  t.equal(heard, 320 + 6 * 320)
  t.end()
})
