import t from 'tap'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { DtmfReceiver, keyOfSignal } from '../../../../../runtime/media/tones/dtmf.ts'
import { DtmfDetector } from '../../../../../runtime/media/tones/dtmf-detector.ts'
import { DtmfTones } from '../../../../../runtime/media/tones/dtmf-tones.ts'
import { NETWORK_TONES, sounds } from '../../../../support/phone/line-tones.ts'
import { speech } from '../../conversation/support/speech.ts'

const KEYS = '1234567890*#ABCD'

/** These keys as a telephone at this rate sends them. */
function press(keys: string, rateHz: number): Int16Array {
  const tones = new DtmfTones(rateHz)
  tones.send(keys)
  const frames: Int16Array[] = []
  while (tones.isBusy) frames.push(tones.next())
  return Int16Array.from(frames.flatMap((frame) => [...frame]))
}

function heard(samples: Int16Array, rateHz: number): string {
  const detector = new DtmfDetector(rateHz)
  let keys = ''
  for (let at = 0; at < samples.length; at += rateHz / 50) {
    keys += detector.push(samples.subarray(at, at + rateHz / 50)).join('')
  }
  return keys
}

t.test('every key that is pressed in the sound is heard once, over either law and at 16 kHz', async (t) => {
  for (const law of ['pcmu', 'pcma'] as const) {
    t.equal(heard(decodeG711(law, encodeG711(law, press(KEYS, 8_000))), 8_000), KEYS, law)
  }
  t.equal(heard(press(KEYS, 16_000), 16_000), KEYS)
  t.equal(heard(press('11 22'.replace(' ', ''), 8_000), 8_000), '1122', 'a key pressed twice is two')
})

t.test('a quiet key, one with a twist and one with noise are heard', async (t) => {
  const quiet = press('159#', 8_000).map((sample) => sample / 8)
  t.equal(heard(quiet, 8_000), '159#')
  const noisy = press('270*', 8_000).map((sample) => sample + Math.round((Math.random() - 0.5) * 2_000))
  t.equal(heard(noisy, 8_000), '270*')
  const twisted = sounds([{ hz: [697], ms: 120 }], 8_000, 1, 4_000)
  const high = sounds([{ hz: [1_209], ms: 120 }], 8_000, 1, 8_000)
  t.equal(
    heard(
      twisted.map((sample, i) => sample + high[i]!),
      8_000,
    ),
    '1',
  )
})

t.test('neither speech nor the tones of a network are keys', async (t) => {
  const texts = [
    'Hello, my number is one two three, and I would like to know when you are open.',
    'Ooh, who are you? You too? Two blue shoes.',
  ]
  for (const voice of ['en-us', 'en-gb+f3', 'de+f2', 'it', 'fr']) {
    for (const text of texts) t.equal(heard(speech(text, 8_000, voice), 8_000), '', `${voice}: ${text}`)
  }
  for (const [name, cadence] of Object.entries(NETWORK_TONES)) {
    if (name !== 'a key' && name !== 'calling card prompt') t.equal(heard(sounds(cadence, 8_000, 2), 8_000), '', name)
  }
})

const event = (key: number, ticks: number, ended = false) =>
  Uint8Array.of(key, ended ? 0x8a : 10, ticks >> 8, ticks & 0xff)

t.test('an event longer than a duration can say is one key, in as many segments as it takes', async (t) => {
  const receiver = new DtmfReceiver()
  const keys: (string | undefined)[] = []
  for (const start of [1_000, 1_000 + 0xffff, 1_000 + 2 * 0xffff]) {
    for (const ticks of [160, 30_000, 0xffff]) keys.push(receiver.push(event(5, ticks), start))
  }
  t.same(keys.filter(Boolean), ['5'])
})

t.test('an event whose timestamp moves with each packet is one key, and the next press another', async (t) => {
  const receiver = new DtmfReceiver()
  const press = (from: number) =>
    [160, 320, 480, 640, 640, 640].map((ticks, i) => receiver.push(event(5, ticks, i > 3), from + 160 * i))
  t.same([...press(0), ...press(2_000)].filter(Boolean), ['5', '5'])
})

t.test('signalling names a key by itself or by its code', async (t) => {
  t.same(['5', '10', '11', '12', '*', '#', 'a', '16', '', '5x'].map(keyOfSignal), [
    '5',
    '*',
    '#',
    'A',
    '*',
    '#',
    'A',
    undefined,
    undefined,
    undefined,
  ])
})
