import t from 'tap'
import { decodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { ringback } from '../../../../../runtime/media/tones/ringback.ts'

/** Sound and silence in turn, in milliseconds, of the first seconds. */
function rhythm(number: string, ms: number): number[] {
  const runs: number[] = []
  let sounding = true
  let running = 0
  for (let index = 0; index < ms / 20; index++) {
    const sounds = ringback({ encoding: 'pcmu', sampleRateHz: 8_000 }, number, index) !== undefined
    if (sounds !== sounding) {
      runs.push(running)
      running = 0
      sounding = sounds
    }
    running += 20
  }
  return runs
}

/** Power at a frequency over so many frames from the first on. */
function powerAt(hz: number, number: string, encoding: 'pcmu' | 'pcma'): number {
  const samples = Array.from({ length: 20 }, (_, i) =>
    decodeG711(encoding, ringback({ encoding, sampleRateHz: 8_000 }, number, i)!),
  ).flatMap((frame) => [...frame])
  let re = 0
  let im = 0
  for (const [n, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * n) / 8_000)
    im += sample * Math.sin((2 * Math.PI * hz * n) / 8_000)
  }
  return Math.hypot(re, im) / samples.length
}

t.test('it rings as in the country of the number', async (t) => {
  t.same(rhythm('+14155550199', 14_000), [2_000, 4_000, 2_000, 4_000])
  t.same(rhythm('+442079460018', 6_200), [400, 200, 400, 2_000, 400, 200, 400, 2_000])
  t.same(rhythm('+498912345', 6_100), [1_000, 4_000, 1_000])
})

t.test('the tones are those of the network, in either encoding', async (t) => {
  for (const encoding of ['pcmu', 'pcma'] as const) {
    for (const hz of [440, 480]) t.ok(powerAt(hz, '+14155550199', encoding) > 1_000, `${hz} Hz`)
    t.ok(powerAt(425, '+498912345', encoding) > 1_000)
    t.ok(powerAt(700, '+498912345', encoding) < 100)
  }
})
