import t from 'tap'
import { BeepDetector } from '../../../runtime/media/beep.ts'
import { decodeG711, encodeG711 } from '../../../runtime/media/g711.ts'
import { speech } from '../../support/doubles/twilio-speech.ts'

const RATE_HZ = 8_000

/** A tone as a telephone carries it, then silence. */
function beep(hz: number, ms: number, amplitude = 8_000, silenceMs = 300): Int16Array {
  const samples = new Int16Array(((ms + silenceMs) * RATE_HZ) / 1000)
  for (let i = 0; i < (ms * RATE_HZ) / 1000; i++) samples[i] = amplitude * Math.sin((2 * Math.PI * hz * i) / RATE_HZ)
  return decodeG711('pcmu', encodeG711('pcmu', samples))
}

/** When a beep was heard to end, in milliseconds, fed in packets of 20 ms. */
function hear(samples: Int16Array, rateHz = RATE_HZ): number[] {
  const detector = new BeepDetector(rateHz)
  const ends: number[] = []
  const step = rateHz / 50
  for (let at = 0; at + step <= samples.length; at += step) {
    if (detector.push(samples.subarray(at, at + step))) ends.push((at * 1000) / rateHz)
  }
  return ends
}

t.test('a beep is heard when it ends', async (t) => {
  for (const hz of [400, 440, 850, 1000, 1400, 2000, 2500]) {
    for (const ms of [200, 333, 410, 1000]) {
      const ends = hear(beep(hz, ms))
      t.equal(ends.length, 1, `${hz} Hz of ${ms} ms`)
      t.ok(ends[0]! >= ms - 20 && ends[0]! <= ms + 60, `${hz} Hz of ${ms} ms ends at ${ends[0]}`)
    }
  }
})

t.test('a quiet beep is heard too, and one at 16 kHz', async (t) => {
  t.equal(hear(beep(1000, 500, 600)).length, 1)
  const wide = new Int16Array(16_000)
  for (let i = 0; i < 8_000; i++) wide[i] = 5_000 * Math.sin((2 * Math.PI * 1000 * i) / 16_000)
  t.equal(hear(wide, 16_000).length, 1)
})

t.test('speech, silence, noise, a dial tone and a click are no beep', async (t) => {
  const texts = [
    'Hello, you have reached the office. We cannot take your call right now.',
    'Ooh, who are you? You too? Two blue shoes.',
    'Please leave a message after the tone.',
  ]
  for (const text of texts) t.same(hear(decodeG711('pcmu', await speech(text))), [], text)
  t.same(hear(new Int16Array(RATE_HZ)), [])
  let seed = 1
  const noise = Int16Array.from({ length: 2 * RATE_HZ }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed % 8_000) - 4_000
  })
  t.same(hear(noise), [])
  t.same(hear(beep(440, 5_000)), [], 'a tone of five seconds')
  t.same(hear(beep(1000, 60)), [], 'a click')
})
