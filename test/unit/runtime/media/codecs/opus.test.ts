import t from 'tap'
import { codecFor } from '../../../../../runtime/media/codecs/codec.ts'
import { OpusDecoder, OpusEncoder } from '../../../../../runtime/media/codecs/opus.ts'
import { LineAudio, sessionFormatFor } from '../../../../../runtime/media/line/line-audio.ts'

const FRAME = 480
/** A tone of 440 Hz at 24 kHz. */
const tone = (frames: number): Int16Array =>
  Int16Array.from({ length: FRAME * frames }, (_, n) => Math.round(9_000 * Math.sin((2 * Math.PI * 440 * n) / 24_000)))

/** Share of the energy that is at this frequency. */
function shareAt(samples: Int16Array, hz: number, rateHz: number): number {
  let [re, im, all] = [0, 0, 0]
  for (const [n, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * n) / rateHz)
    im += sample * Math.sin((2 * Math.PI * hz * n) / rateHz)
    all += sample * sample
  }
  return (2 * (re * re + im * im)) / samples.length / all
}

t.test('what is encoded comes back, at any of its rates', async (t) => {
  const encoder = new OpusEncoder(24_000)
  const decoders = [8_000, 24_000, 48_000].map((rateHz) => ({ rateHz, decoder: new OpusDecoder(rateHz) }))
  const source = tone(25)
  const heard = decoders.map(() => [] as number[])
  for (let at = 0; at < source.length; at += FRAME) {
    const packet = encoder.encode(source.subarray(at, at + FRAME))
    t.ok(packet.length > 3 && packet.length < 200, `${packet.length} bytes`)
    for (const [i, { decoder }] of decoders.entries()) heard[i]!.push(...decoder.decode(packet))
  }
  for (const [i, { rateHz }] of decoders.entries()) {
    t.equal(heard[i]!.length, rateHz / 2)
    const share = shareAt(Int16Array.from(heard[i]!.slice(rateHz / 5)), 440, rateHz)
    t.ok(share > 0.95, `${share} of it is the tone`)
  }
})

t.test('packets of 10 to 60 ms are made; other lengths and rates are errors', async (t) => {
  const encoder = new OpusEncoder(24_000)
  const decoder = new OpusDecoder(24_000)
  for (const ms of [10, 20, 40, 60]) {
    t.equal(decoder.decode(encoder.encode(new Int16Array(24 * ms))).length, 24 * ms)
  }
  t.throws(() => encoder.encode(new Int16Array(100)))
  t.throws(() => new OpusEncoder(11_025), RangeError)
  t.throws(() => new OpusDecoder(44_100), RangeError)
})

t.test('of a damaged packet nothing is heard, and the next one is', async (t) => {
  const packet = new OpusEncoder(24_000).encode(tone(1))
  const decoder = new OpusDecoder(24_000)
  for (const damaged of [[], [0xff, 0xff, 0xff], new Array(1_500).fill(77)]) {
    t.equal(decoder.decode(Uint8Array.from(damaged)).length, 0)
  }
  t.equal(decoder.decode(packet).length, FRAME)
})

t.test('a session in Opus has a stream of its own each way', async (t) => {
  const a = codecFor({ encoding: 'opus', sampleRateHz: 48_000 })
  const packet = a.encode(new Int16Array(960))
  t.equal(a.decode(packet).length, 960)
})

t.test('a line changes to Opus and back: each packet is whole, whatever the resampler holds back', async (t) => {
  t.same(sessionFormatFor('OPUS'), { encoding: 'pcm_s16le', sampleRateHz: 24_000 })
  const line = new LineAudio(sessionFormatFor('PCMU'), 'PCMU')
  line.use('OPUS')
  t.equal(line.clockHz, 48_000)
  const decoder = new OpusDecoder(24_000)
  let back = 0
  for (let i = 0; i < 50; i++) {
    const packet = line.toLine(new Uint8Array(160).fill(0x55))
    t.equal(decoder.decode(packet).length, FRAME)
    back += line.fromLine(packet).length
  }
  t.ok(Math.abs(back - 50 * 160) < 20, `${back} bytes of μ-law`)
  line.use('PCMU')
  const frame = new Uint8Array(160)
  t.equal(line.toLine(frame), frame)
})
