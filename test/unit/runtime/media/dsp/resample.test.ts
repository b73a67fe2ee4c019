import { readFile } from 'node:fs/promises'
import { test } from 'tap'
import wabt from 'wabt'
import { CONVOLVE_WASM } from '../../../../../runtime/media/dsp/convolve.ts'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'

const tone = (hz: number, rateHz: number, samples: number) =>
  Int16Array.from({ length: samples }, (_, i) => Math.round(10_000 * Math.sin((2 * Math.PI * hz * i) / rateHz)))

/** Signal-to-noise in dB of a tone after resampling: what is left once the best fitting sine is taken out. */
function purityDb(samples: Int16Array, hz: number, rateHz: number): number {
  let sine = 0
  let cosine = 0
  const body = samples.subarray(200, samples.length - 200)
  body.forEach((sample, i) => {
    sine += sample * Math.sin((2 * Math.PI * hz * i) / rateHz)
    cosine += sample * Math.cos((2 * Math.PI * hz * i) / rateHz)
  })
  sine *= 2 / body.length
  cosine *= 2 / body.length
  let noise = 0
  body.forEach((sample, i) => {
    const angle = (2 * Math.PI * hz * i) / rateHz
    noise += (sample - sine * Math.sin(angle) - cosine * Math.cos(angle)) ** 2
  })
  return 10 * Math.log10((body.length * (sine ** 2 + cosine ** 2)) / 2 / noise)
}

for (const [fromHz, toHz] of [
  [8000, 16_000],
  [16_000, 8000],
  [24_000, 16_000],
  [22_050, 24_000],
  [48_000, 16_000],
  [16_000, 24_000],
] as const) {
  test(`a tone keeps its pitch and purity from ${fromHz} to ${toHz} Hz`, (t) => {
    const resampler = new Resampler(fromHz, toHz)
    const out: number[] = []
    const input = tone(1000, fromHz, fromHz)
    for (let at = 0; at < input.length; at += 441) out.push(...resampler.push(input.subarray(at, at + 441)))
    t.ok(Math.abs(out.length - toHz) < toHz / 100, `${out.length} samples of ${toHz}`)
    const purity = purityDb(Int16Array.from(out), 1000, toHz)
    t.ok(purity > 60, `${purity.toFixed(1)} dB`)
    t.end()
  })
}

test('the compiled module is what the source says', async (t) => {
  const file = new URL('../../../../../runtime/media/dsp/convolve.wat', import.meta.url)
  const module = (await wabt()).parseWat('convolve.wat', await readFile(file, 'utf8'), { simd: true })
  t.equal(Buffer.from(module.toBinary({}).buffer).toString('base64'), CONVOLVE_WASM)
})

test('what lies above the new band is gone', (t) => {
  const out = new Resampler(48_000, 16_000).push(tone(9000, 48_000, 48_000))
  const loudest = out.subarray(100).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  t.ok(loudest < 50, `${loudest} of 10000 is left`)
  t.end()
})

test('pieces of any size give the same samples as the whole', (t) => {
  const input = tone(440, 24_000, 5000)
  const whole = [...new Resampler(24_000, 16_000).push(input)]
  const resampler = new Resampler(24_000, 16_000)
  const pieces: number[] = []
  for (let at = 0, size = 1; at < input.length; at += size, size = (size * 7) % 97) {
    pieces.push(...resampler.push(input.subarray(at, at + size)))
  }
  t.strictSame(pieces, whole)
  t.end()
})

test('a whole recording at once gives the same samples as its pieces, and the next call begins as the first', (t) => {
  const input = tone(440, 24_000, 200_000)
  const whole = new Resampler(24_000, 16_000).push(input)
  const resampler = new Resampler(24_000, 16_000)
  const pieces: number[] = []
  for (let at = 0; at < input.length; at += 480) pieces.push(...resampler.push(input.subarray(at, at + 480)))
  t.strictSame([...whole], pieces)
  t.end()
})

test('what is louder than 16 bits hold is as loud as they hold', (t) => {
  const square = Int16Array.from({ length: 800 }, (_, i) => (i % 16 < 8 ? 32_767 : -32_768))
  const out = new Resampler(8_000, 16_000).push(square)
  t.equal(Math.max(...out), 32_767)
  t.equal(Math.min(...out), -32_768)
  t.end()
})

test('a flush gives the tail and makes the resampler as new', (t) => {
  const resampler = new Resampler(16_000, 8000)
  const input = tone(300, 16_000, 1600)
  const first = [...resampler.push(input), ...resampler.flush()]
  t.equal(first.length, 800 + 18, 'the tone, and the delay of the filter before it')
  t.strictSame([...resampler.push(input), ...resampler.flush()], first)
  t.end()
})

test('equal rates pass untouched', (t) => {
  const input = tone(300, 8000, 160)
  t.equal(new Resampler(8000, 8000).push(input), input)
  t.end()
})
