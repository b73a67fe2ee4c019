import t from 'tap'
import { codecFor } from '../../../../../runtime/media/codecs/codec.ts'
import { decodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { samplesOf } from '../../../../../runtime/media/frame.ts'
import { holdMusic } from '../../../../../runtime/media/tones/hold-music.ts'

t.test('music sounds all the time, quieter than speech, without a seam', async (t) => {
  const format = { encoding: 'pcm_s16le', sampleRateHz: 16_000 } as const
  const frames = Array.from({ length: 1_000 }, (_, i) => samplesOf(holdMusic(format, i)))
  t.ok(frames.every(({ length }) => length === 320))
  const levels = frames.map((frame) => Math.sqrt(frame.reduce((sum, sample) => sum + sample ** 2, 0) / frame.length))
  t.ok(Math.min(...levels) > 100, `never silent: ${Math.min(...levels)}`)
  t.ok(Math.max(...levels) < 4_000, `never loud: ${Math.max(...levels)}`)
  const all = frames.flatMap((frame) => [...frame])
  const steps = all.slice(1).map((sample, i) => Math.abs(sample - all[i]!))
  const loop = (all.length / 1_000) * 480
  t.ok(steps[loop - 1]! < 1_000, `no click where it begins again: ${steps[loop - 1]}`)
})

t.test('it is made in every format, once', async (t) => {
  const law = { encoding: 'pcmu', sampleRateHz: 8_000 } as const
  t.equal(holdMusic(law, 3), holdMusic(law, 483))
  t.ok(decodeG711('pcmu', holdMusic(law, 3)).some((sample) => Math.abs(sample) > 300))
})

t.test(
  'each frame is encoded when it is first asked for: the first one costs one, whoever comes later none',
  async (t) => {
    const format = { encoding: 'opus', sampleRateHz: 48_000 } as const
    let encoders = 0
    let encoded = 0
    const codec: typeof codecFor = (of) => {
      encoders++
      const { decode, encode } = codecFor(of)
      return {
        decode,
        encode: (samples) => {
          encoded++
          return encode(samples)
        },
      }
    }
    const first = holdMusic(format, 0, codec)
    t.equal(encoded, 1)
    for (let index = 0; index < 100; index++) holdMusic(format, index, codec)
    t.equal(encoded, 100)
    t.equal(holdMusic(format, 480, codec), first, 'the second who waits')
    t.strictSame([encoders, encoded], [1, 100], 'one stream of one encoder')
  },
)
