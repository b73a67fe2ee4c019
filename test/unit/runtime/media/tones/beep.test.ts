import t from 'tap'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { BeepDetector } from '../../../../../runtime/media/tones/beep.ts'
import { FaxDetector } from '../../../../../runtime/media/tones/fax.ts'
import { ToneTracker } from '../../../../../runtime/media/tones/tone.ts'
import { NETWORK_TONES, sounds } from '../../../../support/phone/line-tones.ts'
import { speech } from '../../../../support/providers/doubles/carriers/twilio-speech.ts'

const RATE_HZ = 8_000

/** As a telephone carries it. */
const phone = (samples: Int16Array): Int16Array => decodeG711('pcmu', encodeG711('pcmu', samples))

const beep = (hz: number, ms: number, amplitude = 8_000): Int16Array =>
  phone(
    sounds(
      [
        { hz: [hz], ms },
        { hz: [], ms: 300 },
      ],
      RATE_HZ,
      1,
      amplitude,
    ),
  )

/** When a beep was heard to end, and whether a fax was, fed in packets of 20 ms. */
function listen(samples: Int16Array, rateHz = RATE_HZ): { beeps: number[]; fax: boolean } {
  const tracker = new ToneTracker(rateHz)
  const detector = new BeepDetector()
  const faxes = new FaxDetector()
  const beeps: number[] = []
  let fax = false
  const step = rateHz / 50
  for (let at = 0; at + step <= samples.length; at += step) {
    for (const tone of tracker.push(samples.subarray(at, at + step))) {
      if (detector.push(tone)) beeps.push((at * 1000) / rateHz)
      fax ||= faxes.push(tone)
    }
    fax ||= faxes.hears(tracker.sounding)
  }
  return { beeps, fax }
}
const hear = (samples: Int16Array, rateHz?: number): number[] => listen(samples, rateHz).beeps

/** Noise so many dB under a tone of that amplitude. */
function withNoise(samples: Int16Array, amplitude: number, snrDb: number): Int16Array {
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647 - 0.5
  }
  // A sine of that amplitude has amplitude²/2 of power, uniform noise of ±a has a²/3.
  const peak = Math.sqrt((1.5 * amplitude ** 2) / 10 ** (snrDb / 10))
  return samples.map((sample) => sample + Math.round(2 * peak * random()))
}

t.test('a beep is heard when it ends', async (t) => {
  for (const hz of [1000, 1004, 1209, 1400, 2000, 2500, 3000]) {
    for (const ms of [200, 333, 410, 600]) {
      const beeps = hear(beep(hz, ms))
      t.equal(beeps.length, 1, `${hz} Hz of ${ms} ms`)
      t.ok(beeps[0]! >= ms - 20 && beeps[0]! <= ms + 60, `${hz} Hz of ${ms} ms ends at ${beeps[0]}`)
    }
  }
})

t.test('a quiet beep is heard too, one on a noisy line, and one at 16 kHz', async (t) => {
  t.equal(hear(beep(1000, 500, 600)).length, 1)
  for (const hz of [1000, 1400, 2600]) {
    t.equal(hear(phone(withNoise(beep(hz, 400), 8_000, 20))).length, 1, `${hz} Hz with 20 dB of noise`)
  }
  const wide = sounds(
    [
      { hz: [1000], ms: 500 },
      { hz: [], ms: 300 },
    ],
    16_000,
  )
  t.equal(hear(wide, 16_000).length, 1)
})

t.test('no tone of a network or a fax is a beep', async (t) => {
  for (const [name, cadence] of Object.entries(NETWORK_TONES)) {
    const line = phone(sounds(cadence, RATE_HZ, 3))
    t.same(hear(line), [], name)
    t.same(hear(phone(withNoise(line, 8_000, 20))), [], `${name} on a noisy line`)
    t.same(hear(sounds(cadence, 16_000, 3), 16_000), [], `${name} at 16 kHz`)
  }
})

t.test('a fax is heard by its own tones', async (t) => {
  for (const [name, cadence] of Object.entries(NETWORK_TONES)) {
    t.equal(listen(phone(sounds(cadence, RATE_HZ, 3))).fax, name.endsWith('fax'), name)
  }
  t.equal(listen(beep(2_100, 500)).fax, false, 'a beep of its pitch is none')
  const reversals = sounds([{ hz: [2_100], ms: 450 }], RATE_HZ, 6)
  for (let i = 0; i < reversals.length; i++) if (Math.floor(i / 3_600) % 2) reversals[i] = -reversals[i]!
  t.equal(listen(phone(reversals)).fax, true, 'one that reverses its phase')
})

t.test('speech, silence, noise, a dial tone, a click and a melody are no beep', async (t) => {
  const texts = [
    'Hello, you have reached the office. We cannot take your call right now.',
    'Ooh, who are you? You too? Two blue shoes.',
    'Please leave a message after the tone.',
  ]
  for (const text of texts) {
    t.same(listen(decodeG711('pcmu', await speech(text))), { beeps: [], fax: false }, text)
  }
  t.same(hear(new Int16Array(RATE_HZ)), [])
  let seed = 1
  const noise = Int16Array.from({ length: 2 * RATE_HZ }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed % 8_000) - 4_000
  })
  t.same(hear(noise), [])
  t.same(hear(beep(1_000, 5_000)), [], 'a tone of five seconds')
  t.same(hear(beep(1000, 60)), [], 'a click')
  const melody = [1_047, 1_319, 1_568, 2_093].flatMap((hz) => [
    { hz: [hz], ms: 250 },
    { hz: [], ms: 50 },
  ])
  t.ok(hear(phone(sounds(melody, RATE_HZ))).length <= 1, 'of a melody, its first note at most')
})
